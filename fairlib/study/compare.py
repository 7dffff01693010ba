"""Compare policies: every policy in every game, and what the runs say of each measure."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from fairlib import checks
from fairlib.checks import Horizon, checked
from fairlib.core.arms import Bandit
from fairlib.core.contexts import ContextBandit, ContextPolicy
from fairlib.core.policy import Policy
from fairlib.core.result import Result
from fairlib.engine.seeding import AnySeed
from fairlib.engine.session import AnyPolicy, Problem, make_session
from fairlib.engine.simulate import simulate
from fairlib.study.statistics import estimate, paired_t

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison", "compare"]

_Maker = AnyPolicy | Callable[[Any, int], AnyPolicy]
Name = Annotated[str, checks.Text()]
Level = Annotated[float, checks.Real(above=0, below=1)]

_SAME = 1e-9  # of the largest: sums in another order may differ by this much
_CLOSE = 0.05  # of the lowest mean


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The results of policies in games, run by run; made by `compare`.

    Every measure but `reward` is a loss: less is better. Run i has the same seed for every policy, so that two policies
    of one game are compared run by run.

    Parameters
    ----------
    horizon : int
        Number of rounds T.
    results : dict
        The `Result` of each pair of names, (game, policy), recorded after round T.
    unfit : dict
        Why a policy could not play a game, for each such pair of names.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.5, 0.9]))
    >>> compare([fl.uniform(), fl.ucb1(), fl.thompson_beta()], game, 1000, runs=50)
    Comparison: 3 policies in 1 game, 1,000 rounds, 50 runs
      (what happens in fewer than 5.8% of runs may not be among them)
      game: reward and regret of 3 policies
    """

    horizon: int
    results: Mapping[tuple[str, str], Result]
    unfit: Mapping[tuple[str, str], str]

    @property
    def games(self) -> list[str]:
        """The names of the games in which some policy played."""
        return list(dict.fromkeys(game for game, _ in self.results))

    @property
    def runs(self) -> int:
        """The number of runs of each pair."""
        return len(next(iter(self.results.values())).reward)

    @checked
    def measures(self, game: Name) -> list[str]:
        """Return what was measured in a game: its rewards, and its regrets and other losses.

        Parameters
        ----------
        game : str
            The game's name.

        Returns
        -------
        list of str
            The names.

        Examples
        --------
        >>> import fairlib as fl
        >>> from fairlib.shares import SharedBandit
        >>> game = SharedBandit(fl.bernoulli([0.5, 0.9]), shares=[0.2, 0.2])
        >>> compare([fl.uniform()], {"shares": game}, 10, runs=20).measures("shares")
        ['reward', 'regret', 'r_regret', 'violation', 'deficit']
        """
        return list(_after_last_round(next(iter(self._played(game).values()))))

    @checked
    def values(self, game: Name, measure: Name) -> "pd.DataFrame":
        """Return the final value of each run.

        Parameters
        ----------
        game, measure : str
            The names of the game and of the measure.

        Returns
        -------
        pandas.DataFrame
            A row for each run, a column for each policy.

        Examples
        --------
        >>> import fairlib as fl
        >>> game = fl.Bandit(fl.bernoulli([0.5, 0.9]))
        >>> compare([fl.uniform(), fl.ucb1()], game, 100, runs=20).values("game", "regret").shape
        (20, 2)
        """
        import pandas as pd  # here, as the import of the package must stay quick

        played = self._played(game)
        known = self.measures(game)
        if measure not in known:
            raise ValueError(f"measure must be one of {game!r}, {', '.join(known)}, not {measure!r}")
        return pd.DataFrame({name: _after_last_round(result)[measure] for name, result in played.items()})

    def frame(self) -> "pd.DataFrame":
        """Return a table of all measures.

        Returns
        -------
        pandas.DataFrame
            A row for each game, measure and policy; the mean of the runs, its standard error, the median and the worst
            run.

        Examples
        --------
        >>> import fairlib as fl
        >>> game = fl.Bandit(fl.bernoulli([0.5, 0.9]))
        >>> made = compare([fl.uniform(), fl.ucb1()], game, 100, runs=20)
        >>> made.frame().loc["game", "regret", "uniform"].round(1).to_dict()
        {'mean': 19.5, 'error': 0.5, 'median': 19.6, 'worst': 24.4}
        """
        import pandas as pd

        rows = {}
        for game in self.games:
            for measure in self.measures(game):
                for name, runs in self.values(game, measure).items():
                    worst = runs.min() if measure == "reward" else runs.max()
                    rows[game, measure, name] = [*estimate(runs), runs.median(), worst]
        found = pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "error", "median", "worst"])
        found.index = pd.MultiIndex.from_tuples(rows, names=["game", "measure", "policy"])
        return found

    @checked
    def ranks(self, game: Name, measure: Name, level: Level = 0.05) -> "pd.DataFrame":
        """Return between which ranks each policy is, as far as the runs can tell.

        All pairs of policies are compared by the paired t test, with Holm's correction for their number. *Better* means
        that this test tells them apart. If two policies do equally well, some pair of equal policies is told apart with
        a probability of at most `level`, if the means of the runs are normal.

        Parameters
        ----------
        game, measure : str
            The names of the game and of the measure.
        level : float
            Probability of an error, above 0 and below 1.

        Returns
        -------
        pandas.DataFrame
            A row for each policy, the best mean first: mean, standard error; `best`, 1 and the number of policies that
            are better; `worst`, the number of those that are not worse; and `close`, whether it is the best or within 5
            per cent of it, by three standard errors of the paired difference.

        Notes
        -----
        Runs don't show what happens in very few of them. Let two policies have the same mean, one of them steady, the
        other with a disaster in 2 per cent of the runs: this one is called better in 67 per cent of tables of 20 runs,
        in 13 of 100, in 8 of 200 and in 4 of 1,000, mostly because no disaster was among the runs. Without a bound on
        the losses no test can do better. With the bound that regret has, the horizon times the largest gap, a test that
        holds its level would tell a sixth of the pairs of the arena apart, where this one tells nine of ten.

        Examples
        --------
        >>> import fairlib as fl
        >>> game = fl.Bandit(fl.bernoulli([0.5, 0.9]))
        >>> policies = {"one": fl.ucb1(), "the same": fl.ucb1(), "chance": fl.uniform()}
        >>> compare(policies, game, 1000, runs=20).ranks("game", "regret")[["best", "worst"]].values.tolist()
        [[1, 2], [1, 2], [3, 3]]
        """
        import pandas as pd

        runs = self.values(game, measure)
        better = _better(_as_losses(measure, runs), level)
        found = pd.DataFrame(
            {
                "mean": runs.mean(),
                "error": runs.sem(),
                "best": 1 + better.sum(axis=0),
                "worst": runs.shape[1] - better.sum(axis=1),
                "close": _close_to_best(_as_losses(measure, runs)),
            }
        )
        return found.sort_values("mean", ascending=measure != "reward", kind="stable")

    @checked
    def table(self, measure: Name) -> "pd.DataFrame":
        """Return a measure as a readable table: means with their errors; `table(...).to_html()` makes it HTML.

        Parameters
        ----------
        measure : str
            The name of the measure.

        Returns
        -------
        pandas.DataFrame
            A row for each policy, a column for each game that has the measure, of texts: ``'12.3 ± 0.4'``, one number
            where it is the same in every run, and nothing where the policy does not fit.

        Examples
        --------
        >>> import fairlib as fl
        >>> game = fl.Bandit(fl.bernoulli([0.5, 0.9]))
        >>> compare([fl.uniform(), fl.ucb1()], game, 1000, runs=20).table("regret")
                        game
        uniform  200.0 ± 1.3
        UCB1      20.8 ± 1.4
        """
        import pandas as pd

        games = [game for game in self.games if measure in self.measures(game)]
        if not games:
            known = dict.fromkeys(each for game in self.games for each in self.measures(game))
            raise ValueError(f"measure must be one of {', '.join(known)}, not {measure!r}")
        said = {game: {name: _said(runs) for name, runs in self.values(game, measure).items()} for game in games}
        names = dict.fromkeys(name for _, name in self.results)
        rows = [name for name in names if any(name in cells for cells in said.values())]
        return pd.DataFrame(said, index=rows).fillna("")

    def __repr__(self) -> str:
        policies = len({name for _, name in self.results})
        lines = [
            f"Comparison: {_many(policies, 'policy', 'policies')} in {_many(len(self.games), 'game', 'games')}, "
            f"{self.horizon:,} rounds, {self.runs:,} runs",
            f"  (what happens in fewer than {1 - 0.05 ** (1 / self.runs):.1%} of runs may not be among them)",
        ]
        for game in self.games:
            *others, last = self.measures(game)
            said = f"{', '.join(others)} and {last}" if others else last
            lines.append(f"  {game}: {said} of {_many(len(self._played(game)), 'policy', 'policies')}")
        lines += [f"  {policy!r} does not fit {game!r}: {why}" for (game, policy), why in self.unfit.items()]
        return "\n".join(lines)

    def _played(self, game: str) -> dict[str, Result]:
        found = {name: result for (each, name), result in self.results.items() if each == game}
        if not found:
            raise ValueError(f"game must be one of {', '.join(map(repr, self.games))}, not {game!r}")
        return found


