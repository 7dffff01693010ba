"""The playground: one problem on which the policies of all four papers race, and the regret of every notion."""

import inspect
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import core
from fairlib.baselines.classic import thompson_beta, ucb1
from fairlib.checks import checked
from fairlib.core import Bandit, Number, PerArm, Policy, Result, bernoulli
from fairlib.core.policy import RULE
from fairlib.delays import fcts_d, fcucb_d, geometric
from fairlib.delays.game import SemiBandit, semi_metrics
from fairlib.exposure import fairx_ts, fairx_ucb, upper_merit
from fairlib.merit import Merit, exponential, play_by_merit
from fairlib.pages import look
from fairlib.pages.reader_rule import translated
from fairlib.pages.scripts import draws, function_of, numbers, script
from fairlib.pages.translate import CHANCE, REAL, Function, Script
from fairlib.ranks import fair_greedy, separate_groups
from fairlib.ranks.worlds import WeightedBandit
from fairlib.rules.layout import unread_feedback
from fairlib.shares import fair_learn, fair_ucb
from fairlib.shares.game import SharedBandit, Shares, shares_metrics

SHORT = 3000  # rounds of Fair-Greedy, which looks back at all candidates in every round
_SPREAD = 0.4  # of the candidates
_NOISE = 0.3  # of what they pay
_WIDTH = 0.5  # of FairX-UCB; its theorem takes 5 or so, with which it learns nothing in such short games

# The rule that is in the box at first.
EXAMPLE = """\
# Play the arm that has paid best, but each arm
# in at least a share of the rounds.
def my_rule(seen, p, floor=0.05):
    for a in range(p.size):
        if seen.observed[a] == 0:
            return a
        p[a] = seen.total[a] / seen.observed[a]
    best = largest(p)
    for a in range(p.size):
        p[a] = floor
    p[best] += 1 - floor * p.size
"""

# The start of the page: the six sellers of the first chapter, each promised a tenth of the rounds.
START: dict[str, Any] = {
    "means": [0.9, 0.88, 0.8, 0.7, 0.6, 0.5],
    "shares": [0.1] * 6,
    "T": 10_000,
    "runs": 5,
    "seed": 2026,
    "steepness": 4,
    "plays": 1,
    "delay": 0,
    "policies": ["ucb1", "fair-ucb", "fairx-ts", "fcucb-d", "fair-greedy"],
    "show": "fairness_regret",
    "rule": EXAMPLE,
}

_SAYS = {
    "ucb1": "is after reward alone",
    "thompson": "is after reward alone",
    "fair-ucb": "keeps every promise, and is UCB1 otherwise",
    "fair-learn": "keeps every promise, and is Thompson otherwise",
    "fairx-ucb": "plays by merit, optimistically",
    "fairx-ts": "plays by the merit of drawn means",
    "upper-merit": "plays by the largest merit that is possible",
    "fcucb-d": "plays by merit, optimistically, and minds delays",
    "fcts-d": "plays by the merit of drawn means, and minds delays",
    "fair-greedy": "ranks each candidate within its own group",
}

for _each in (shares_metrics, semi_metrics):
    core.helper(_each)  # as `playground_metrics` calls them


