"""Replay: what a policy would have earned, read off a log of articles that were displayed at random.

The method of L. Li, W. Chu, J. Langford and R. Schapire, *A contextual-bandit approach to personalized news article
recommendation* (2010), Algorithm 3, for the logs that `fairlib.data.read_today` reads.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fairlib import checks
from fairlib.contexts import ContextPolicy
from fairlib.data import Event
from fairlib.policy import Policy
from fairlib.rules import Rule
from fairlib.stepping import Seat, absorber, fresh_past, fresh_ridge

__all__ = ["Replay", "replay", "article_contexts"]


@dataclass(frozen=True, eq=False)
class Replay:
    """What happened when a policy was replayed: its rounds are the visits in which the log agreed with it.

    Parameters
    ----------
    seen : int
        How many visits of the log were looked at.
    events : list of Event
        The visit of each round; the article played is the one displayed.
    probabilities : list of ndarray
        With which probability the policy would have played each article of the visit's pool, round by round.

    Examples
    --------
    >>> Replay(10, [], []).rewards
    array([], dtype=float64)
    """

    seen: int
    events: list[Event]
    probabilities: list[NDArray[np.float64]]

    @property
    def rewards(self) -> NDArray[np.float64]:
        """Reward of each round: 1 for a click, else 0."""
        return np.array([event.click for event in self.events], dtype=np.float64)


def replay(
    events: Iterable[Event],
    policy: Policy | ContextPolicy | Callable[[int], Policy],
    *,
    horizon: int | None = None,
    seed: int = 0,
) -> Replay:
    """Let a policy choose in each visit of a log, and count the visits in which it chooses what was displayed.

    The log was made by drawing the article evenly from the pool, whatever the visitor. So whether a visit agrees with
    the policy says nothing of the visitor or of the click; and if the visits are independent and alike, the visits
    kept are, for any policy that learns from them alone, exactly as likely as those that it would have met
    had it been at play itself (Li et al., Theorem 1). With K articles one visit in K is kept.

    Parameters
    ----------
    events : iterable of Event
        The log, as from `read_today`.
    policy : Policy, ContextPolicy, or callable
        Who chooses. The arms of a round are the articles of its pool; articles come and go, so a `Policy` is shown
        the counts and rewards of those in the pool, wherever they stand in it. If its settings depend on the number
        of arms, give a function that makes it for a number, such as ``lambda k: lfg(np.full(k, 0.5 / k), eta=10)``. A
        `ContextPolicy` gets the contexts of `article_contexts`, all in group 0.
    horizon : int, optional
        Rounds after which to stop; by default the whole log is used.
    seed : int
        Seed of the policy's own chance.

    Returns
    -------
    Replay
        The rounds played; fewer than `horizon` if the log was too short.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, the policy is made for other numbers of arms or for fewer rounds, needs its
        history or asks for news of a pool that has changed, or its rule answers neither with probabilities nor with an
        arm.

    Notes
    -----
    A rule's memory is that of the visits kept: what it notes in a visit that does not agree is forgotten. Memory for
    each arm starts again at zero when the pool changes, as it knows nothing of articles: it serves to calculate in, but
    a rule that stores there what it has learned of each arm can't be replayed.

    Examples
    --------
    Two articles, of which the first is clicked each time and the second never:

    >>> import fairlib as fl
    >>> from fairlib.data import Pool
    >>> pool = Pool((7, 8), np.ones((2, 6)))
    >>> log = [Event(0, article, int(article == 7), np.ones(6), pool) for article in 500 * (7, 8)]
    >>> result = replay(log, fl.ucb1(), horizon=200)
    >>> bool(result.rewards.mean() > 0.9)
    True
    """
    if not isinstance(events, Iterable):
        raise TypeError(f"events must be a log, visit by visit, not {events!r}")
    # A stream of its own: the policy must not draw the numbers that a log made with the same seed was drawn with.
    rng = np.random.default_rng(np.random.SeedSequence(checks.whole("seed", seed, 0, None), spawn_key=(0,)))
    last = checks.whole("horizon", horizon, 1) if horizon is not None else None
    player: _Player = _OnContexts(policy, last) if isinstance(policy, ContextPolicy) else _OnArms(policy, last)
    seen = 0
    kept: list[Event] = []
    probabilities: list[NDArray[np.float64]] = []
    for event in events:
        _event(event, "each of events")
        seen += 1
        arm = player.choose(len(kept) + 1, event, rng)
        if event.pool.articles[arm] == event.displayed:
            kept.append(event)
            probabilities.append(player.learn(len(kept), event, arm))
            if len(kept) == last:
                break
    return Replay(seen, kept, probabilities)


def article_contexts(event: Event) -> NDArray[np.float64]:
    """Return the contexts of a visit's articles: the outer products of the visitor's and the article's features.

    As in section 5 of Wang et al. (2021). In the real log the first feature of both is 1 and the others are
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
    features = _event(event, "event").pool.features
    return (features[:, :, None] * event.user).reshape(len(features), -1)