@checked
def compare(
    policies: Mapping[str, _Maker] | Iterable[AnyPolicy],
    games: Mapping[str, Problem] | Problem,
    horizon: Horizon,
    *,
    runs: Annotated[int, checks.Integer(20)] = 100,
    seed: AnySeed = 0,
    progress: Annotated[bool, checks.Flag()] = False,
) -> Comparison:
    """Let every policy play every game that it fits, with the same seed.

    Before anything is played, each policy is tried on each game. A policy that does not fit is left out, with the
    reason.

    Parameters
    ----------
    policies : dict or list
        Policies by name, or a list of policies with names of their own. A dict may also hold functions
        ``(game, horizon) -> policy``, which make a policy for each game and for the horizon.
    games : dict, Bandit or ContextBandit
        Games by name, or one game, which is then called ``'game'``.
    horizon : int
        Number of rounds T, at least 1.
    runs : int
        Number of independent runs of each pair, at least 20. For losses that are large in few runs take 100 or more.
    seed : int or numpy.random.SeedSequence
        The seed of all draws, the same for each pair.
    progress : bool
        Show a bar that counts the pairs.

    Returns
    -------
    Comparison
        The results, with tables and ranks of them.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.shares import SharedBandit, fair_ucb
    >>> games = {"even": fl.Bandit(fl.bernoulli([0.5, 0.6])),
    ...          "owed": SharedBandit(fl.bernoulli([0.5, 0.9]), shares=[0.2, 0.2])}
    >>> policies = {"UCB1": fl.ucb1(), "FAIR-UCB": lambda game, horizon: fair_ucb(game.shares)}
    >>> made = compare(policies, games, 1000, runs=20)
    >>> made.unfit
    {('even', 'FAIR-UCB'): "'Bandit' object has no attribute 'shares'"}
    >>> made.table("deficit")
                     owed
    UCB1      148.7 ± 3.3
    FAIR-UCB          0.2
    """
    from tqdm.auto import tqdm  # here, as the import of the package must stay quick

    makers, problems = _named_policies(policies), _named_games(games)
    fitting: dict[tuple[str, str], AnyPolicy] = {}
    unfit: dict[tuple[str, str], str] = {}
    for game, problem in problems.items():
        for name, maker in makers.items():
            try:
                policy = maker if isinstance(maker, Policy | ContextPolicy) else maker(problem, horizon)
                if isinstance(policy, Policy | ContextPolicy):
                    make_session(problem, policy, horizon)
            except (TypeError, ValueError, AttributeError) as error:
                unfit[game, name] = str(error)
                continue
            if not isinstance(policy, Policy | ContextPolicy):
                raise TypeError(f"policies[{name!r}] must return a policy for {game!r}, not {checks.shown(policy)}")
            fitting[game, name] = policy
    if not fitting:
        raise ValueError(f"policies must fit a game, and none does: {next(iter(unfit.values()))}")
    results = {}
    for game, name in tqdm(fitting, unit=" pairs", disable=not progress):
        results[game, name] = simulate(
            problems[game], fitting[game, name], horizon, runs=runs, seed=seed, rounds=[horizon]
        )
    return Comparison(horizon, results, unfit)