@dataclass(frozen=True, eq=False, repr=False)
class PlaygroundResult(Result):
    r"""What happened, by the measures of all papers that know no contexts.

    Parameters
    ----------
    r_regret : ndarray, shape (runs, R)
        Regret against the best policy that keeps the promises (Patil et al., Definition 4).
    violation, deficit : ndarray, shape (runs, R)
        Largest number of plays, in whole plays and exactly, by which an arm was behind its promised share.
    reward_regret, signed_regret : ndarray, shape (runs, R)
        Expected reward of the fair policy less that of the policy, summed where it is positive (Chen et al., equation
        5) and as it is (Wang et al., equation 1).
    fairness_regret : ndarray, shape (runs, R)
        Distance to the fair policy, summed (Wang et al., equation 2, and Chen et al., equation 6).
    optimal : ndarray, shape (runs, R, K)
        The fair policy: probability of each arm.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = Playground(fl.bernoulli([0.9, 0.5]), shares=[0.2, 0.3], merit=exponential(4))
    >>> fl.simulate(game, fl.ucb1(), 100).optimal[0, -1].round(3)
    array([0.832, 0.168])
    """

    r_regret: NDArray[np.float64]
    violation: NDArray[np.float64]
    deficit: NDArray[np.float64]
    reward_regret: NDArray[np.float64]
    signed_regret: NDArray[np.float64]
    fairness_regret: NDArray[np.float64]
    optimal: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Playground(Bandit):
    """A game on arms that are promised shares and owed plays by their merit, both at once.

    Parameters
    ----------
    shares : array_like, shape (K,)
        Share of the rounds that each arm is promised, at least 0 and below 1/K.
    merit : Merit
        What an arm of a given mean deserves.

    Raises
    ------
    TypeError, ValueError
        If a share is out of range, `merit` is not a `Merit`, a mean is outside its range, or some arm could need a
        probability above 1 (Assumption 1 of Chen et al.).

    Examples
    --------
    >>> import fairlib as fl
    >>> Playground(fl.bernoulli([0.9, 0.5]), shares=[0.5, 0.3], merit=exponential(4))
    Traceback (most recent call last):
    ValueError: shares must be at least 0 and below 1/2, not 0.5 (arm 0)
    """

    shares: Shares = field(kw_only=True)
    merit: Merit = field(kw_only=True)
    outcome = PlaygroundResult

    def __post_init__(self) -> None:
        super().__post_init__()
        shared = SharedBandit(self.arms, shares=self.shares)  # which checks the shares, as the next the merit
        SemiBandit(self.arms, merit=self.merit, plays=self.plays)
        fcts_d(self.merit, self.arms.means.size, self.plays)  # which refuses what Assumption 1 does
        fair_ucb(shared.shares)  # below 1/K, as the policies want them
        object.__setattr__(self, "shares", shared.shares)

    @cached_property
    def metrics(self) -> core.BoundRule:
        """What the game sums: every notion's measure."""
        return core.arm_metrics(
            playground_metrics,
            means=self.arms.means,
            best=self.best_reward,
            shares=self.shares,
            plays=self.plays,
            merit=self.merit,
        )

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Mapping[str, NDArray[np.float64]]) -> Result:
        """Read off what a policy earned and lost, as `Bandit.result` does."""
        kept = {name: value for name, value in sums.items() if name != "regret"}  # it follows from the counts
        return super().result(rounds, selected, reward, kept)


def playground_metrics(
    means,
    best,
    shares,
    plays,
    merit,
    t,
    p,
    selected,
    regret: Number,
    r_regret: Number,
    violation: Number,
    deficit: Number,
    reward_regret: Number,
    signed_regret: Number,
    fairness_regret: Number,
    optimal: PerArm,
):
    """Keep the regret, and the measures of all notions as the games of their papers have them."""
    if t == 1:
        play_by_merit(merit, means, plays, optimal)
    regret[0] = best * t
    quota = 0.0
    for a in range(means.size):
        regret[0] -= selected[a] * means[a]
        quota += math.floor(shares[a] * t + 1e-9) * (best - means[a])
    r_regret[0] = regret[0] - quota
    shares_metrics(shares, t, selected, violation, deficit)
    semi_metrics(means, optimal, p, reward_regret, signed_regret, fairness_regret)