def _event(event: Any, name: str) -> Event:
    if not isinstance(event, Event):
        raise TypeError(f"{name} must be an Event of a log, not {event!r}")
    return event


class _Player(ABC):
    """A policy that is asked visit by visit, and moves on only where the log agrees with it."""

    more: ClassVar[dict[str, int]]

    def __init__(self, policy: Any, horizon: int | None) -> None:
        self.policy, self.name = policy, ""
        self.horizon: dict[str, int] = {} if horizon is None else {"T": horizon}
        self.made: dict[int, tuple[Any, Any]] = {}
        self.articles: tuple[int, ...] = ()
        self.seat: Any = None

    @abstractmethod
    def made_for(self, arms: int) -> Any:
        """Return the policy for a number of arms."""

    @abstractmethod
    def given(self, t: int, event: Event) -> tuple[Any, ...]:
        """Return what the rule is given before its news."""

    def choose(self, t: int, event: Event, rng: Generator) -> int:
        """Ask what the policy would have displayed, without its remembering the question."""
        if event.pool.articles != self.articles:
            self._sit_down(t, event.pool.articles)
        self.asked = self.seat.copy() if self.remembers else self.seat
        chosen = self.asked.settle(self.asked.ask(self.given(t, event), rng), rng.random(), 1)
        if chosen is None:
            raise ValueError(
                f"the rule of {self.name!r} must return probabilities in [0, 1] that sum to 1, or an arm that there "
                f"is; in round {t} it did not"
            )
        return int(chosen[0])

    def learn(self, t: int, event: Event, arm: int) -> NDArray[np.float64]:
        """Move on; return the probabilities of what has been chosen."""
        self.seat = self.asked
        self.seat.hear(arm, float(event.click), t, self.seat.p[arm])
        return np.array(self.seat.p)

    def _sit_down(self, t: int, articles: tuple[int, ...]) -> None:
        """Begin with a pool; what the rule remembers stays, but for what it remembers of each arm."""
        if len(articles) not in self.made:
            policy = self.made_for(len(articles))
            if policy.horizon is not None and not self.horizon:
                raise ValueError(
                    f"horizon must be given, at most {policy.horizon}, the rounds that {policy.name!r} is made for"
                )
            policy.check_horizon(self.horizon.get("T", 1))
            bound, told = policy.bound, f"the rule of {policy.name!r}"
            self.made[len(articles)] = policy, bound.interpreted if policy.interpret else bound.ready(told, 4)
        policy, rule = self.made[len(articles)]
        self.name, bound = policy.name, policy.bound
        if self.articles and bound.readers:
            raise ValueError(
                f"the rule of {self.name!r} must not ask for news, as its arms are other articles when the pool "
                f"changes, which it does in round {t}"
            )
        try:
            seat = Seat(policy, rule, {"K": len(articles), **self.more, **self.horizon})
        except KeyError:
            raise ValueError(f"the rule of {self.name!r} has memory for each round: say the horizon") from None
        if self.seat is not None:
            before = _of_no_arm(self.seat)
            for name, block in _of_no_arm(seat).items():
                if name in before and before[name].shape == block.shape:
                    block[...] = before[name]
        self.seat, self.articles = seat, articles
        self.remembers = seat.state.size > 0 or bound.readers > 0