def _named_policies(policies: Any) -> dict[str, _Maker]:
    """Return policies by name, each a policy or a function of game and horizon."""
    if isinstance(policies, Policy | ContextPolicy) or not isinstance(policies, Iterable):
        raise TypeError(f"policies must be a dict or a list of policies, not {checks.shown(policies)}")
    if not isinstance(policies, Mapping):
        listed = list(policies)
        for i, each in enumerate(listed):
            checks.instance(f"policies[{i}]", each, Policy | ContextPolicy, "a policy, such as ucb1()")
        names = [each.name for each in listed]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"policies must have different names, not {twice[0]!r} twice: give a dict")
        policies = dict(zip(names, listed, strict=True))
    for name, maker in policies.items():
        checks.text("the names of policies", name)
        if isinstance(maker, Policy | ContextPolicy):
            continue
        try:
            inspect.signature(maker).bind(None, 1)
        except (TypeError, ValueError):
            raise TypeError(
                f"policies[{name!r}] must be a policy or a function of game and horizon, not {checks.shown(maker)}"
            ) from None
    if not policies:
        raise ValueError("policies must be one or more, not none")
    return dict(policies)


def _named_games(games: Any) -> dict[str, Problem]:
    """Return games by name."""
    named = games if isinstance(games, Mapping) else {"game": games}
    for name, game in named.items():
        checks.text("the names of games", name)
        checks.instance(f"games[{name!r}]", game, Bandit | ContextBandit, "a Bandit or a ContextBandit")
    if not named:
        raise ValueError("games must be one or more, not none")
    return dict(named)


