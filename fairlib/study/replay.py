"""Replay: what a policy would have earned, read off a log of arms that were played at random.

The method of L. Li, W. Chu, J. Langford and R. Schapire, *A contextual-bandit approach to personalized news article
recommendation* (2010), Algorithm 3, for the logs that `fairlib.data.read_today` reads and for your own, whose arms need
not have been drawn uniformly.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import Horizon, Seed, checked
from fairlib.core.contexts import ContextPolicy
from fairlib.core.policy import Policy
from fairlib.data import Event
from fairlib.engine.agent import Agent
from fairlib.merit import Merit, fair_policy
from fairlib.rules.rule import Rule

__all__ = ["Logged", "Replay", "replay", "article_contexts"]


class Logged(NamedTuple):
    """A round of a log of your own.

    Parameters
    ----------
    arm : int
        The arm played, 0, 1, ...
    reward : float
        What it paid.
    propensity : float
        The probability with which the arm was drawn in that round, above 0.
    features : array_like, shape (K, d), optional
        The context of each arm, where arms have contexts.

    Examples
    --------
    >>> Logged(2, 1.0, 0.25).propensity
    0.25
    """

    arm: int
    reward: float
    propensity: float
    features: Any = None


@dataclass(frozen=True, eq=False, repr=False)
class Replay:
    """What happened when a policy was replayed: its rounds are the visits in which the log agreed with it.

    Parameters
    ----------
    seen : int
        How many visits of the log were looked at.
    events : list of Event or of Logged
        The visit of each round; the arm played is the one in the log.
    probabilities : list of ndarray
        The probability with which the policy would have played each arm of the visit, round by round.

    Examples
    --------
    >>> Replay(10, [], []).rewards
    array([], dtype=float64)
    >>> Replay(10, [], [])
    Replay: 0 of 10 visits kept
    """

    seen: int
    events: list[Any]
    probabilities: list[NDArray[np.float64]]

    @property
    def rewards(self) -> NDArray[np.float64]:
        """Reward of each round; of an `Event` 1 for a click, else 0."""
        paid = [event.click if isinstance(event, Event) else event.reward for event in self.events]
        return np.array(paid, dtype=np.float64)

    @checked
    def measures(
        self,
        *,
        shares: Annotated[ArrayLike, checks.Numbers(0, 1)] | None = None,
        merit: Merit | None = None,
        means: Annotated[ArrayLike, checks.Numbers()] | None = None,
    ) -> dict[str, Any]:
        r"""Return how fairly the policy played in the visits kept.

        As these have the law of the rounds that the policy would have played, each measure has the same expectation as
        in a game of as many rounds. It is one number from one path: to see how sure it is, replay several logs.

        Parameters
        ----------
        shares : array_like, shape (K,), optional
            Share of the rounds that each arm is owed, together at most 1.
        merit : Merit, optional
            A merit function.
        means : array_like, shape (K,), optional
            The true mean reward of each arm, which the merit needs. Means estimated from the log are not enough: the
            regret against them is biased (`fairlib.evaluation.Evaluation.fairness`).

        Returns
        -------
        dict
            ``"share"``, the fraction of the rounds in which each arm was played, shape (K,); with shares ``"deficit"``
            and ``"violation"``, the largest number of plays by which an arm was behind, exactly and in whole plays, as
            in `fairlib.shares.SharesResult`; with a merit ``"fairness_regret"``,
            :math:`\sum_t \sum_a \lvert \pi^\star_a - p_{t,a} \rvert`, as in `fairlib.exposure.ExposureResult`.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind or size, the shares sum to more than 1, only one of merit and means is
            given, no visit was kept, or the pool of articles changes.

        Examples
        --------
        >>> log = 30 * [Logged(0, 1.0, 0.5), Logged(1, 0.0, 0.5)]
        >>> path = replay(log, Policy("the first", lambda p: 0), arms=2)
        >>> path.measures(shares=[0.25, 0.25])
        {'share': array([1., 0.]), 'deficit': 7.5, 'violation': 7.0}
        """
        played, p = self._played(), np.array(self.probabilities)
        rounds, arms = p.shape
        for name, each in (("shares", shares), ("means", means)):
            if each is not None and np.size(each) != arms:
                raise ValueError(f"{name} must be {arms} numbers, one an arm, not {np.size(each)}")
        counts = (played[:, None] == np.arange(arms)).cumsum(axis=0)
        found: dict[str, Any] = {"share": counts[-1] / rounds}
        if shares is not None:
            if np.sum(shares) > 1 + 1e-9:
                raise ValueError(f"shares must sum to at most 1, not {np.sum(shares):g}")
            owed = np.outer(np.arange(1, rounds + 1), np.asarray(shares))
            found["deficit"] = max(float((owed - counts).max()), 0.0)
            found["violation"] = max(float((np.floor(owed + 1e-9) - counts).max()), 0.0)  # 0.29 * 100 is below 29
        if (merit is None) != (means is None):
            raise ValueError("merit and means must be given both or not at all, as a merit is one of true means")
        if merit is not None and means is not None:
            found["fairness_regret"] = float(np.abs(fair_policy(merit, means) - p).sum())
        return found

    def _played(self) -> NDArray[np.int64]:
        """Return the arm played in each round; arms have fixed numbers only where the pool stays the same."""
        if not self.events:
            raise ValueError("events must be at least one visit that was kept, as nothing was played in none")
        pools = {event.pool.articles if isinstance(event, Event) else () for event in self.events}
        if len(pools) > 1:
            raise ValueError("events must be visits with the same articles throughout, as each article is an arm")
        (articles,) = pools
        return np.array(
            [articles.index(event.displayed) if isinstance(event, Event) else event.arm for event in self.events]
        )

    def __repr__(self) -> str:
        mean = f", mean reward {self.rewards.mean():.4g}" if self.events else ""
        return f"Replay: {len(self.events):,} of {self.seen:,} visits kept{mean}"


@checked
def replay(
    events: Iterable[Any],
    policy: Policy | ContextPolicy | Callable[[int], Policy],
    *,
    arms: Annotated[int, checks.Integer(1)] | None = None,
    least: Annotated[float, checks.Real(above=0, high=1)] | None = None,
    horizon: Horizon | None = None,
    seed: Seed = 0,
) -> Replay:
    """Let a policy choose in each visit of a log, and count the visits in which it chooses what was played.

    The log was made by drawing the arm with a known probability. A visit in which the policy chooses the arm that was
    drawn is kept with the probability `least` divided by the arm's propensity, so that each of the policy's choices is
    kept with the probability `least`, whatever it was. So whether a visit is kept says nothing of the visitor or of the
    reward; and if the visits are independent and identically distributed, the visits kept are, for any policy that
    learns from them alone, exactly as likely as those that it would have met if it had played itself (Li et al.,
    Theorem 1, for arms drawn uniformly, where every visit that agrees is kept). One visit in ``1 / least`` is kept.

    Parameters
    ----------
    events : iterable of Event, or of rounds with the fields of Logged
        The log, as from `read_today`; or a pandas data frame, dicts, or any other rows, with the columns `arm`,
        `reward` and `propensity`, and with contexts `features`.
    policy : Policy, ContextPolicy, or callable
        The policy. The arms of an `Event` are the articles of its pool; articles come and go, so a `Policy` is shown
        the counts and rewards of those in the pool, whatever their places in it. If its settings depend on the number
        of arms, give a function that makes it for a number, such as ``lambda k: lfg(np.full(k, 0.5 / k), eta=10)``. A
        `ContextPolicy` gets the contexts of `article_contexts` or the `features`, all in group 0.
    arms : int, optional
        Number of arms of your own log; needed unless the policy is made for some number, or there are features.
    least : float, optional
        The smallest propensity that there could have been, known from how the log was made and not from what it shows;
        by default one over the number of arms, for a log that was drawn uniformly.
    horizon : int, optional
        Rounds after which to stop; by default the whole log is used.
    seed : int
        Seed of the policy's own draws, and of which visits are kept.

    Returns
    -------
    Replay
        The rounds played; fewer than `horizon` if the log was too short.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, a round of the log lacks something or has a propensity below `least`, the
        policy is made for other rewards, other numbers of arms, other contexts or fewer rounds, needs its history or
        asks for feedback when the pool has changed, or its rule answers neither with probabilities nor with an arm.

    Notes
    -----
    A rule's memory is that of the visits kept: what it writes there in a visit that does not agree is forgotten. Memory
    for each arm starts again at zero when the pool changes, as it knows nothing of articles: a rule may calculate in
    it, but a rule that stores in it what it has learned of each arm can't be replayed.

    Examples
    --------
    Two arms were drawn unevenly; the first always pays 1 and the second nothing:

    >>> import fairlib as fl
    >>> log = 100 * [Logged(0, 1.0, 0.75), Logged(0, 1.0, 0.75), Logged(0, 1.0, 0.75), Logged(1, 0.0, 0.25)]
    >>> result = replay(log, fl.ucb1(), arms=2, least=0.25, horizon=60)
    >>> bool(result.rewards.mean() > 0.8)
    True
    """
    checks.rows("events", events, "a log, visit by visit, such as a data frame or a list of rows")
    # A stream of its own: the policy must not draw the numbers that a log made with the same seed was drawn with.
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    number = arms if arms is not None else getattr(policy, "arms", None)
    player: _Player = _OnContexts(policy, horizon) if isinstance(policy, ContextPolicy) else _OnArms(policy, horizon)
    seen = 0
    kept: list[Any] = []
    probabilities: list[NDArray[np.float64]] = []
    for event in events.itertuples(index=False) if hasattr(events, "itertuples") else events:
        visit = _visit(event, number, least)
        seen += 1
        arm = player.choose(len(kept) + 1, visit, rng)
        if visit.articles[arm] == visit.played and _is_kept(visit, least, rng):
            kept.append(visit.event)
            probabilities.append(player.learn(len(kept), visit, arm))
            if len(kept) == horizon:
                break
    return Replay(seen, kept, probabilities)


@checked
def article_contexts(event: Annotated[Event, checks.Instance(Event, "an Event of a log")]) -> NDArray[np.float64]:
    """Return the contexts of a visit's articles: the outer products of the visitor's and the article's features.

    This is as in section 5 of Wang et al. (2021). In the real log the first feature of both is 1 and the others are
    probabilities that sum to 1, so that a context may be up to 2 long.

    Parameters
    ----------
    event : Event
        The visit.

    Returns
    -------
    ndarray, shape (K, 36)
        A context for each article of the pool.

    Examples
    --------
    >>> from fairlib.data import Pool
    >>> user, article = np.array([1, 0.2, 0.3, 0, 0, 0.5]), np.array([1, 0, 1, 0, 0, 0])
    >>> article_contexts(Event(0, 7, 0, user, Pool((7,), article.reshape(1, -1)))).reshape(6, 6)[2]
    array([1. , 0.2, 0.3, 0. , 0. , 0.5])
    """
    features = event.pool.features
    return (features[:, :, None] * event.user).reshape(len(features), -1)


class _Visit(NamedTuple):
    """A visit of any log: the arms that there were, the one played, its reward and its probability."""

    event: Event | Logged
    articles: tuple[int, ...]
    played: int
    reward: float
    propensity: float

    @property
    def contexts(self) -> NDArray[np.float64]:
        if isinstance(self.event, Event):
            return article_contexts(self.event)
        if self.event.features is None:
            raise ValueError("each of events must have features, as the policy chooses by contexts")
        features: NDArray[np.float64] = self.event.features
        return features


def _visit(event: Any, arms: int | None, least: float | None) -> _Visit:
    """Check a visit, and return it in one form."""
    if isinstance(event, Event):
        articles = event.pool.articles
        return _Visit(event, articles, event.displayed, float(event.click), 1 / len(articles))
    try:
        if isinstance(event, Mapping):
            row = Logged(event["arm"], event["reward"], event["propensity"], event.get("features"))
        else:
            row = Logged(event.arm, event.reward, event.propensity, getattr(event, "features", None))
    except (AttributeError, KeyError):
        raise TypeError(
            "each of events must be an Event of a log, or have an arm, a reward and a propensity, not "
            f"{checks.shown(event)}"
        ) from None
    if row.features is not None:
        row = row._replace(features=checks.array("features", row.features, 2).copy())
    number = arms if row.features is None else len(row.features)
    if number is None:
        raise TypeError("arms must be given, as neither the policy nor the log says how many there are")
    if arms not in (None, number):
        raise ValueError(f"features must have {arms} rows, one an arm, not {number}")
    row = row._replace(
        arm=checks.integer("arm of each of events", row.arm, 0, number - 1),
        reward=checks.real("reward", row.reward),
        propensity=checks.real("propensity", row.propensity, high=1 + 1e-9, above=0),
    )
    if row.propensity < (least or 1 / number) - 1e-9:
        said = f"{least:g}" if least else f"one in {number}, as by default arms were drawn evenly"
        raise ValueError(f"propensity must be at least the least that there could be, {said}, not {row.propensity:g}")
    return _Visit(row, tuple(range(number)), row.arm, row.reward, row.propensity)


def _is_kept(visit: _Visit, least: float | None, rng: Generator) -> bool:
    """Drop agreeing visits, more often the likelier the arm was; none where arms were drawn uniformly."""
    floor = least or 1 / len(visit.articles)
    return visit.propensity <= floor or rng.random() * visit.propensity < floor


class _Player(ABC):
    """A policy that is asked visit by visit, and moves on only where the log agrees with it."""

    def __init__(self, policy: Any, horizon: int | None) -> None:
        self.policy = policy
        self.more: dict[str, int] = {}
        self.horizon: dict[str, int] = {} if horizon is None else {"T": horizon}
        self.made: dict[int, tuple[Any, Any]] = {}
        self.articles: tuple[int, ...] = ()
        self.agent: Any = None
        self.contexts: Any = None
        self.groups: Any = None

    def made_for(self, arms: int) -> Any:
        """Return the policy for a number of arms; one with contexts does for any."""
        return self.policy

    @abstractmethod
    def prepare(self, t: int, visit: _Visit) -> None:
        """Make the agent ready for a visit."""

    def choose(self, t: int, visit: _Visit, rng: Generator) -> int:
        """Ask what the policy would have played, without its remembering the question."""
        self.prepare(t, visit)
        self.agent.policy.check_rewards(visit.reward, visit.reward, f"the log's reward of {visit.reward:g}")
        self.asked = self.agent.copy() if self.remembers else self.agent
        return int(self.asked.choose(t, rng, self.contexts, self.groups)[0])

    def learn(self, t: int, visit: _Visit, arm: int) -> NDArray[np.float64]:
        """Move on; return the probabilities of what has been chosen."""
        self.agent = self.asked
        self.agent.record(t, np.array([arm]))
        context = None if self.contexts is None else self.contexts[arm]
        self.agent.observe(t, arm, visit.reward, self.agent.p[arm], context)
        return np.array(self.agent.p)

    def begin_pool(self, t: int, articles: tuple[int, ...]) -> None:
        """Begin with a pool; the rule's memory stays, except its memory of each arm."""
        if len(articles) not in self.made:
            policy = self.made_for(len(articles))
            if policy.horizon is not None and not self.horizon:
                raise ValueError(
                    f"horizon must be given, at most {policy.horizon}, the rounds that {policy.name!r} is made for"
                )
            policy.check_horizon(self.horizon.get("T", 1))
            bound, told = policy.bound_rule, f"the rule of {policy.name!r}"
            self.made[len(articles)] = policy, bound.interpreted if policy.interpret else bound.ready(told, 4)
        policy, rule = self.made[len(articles)]
        bound = policy.bound_rule
        if self.articles and bound.readers:
            raise ValueError(
                f"the rule of {policy.name!r} must not ask for feedback, as its arms are other articles when the pool "
                f"changes, which it does in round {t}"
            )
        try:
            agent = Agent(policy, rule, {"K": len(articles), **self.more, **self.horizon})
        except KeyError:
            raise ValueError(f"the rule of {policy.name!r} has memory for each round: say the horizon") from None
        if self.agent is not None:
            before = _of_no_arm(self.agent)
            for name, block in _of_no_arm(agent).items():
                if name in before and before[name].shape == block.shape:
                    block[...] = before[name]
            if agent.contextual:
                agent.ridge = self.agent.ridge
        self.agent, self.articles = agent, articles
        self.remembers = agent.state.size > 0 or bound.readers > 0


