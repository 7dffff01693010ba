"""Replay: what a policy would have earned, read off a log of arms that were played at random.

The method of L. Li, W. Chu, J. Langford and R. Schapire, *A contextual-bandit approach to personalized news article
recommendation* (2010), Algorithm 3, for the logs that `fairlib.data.read_today` reads and for any `Log`, whose
arms need not have been drawn uniformly.
"""

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fairlib import checks
from fairlib.checks import Horizon, Seed, checked
from fairlib.core.contexts import ContextPolicy
from fairlib.core.policy import Policy
from fairlib.data import Event, Log
from fairlib.engine.agent import Agent
from fairlib.rules.rule import Rule

__all__ = ["Replay", "replay", "article_contexts"]


@dataclass(frozen=True, eq=False, repr=False)
class Replay:
    """What happened when a policy was replayed: its rounds are the visits in which the log agreed with it.

    Parameters
    ----------
    seen : int
        How many visits of the log were looked at.
    events : list
        The visit of each round, an `Event` or a row of the `Log` as a named tuple; the arm played is the log's.
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

    def __repr__(self) -> str:
        mean = f", mean reward {self.rewards.mean():.4g}" if self.events else ""
        return f"Replay: {len(self.events):,} of {self.seen:,} visits kept{mean}"


@checked
def replay(
    log: Any,
    policy: Policy | ContextPolicy | Callable[[int], Policy],
    *,
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
    Theorem 1, for arms drawn uniformly, where every visit that agrees is kept). One visit in ``1 / least`` is kept;
    where they are far fewer, a policy waits for an arm that the log could not draw, and a warning says so.

    Parameters
    ----------
    log : Log, data frame, or iterable of Event
        The log: a `Log` or a data frame that makes one, with contexts in its column `features`; or visits with pools of
        articles, as from `read_today`.
    policy : Policy, ContextPolicy, or callable
        The policy. The arms of an `Event` are the articles of its pool; articles come and go, so a `Policy` is shown
        the counts and rewards of those in the pool, whatever their places in it. If its settings depend on the number
        of arms, give a function that makes it for a number, such as ``lambda k: lfg(np.full(k, 0.5 / k), eta=10)``. A
        `ContextPolicy` gets the contexts of `article_contexts` or the `features`, all in group 0. Where the log has a
        column `available`, the policy must ask which arms are there.
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

    Notes
    -----
    A rule's memory is that of the visits kept: what it writes there in a visit that does not agree is forgotten. Memory
    for each arm starts again at zero when the pool changes, as it knows nothing of articles: a rule may calculate in
    it, but a rule that stores in it what it has learned of each arm can't be replayed.

    Examples
    --------
    Two arms were drawn unevenly; the first always pays 1 and the second nothing:

    >>> import fairlib as fl
    >>> from fairlib.data import Log
    >>> arms, chances = 100 * [0, 0, 0, 1], 100 * [0.75, 0.75, 0.75, 0.25]
    >>> log = Log({"arm": arms, "reward": 1 - np.array(arms), "propensity": chances}, arms=2)
    >>> result = replay(log, fl.ucb1(), least=0.25, horizon=60)
    >>> bool(result.rewards.mean() > 0.8)
    True
    """
    # A stream of its own: the policy must not draw the numbers that a log made with the same seed was drawn with.
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    rewards = 0.0, 1.0  # clicks
    if isinstance(log, Log | Mapping) or hasattr(log, "columns"):
        known = Log.of(log)
        rewards = float(known.table["reward"].min()), float(known.table["reward"].max())
        visits = _rows(known, getattr(policy, "arms", None), least)
    else:
        visits = map(_visit, checks.rows("log", log, "a Log, a data frame or Events"))
    player = _Player(policy, horizon, rewards)
    seen, expected, variance = 0, 0.0, 0.0
    kept: list[Any] = []
    probabilities: list[NDArray[np.float64]] = []
    for visit in visits:
        floor = least or 1 / len(visit.articles)
        seen, expected, variance = seen + 1, expected + floor, variance + floor * (1 - floor)
        arm = player.choose(len(kept) + 1, visit, rng)
        # Agreeing visits are dropped, more often the likelier the arm was; none where arms were drawn uniformly.
        if visit.articles[arm] == visit.played and (
            visit.propensity <= floor or rng.random() * visit.propensity < floor
        ):
            kept.append(visit.event)
            probabilities.append(player.learn(len(kept), visit, arm))
            if len(kept) == horizon:
                break
    if len(kept) < expected - 4 * math.sqrt(variance):
        warnings.warn(  # level 2 is what checks the arguments
            f"replay kept {len(kept):,} of {seen:,} visits, and a log that can draw every arm would give about "
            f"{expected:,.0f}, whatever the policy: it may wait for an arm that could not be drawn",
            stacklevel=3,
        )
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

    event: Any
    articles: tuple[int, ...]
    played: int
    reward: float
    propensity: float
    available: Any = None  # 1 for each arm that was there; None where all of them were

    @property
    def contexts(self) -> NDArray[np.float64]:
        if isinstance(self.event, Event):
            return article_contexts(self.event)
        if not hasattr(self.event, "features"):
            raise ValueError("log must have features, as the policy chooses by contexts")
        shown = checks.array("features of log", self.event.features, 2)
        if len(shown) != len(self.articles):
            raise ValueError(f"features of log must have {len(self.articles)} rows, one an arm, not {len(shown)}")
        return shown.copy()