def _after_last_round(result: Result) -> dict[str, NDArray[np.float64]]:
    """Return each number that was recorded of the runs, by name."""
    return {name: each[:, -1] for name, each in result.by_round().items() if each.ndim == 2}


def _as_losses(measure: str, runs: "pd.DataFrame") -> NDArray[np.float64]:
    return np.asarray(-runs if measure == "reward" else runs, np.float64)


def _better(losses: NDArray[np.float64], level: float) -> NDArray[np.bool_]:
    """Return which policy the t test calls better than which, by Holm's method over all pairs."""
    from scipy.special import stdtr  # here, as SciPy is slow to import

    count = losses.shape[1]
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    tie = _SAME * np.abs(losses).max()
    alike = [np.abs(losses[:, i] - losses[:, j]).max() <= tie for i, j in pairs]
    t = np.array(
        [0.0 if same else paired_t(losses[:, i], losses[:, j]) for (i, j), same in zip(pairs, alike, strict=True)]
    )
    p = 2 * stdtr(len(losses) - 1, -np.abs(t))
    better = np.zeros((count, count), np.bool_)
    for rank, k in enumerate(np.argsort(p, kind="stable")):
        if p[k] > level / (len(pairs) - rank):
            break
        i, j = pairs[k] if t[k] < 0 else pairs[k][::-1]
        better[i, j] = True
    return better


def _close_to_best(losses: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which policies are best, or within `_CLOSE` of the best by three errors, for losses (runs, policies)."""
    best = losses[:, losses.mean(axis=0).argmin()]
    extra = [estimate(own - best) for own in losses.T]
    return np.array([mean + 3 * error <= _CLOSE * abs(best.mean()) for mean, error in extra])


def _said(runs: "pd.Series[float]") -> str:
    """Return a mean with its error, to two digits of the error; one number if all runs are the same."""
    found = estimate(runs)
    if np.ptp(runs) <= _SAME * max(1.0, abs(found.mean)):
        return f"{found.mean:,.4g}" if abs(found.mean) < 1000 else f"{found.mean:,.0f}"
    return f"{found:,.{max(0, 1 - math.floor(math.log10(found.error)))}f}"


def _many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"