def _of_no_arm(agent: Agent) -> dict[str, NDArray[np.float64]]:
    """Return the memory that is as large for any number of arms, by name."""
    sizes = {**agent.sizes, "K": agent.sizes["K"] + 1}
    other = agent.bound_rule.memory(agent.bound_rule.state(sizes), sizes)
    return {name: block for name, block in agent.memory.items() if block.shape == other[name].shape}


class _OnArms(_Player):
    """A policy with the counts and rewards of each article so far."""

    def __init__(self, policy: Any, horizon: int | None) -> None:
        if not (isinstance(policy, Policy) or callable(policy)) or isinstance(policy, Rule):
            raise TypeError(
                f"policy must be a Policy, a ContextPolicy or a function that makes one, not {checks.shown(policy)}"
            )
        super().__init__(policy, horizon)
        self.played: dict[int, int] = {}
        self.earned: dict[int, float] = {}

    def made_for(self, arms: int) -> Policy:
        """Return the policy for a number of arms."""
        policy = self.policy if isinstance(self.policy, Policy) else self.policy(arms)
        if not isinstance(policy, Policy) or policy.plays != 1:
            raise TypeError(f"policy must be a Policy with one play a round, not {checks.shown(policy)}")
        if policy.arms is not None and policy.arms != arms:
            raise ValueError(
                f"policy {policy.name!r} is made for {policy.arms} arms, and a visit has {arms}: "
                f"give a function that makes it for a number of arms"
            )
        return policy

    def prepare(self, t: int, visit: _Visit) -> None:
        """Take up the counts and rewards of the articles in the pool."""
        if visit.articles == self.articles:
            return
        self.begin_pool(t, visit.articles)
        self.agent.selected[:] = [self.played.get(article, 0) for article in visit.articles]
        self.agent.observed[:] = self.agent.selected
        self.agent.total[:] = [self.earned.get(article, 0.0) for article in visit.articles]

    def learn(self, t: int, visit: _Visit, arm: int) -> NDArray[np.float64]:
        """Move on; return the probabilities of what has been chosen."""
        self.played[visit.played] = self.played.get(visit.played, 0) + 1
        self.earned[visit.played] = self.earned.get(visit.played, 0.0) + visit.reward
        return super().learn(t, visit, arm)


class _OnContexts(_Player):
    """A policy with its ridge regression on the rounds so far."""

    def __init__(self, policy: ContextPolicy, horizon: int | None) -> None:
        if policy.bound_rule.asks("past"):
            raise ValueError(f"policy {policy.name!r} must not need its history, as the number of articles varies")
        super().__init__(policy, horizon)

    def prepare(self, t: int, visit: _Visit) -> None:
        """Take the visit's contexts; what has been learned of them stays when the pool changes."""
        self.contexts, self.groups = visit.contexts, np.zeros(len(visit.contexts), np.int64)
        length = self.contexts.shape[1]
        if not self.more:
            if self.policy.dimension not in (None, length):
                made = f"made for contexts of length {self.policy.dimension}"
                raise ValueError(f"policy {self.policy.name!r} is {made}, not {length}")
            self.more = {"d": length, "G": 1}
        elif length != self.more["d"]:
            raise ValueError(f"features must be of one length, {self.more['d']} as in the first visit, not {length}")
        if visit.articles != self.articles:
            self.begin_pool(t, visit.articles)