def _visit(event: Any) -> _Visit:
    """Return a visit to a pool of articles."""
    checks.instance("each of log", event, Event, "an Event; give other logs as a Log or a data frame")
    articles = event.pool.articles
    return _Visit(event, articles, event.displayed, float(event.click), 1 / len(articles))


def _rows(log: Log, made_for: int | None, least: float | None) -> Iterator[_Visit]:
    """Return the rows of a log as visits, once its number of arms is known, and that no propensity is too small."""
    table = log.table
    if log.arms is not None:
        number = len(log.arms)
    elif "features" in table:
        number = len(table["features"][0])
    elif made_for is not None:
        number = made_for
    else:
        raise TypeError("log must say how many arms there are, as Log(..., arms=4), since the policy does not either")
    if (most := table["arm"].max()) >= number:
        raise ValueError(f"arm of log must be one of {number}, as the policy or the features have, not {most}")
    floor = least or 1 / number
    if (lowest := table["propensity"].min()) < floor - 1e-9:
        said = f"{least:g}" if least else f"one in {number}, as by default arms were drawn evenly"
        raise ValueError(f"propensity of log must be at least the least that there could be, {said}, not {lowest:g}")
    arms = tuple(range(number))
    who = repeat(None) if log.available is None else log.available
    pairs = zip(table.itertuples(index=False), who, strict=False)
    return (_Visit(row, arms, row.arm, row.reward, row.propensity, there) for row, there in pairs)