@checked
def contestants(merit: Merit, shares: Shares, plays: int = 1) -> dict[str, Policy]:
    """Return the policies that may race, by their names in a link.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    shares : array_like, shape (K,)
        Share of the rounds that each arm is promised, below 1/K.
    plays : int
        How many arms are played each round; only three of the policies can play several.

    Returns
    -------
    dict of Policy
        The policies.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> list(contestants(exponential(0.5), [0.1, 0.1, 0.1], plays=2))
    ['upper-merit', 'fcucb-d', 'fcts-d']
    """
    arms = np.size(shares)
    several = {
        "upper-merit": upper_merit(merit, plays=plays),
        "fcucb-d": fcucb_d(merit, arms, plays),
        "fcts-d": fcts_d(merit, arms, plays),
    }
    if plays > 1:
        return several
    return {
        "ucb1": ucb1(),
        "thompson": thompson_beta(),
        "fair-ucb": fair_ucb(shares),
        "fair-learn": fair_learn(thompson_beta(), shares),
        "fairx-ucb": fairx_ucb(merit, _WIDTH),
        "fairx-ts": fairx_ts(merit),
        **several,
    }


def candidates(means: ArrayLike) -> WeightedBandit:
    """Return the game of relative ranks on some arms: each round each arm sends a candidate, of its own group."""
    centres = np.asarray(means)
    return separate_groups(np.full((centres.size, 1), _SPREAD), centres - _SPREAD / 2, _NOISE)


def contents() -> dict[str, Any]:
    """Return the data with which the page plays: the games as scripts, and their numbers for 2 to 10 arms."""
    made: dict[str, Any] = {}
    for arms in range(2, 11):
        means, shares, merit = [0.5] * arms, [0.0] * arms, exponential(1.0)
        game = Playground(bernoulli(means), delay=geometric([0.5] * arms), shares=shares, merit=merit)
        games: dict[str, tuple[Any, Any]] = {name: (game, each) for name, each in contestants(merit, shares).items()}
        games["fair-greedy"] = candidates(means), fair_greedy()
        for name, (problem, policy) in games.items():
            if arms == 2:
                head = {"name": policy.name, "says": _SAYS[name], "look": _drawn(policy.name)}
                sums = list(problem.metrics.rule.memory)
                made[name] = {**head, "script": script(problem, policy), "sums": sums, "numbers": []}
            made[name]["numbers"].append({**numbers(problem, policy, 1), "rounds": []})
    return {"start": START, "spread": _SPREAD, "short": SHORT, "policies": made, "own": _drawn("your rule")}


def _drawn(name: str) -> dict[str, str]:
    """Return an algorithm's look in terms of SVG."""
    known = look(name)
    dash = known["linestyle"]
    return {"stroke": known["color"], "dash": "" if dash == "-" else " ".join(f"{2 * each:g}" for each in dash[1])}


def own_contents() -> dict[str, Any]:
    """Return the data with which the page reads a reader's own rule."""
    helpers = [core.any_of_the_best, core.explore, core.largest, core.share_out, core.try_each_once, unread_feedback]
    helpers += [core.is_there, core.count_there]
    drawn, natives = Script(draws()), {"drawn_random": "$double"}
    made = {"random": "def random(rng):\n    return drawn_random(rng)"}
    ways: dict[str, str] = {}  # by names of their own, as a reader's functions may be called like these
    for name, given in _DRAWS.items():
        arguments, way = ", ".join(["rng", *given]), draws()[name]
        ways[name] = (drawn.add(way, [CHANCE, *[REAL] * len(given)]) if isinstance(way, Function) else way).name
        natives[f"drawn_{name}"] = f"$drawn.{name}"
        made[name] = f"def {name}({arguments}):\n    return drawn_{name}({arguments})"
    returned = ", ".join(f"{name}: {way}" for name, way in ways.items())
    return {
        "modules": {each.__module__: inspect.getsource(sys.modules[each.__module__]) for each in (Script, translated)},
        "known": {
            "flat": RULE.flat,
            "gives": dict(RULE.gives),
            "tuples": {"Seen": core.Seen._fields, "Feedback": core.Feedback._fields},
            "helpers": {each.__name__: function_of(each).text for each in helpers},
            "draws": made,
            "natives": natives,
            "drawn": f"const $drawn = (() => {{\n{drawn.text()}\nreturn {{ {returned} }};\n}})();",
        },
    }


_DRAWS = {"beta": "ab", "normal": ("mean", "sd"), "standard_normal": "", "standard_exponential": ""}
