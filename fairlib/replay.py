"""Replay: what a policy would have earned, read off a log of articles that were displayed at random.

The method of L. Li, W. Chu, J. Langford and R. Schapire, *A contextual-bandit approach to personalized news article
recommendation* (2010), Algorithm 3, for the logs that `fairlib.data.read_today` reads.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairlib import checks
from fairlib.compilation import RULE
from fairlib.contexts import CONTEXT_RULE, ContextPolicy, Past, Ridge, absorb
from fairlib.data import Event
from fairlib.engine import _rule
from fairlib.policy import Policy, select

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
        the counts and rewards of those in the pool, wherever they stand in it. If its parameters depend on the number
        of arms, give a function that makes it for a number, such as ``lambda k: fairx_ucb(merit, k, 0.05)``. A
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
        If an argument is of the wrong kind, the policy is made for other numbers of arms or needs its history, or its
        rule returns no probabilities.

    Notes
    -----
    A rule's `state` is kept for each size of pool and knows nothing of articles: it serves to calculate in, but a rule
    that stores there what it has learned of each arm can't be replayed.

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
    # A stream of its own: the policy must not draw the numbers that a log made with the same seed was drawn with.
    rng = np.random.default_rng(np.random.SeedSequence(checks.whole("seed", seed, 0), spawn_key=(0,)))
    last = checks.whole("horizon", horizon, 1) if horizon is not None else None
    player = _OnContexts(policy) if isinstance(policy, ContextPolicy) else _OnArms(policy)
    seen = 0
    kept: list[Event] = []
    probabilities: list[NDArray[np.float64]] = []
    chosen = np.zeros(1, np.int64)
    for event in events:
        seen += 1
        p = player.choose(len(kept) + 1, event, rng)
        if not select(p, rng.random(), chosen):
            raise ValueError(
                f"the rule of {player.name!r} must return probabilities in [0, 1] that sum to 1; "
                f"in round {len(kept) + 1} it did not"
            )
        if event.pool.articles[chosen[0]] == event.displayed:
            player.learn(event, int(chosen[0]))
            kept.append(event)
            probabilities.append(p)
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
    features = event.pool.features
    return (features[:, :, None] * event.user).reshape(len(features), -1)


class _OnArms:
    """A policy with the counts and rewards of each article so far."""

    def __init__(self, policy: Any) -> None:
        if not (isinstance(policy, Policy) or callable(policy)):
            raise TypeError(f"policy must be a Policy, a ContextPolicy or a function that makes one, not {policy!r}")
        self.policy = policy
        self.ready: dict[int, tuple[Any, ...]] = {}
        self.played: dict[int, int] = {}
        self.clicks: dict[int, float] = {}
        self.name = ""

    def choose(self, t: int, event: Event, rng: np.random.Generator) -> NDArray[np.float64]:
        articles = event.pool.articles
        if len(articles) not in self.ready:
            self.ready[len(articles)] = self._made_for(len(articles))
        rule, params, state = self.ready[len(articles)]
        selected = np.array([self.played.get(article, 0) for article in articles])
        total = np.array([self.clicks.get(article, 0.0) for article in articles])
        p = np.zeros(len(articles))
        rule(params, state, t, selected, selected.copy(), total, rng, p)
        return p

    def learn(self, event: Event, arm: int) -> None:
        self.played[event.displayed] = self.played.get(event.displayed, 0) + 1
        self.clicks[event.displayed] = self.clicks.get(event.displayed, 0.0) + event.click

    def _made_for(self, arms: int) -> tuple[Any, ...]:
        policy = self.policy if isinstance(self.policy, Policy) else self.policy(arms)
        if not isinstance(policy, Policy) or policy.plays != 1:
            raise TypeError(f"policy must be a Policy with one play a round, not {policy!r}")
        if policy.arms is not None and policy.arms != arms:
            raise ValueError(
                f"policy {policy.name!r} is made for {policy.arms} arms, and a pool has {arms}: "
                f"give a function that makes it for a number of arms"
            )
        self.name = policy.name
        return _rule(policy, RULE), np.array(policy.params), np.zeros(policy.memory)


class _OnContexts:
    """A policy with its ridge regression on the rounds so far."""

    def __init__(self, policy: ContextPolicy) -> None:
        if policy.history:
            raise ValueError(f"policy {policy.name!r} must not need its history, as the number of articles varies")
        if policy.dimension not in (None, 36):
            raise ValueError(f"policy {policy.name!r} is made for contexts of length {policy.dimension}, not 36")
        self.name = policy.name
        self.rule = _rule(policy, CONTEXT_RULE)
        self.params, self.state = np.array(policy.params), np.zeros(policy.memory)
        d = 36 if policy.ridge else 0
        self.ridge = Ridge(np.zeros(d), np.eye(d) / (policy.ridge or 1.0) ** 0.5)
        self.past = Past(np.zeros((0, 0, 36)), np.zeros((0, 0), np.int64), np.zeros(0, np.int64), np.zeros(0))

    def choose(self, t: int, event: Event, rng: np.random.Generator) -> NDArray[np.float64]:
        self.contexts = article_contexts(event)
        p = np.zeros(len(self.contexts))
        groups = np.zeros(p.size, np.int64)
        self.rule(self.params, self.state, t, self.contexts, groups, self.ridge, self.past, rng, p)
        return p

    def learn(self, event: Event, arm: int) -> None:
        if self.ridge.mean.size:
            absorb(self.ridge.mean, self.ridge.root, self.contexts[arm], float(event.click))