class _Player:
    """A policy that is asked visit by visit, and moves on only where the log agrees with it."""

    def __init__(self, policy: Any, horizon: int | None, rewards: tuple[float, float]) -> None:
        self.contextual = isinstance(policy, ContextPolicy)
        if isinstance(policy, Rule) or not (self.contextual or isinstance(policy, Policy) or callable(policy)):
            raise TypeError(
                f"policy must be a Policy, a ContextPolicy or a function that makes one, not {checks.shown(policy)}"
            )
        if self.contextual and policy.bound_rule.asks("past"):
            raise ValueError(f"policy {policy.name!r} must not need its history, as the number of articles varies")
        self.policy, self.rewards = policy, rewards
        self.sizes: dict[str, int] = {} if horizon is None else {"T": horizon}
        self.made: dict[int, tuple[Any, Any]] = {}
        self.articles: tuple[int, ...] = ()
        self.agent: Any = None
        self.contexts: Any = None
        self.groups: Any = None
        self.played: defaultdict[int, int] = defaultdict(int)
        self.earned: defaultdict[int, float] = defaultdict(float)

    def choose(self, t: int, visit: _Visit, rng: Generator) -> int:
        """Ask what the policy would have played, without its remembering the question."""
        if self.contextual:
            self.take_contexts(visit)
        if visit.articles != self.articles:
            self.begin_pool(t, visit.articles)
        if visit.available is not None:
            self.agent.meet(visit.available)
        self.asked = self.agent.copy() if self.remembers else self.agent
        return int(self.asked.choose(t, rng, self.contexts, self.groups)[0])

    def learn(self, t: int, visit: _Visit, arm: int) -> NDArray[np.float64]:
        """Move on; return the probabilities of what has been chosen."""
        self.agent = self.asked
        self.agent.record(t, np.array([arm]))
        context = self.contexts[arm] if self.contextual else None
        self.agent.observe(t, arm, visit.reward, self.agent.p[arm], context)
        self.played[visit.played] += 1
        self.earned[visit.played] += visit.reward
        return np.array(self.agent.p)

    def take_contexts(self, visit: _Visit) -> None:
        """Take the visit's contexts, which must be as long as those before."""
        self.contexts, self.groups = visit.contexts, np.zeros(len(visit.contexts), np.int64)
        length = self.contexts.shape[1]
        if length != self.sizes.setdefault("d", length):
            raise ValueError(f"features must be of one length, {self.sizes['d']} as in the first visit, not {length}")
        self.sizes["G"] = 1

    def policy_for(self, arms: int) -> Any:
        """Return the policy for a number of arms; one with contexts does for any."""
        if self.contextual:
            return self.policy
        policy = self.policy if isinstance(self.policy, Policy) else self.policy(arms)
        return checks.instance("policy", policy, Policy, "a Policy, or a function that makes one for a number of arms")

    def begin_pool(self, t: int, articles: tuple[int, ...]) -> None:
        """Begin with a pool: what is known of its articles stays, and the rule's memory that is of no arm."""
        if len(articles) not in self.made:
            policy = self.policy_for(len(articles))
            if policy.horizon is not None and "T" not in self.sizes:
                raise ValueError(
                    f"horizon must be given, at most {policy.horizon}, the rounds that {policy.name!r} is made for"
                )
            sizes = {"K": len(articles), **self.sizes}
            policy.check_game(sizes, 1, self.rewards, self.sizes.get("T", 1))
            if "T" not in self.sizes:
                policy.check_endless()
            bound, told = policy.bound_rule, f"the rule of {policy.name!r}"
            self.made[len(articles)] = policy, bound.interpreted if policy.interpret else bound.ready(told, 4)
        policy, rule = self.made[len(articles)]
        if self.articles and policy.bound_rule.readers:
            raise ValueError(
                f"the rule of {policy.name!r} must not ask for feedback, as its arms are other articles when the pool "
                f"changes, which it does in round {t}"
            )
        agent = Agent(policy, rule, {"K": len(articles), **self.sizes})
        if self.agent is not None:
            before = _of_no_arm(self.agent)
            for name, block in _of_no_arm(agent).items():
                if name in before and before[name].shape == block.shape:
                    block[...] = before[name]
            if self.contextual:
                agent.ridge = self.agent.ridge
        agent.selected[:] = agent.observed[:] = [self.played[article] for article in articles]
        agent.total[:] = [self.earned[article] for article in articles]
        self.agent, self.articles = agent, articles
        self.remembers = agent.state.size > 0 or policy.bound_rule.readers > 0


def _of_no_arm(agent: Agent) -> dict[str, NDArray[np.float64]]:
    """Return the memory that is as large for any number of arms, by name."""
    sizes = {**agent.sizes, "K": agent.sizes["K"] + 1}
    other = agent.bound_rule.memory(agent.bound_rule.state(sizes), sizes)
    return {name: block for name, block in agent.memory.items() if block.shape == other[name].shape}