def _of_no_arm(seat: Seat) -> dict[str, NDArray[np.float64]]:
    """Return the memory that is as large for any number of arms, by name."""
    sizes = {**seat.sizes, "K": seat.sizes["K"] + 1}
    other = seat.bound.memory(seat.bound.state(sizes), sizes)
    return {name: block for name, block in seat.memory.items() if block.shape == other[name].shape}


class _OnArms(_Player):
    """A policy with the counts and rewards of each article so far."""

    more: ClassVar[dict[str, int]] = {}

    def __init__(self, policy: Any, horizon: int | None) -> None:
        if not (isinstance(policy, Policy) or callable(policy)) or isinstance(policy, Rule):
            raise TypeError(f"policy must be a Policy, a ContextPolicy or a function that makes one, not {policy!r}")
        super().__init__(policy, horizon)
        self.played: dict[int, int] = {}
        self.clicks: dict[int, float] = {}

    def made_for(self, arms: int) -> Policy:
        """Return the policy for a number of arms."""
        policy = self.policy if isinstance(self.policy, Policy) else self.policy(arms)
        if not isinstance(policy, Policy) or policy.plays != 1:
            raise TypeError(f"policy must be a Policy with one play a round, not {policy!r}")
        if policy.arms is not None and policy.arms != arms:
            raise ValueError(
                f"policy {policy.name!r} is made for {policy.arms} arms, and a pool has {arms}: "
                f"give a function that makes it for a number of arms"
            )
        return policy

    def given(self, t: int, event: Event) -> tuple[Any, ...]:
        """Return the counts and rewards of the articles in the pool."""
        selected = np.array([self.played.get(article, 0) for article in event.pool.articles])
        total = np.array([self.clicks.get(article, 0.0) for article in event.pool.articles])
        return t, selected, selected.copy(), total

    def learn(self, t: int, event: Event, arm: int) -> NDArray[np.float64]:
        """Move on; return the probabilities of what has been chosen."""
        self.played[event.displayed] = self.played.get(event.displayed, 0) + 1
        self.clicks[event.displayed] = self.clicks.get(event.displayed, 0.0) + event.click
        return super().learn(t, event, arm)


class _OnContexts(_Player):
    """A policy with its ridge regression on the rounds so far."""

    more: ClassVar[dict[str, int]] = {"d": 36, "G": 1}

    def __init__(self, policy: ContextPolicy, horizon: int | None) -> None:
        if policy.bound.asks("past"):
            raise ValueError(f"policy {policy.name!r} must not need its history, as the number of articles varies")
        if policy.dimension not in (None, 36):
            raise ValueError(f"policy {policy.name!r} is made for contexts of length {policy.dimension}, not 36")
        super().__init__(policy, horizon)
        self.ridge, self.past = fresh_ridge(policy.ridge, 36), fresh_past(0, 0, 36)

    def made_for(self, arms: int) -> ContextPolicy:
        """Return the policy, which does for any number of arms."""
        policy: ContextPolicy = self.policy
        return policy

    def given(self, t: int, event: Event) -> tuple[Any, ...]:
        """Return the visit's contexts, and what has been learned."""
        self.contexts = article_contexts(event)
        return t, self.contexts, np.zeros(len(self.contexts), np.int64), self.ridge, self.past

    def learn(self, t: int, event: Event, arm: int) -> NDArray[np.float64]:
        """Move on; return the probabilities of what has been chosen."""
        if self.ridge.mean.size:
            absorber()(self.ridge.mean, self.ridge.root, self.contexts[arm], float(event.click))
        return super().learn(t, event, arm)
