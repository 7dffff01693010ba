"""Games watched round by round: the loops in plain Python, with what they call noting what happens."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from fairlib.core.contexts import Now
from fairlib.core.ridge import Ridge
from fairlib.engine.runner import ArmsRunner, ContextsRunner, Runner
from fairlib.engine.seeding import AnySeed, root
from fairlib.engine.session import AnyPolicy, ArmsSession, Problem, Session, make_session
from fairlib.rules.rule import Seen


class Round(NamedTuple):
    """What happened in a round of a game on arms, as `trace` returns it.

    Parameters
    ----------
    t : int
        The round: 1, 2, 3, ...
    seen : Seen
        What the rule had seen before it.
    memory : dict
        The rule's own memory after it, by name.
    p : ndarray, shape (K,)
        The probability with which each arm was played.
    played : ndarray of int, shape (L,)
        The arms played.
    rewards : ndarray, shape (L,)
        What they paid, seen or not.
    selected : ndarray of int, shape (K,)
        How often each arm has been played, this round included.
    available : ndarray of int, shape (K,)
        1 for each arm that was there, else 0.

    Examples
    --------
    >>> import fairlib as fl
    >>> [int(step.played[0]) for step in trace(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.ucb1(), 5)]
    [0, 1, 0, 0, 0]
    """

    t: int
    seen: Seen
    memory: dict[str, NDArray[np.float64]]
    p: NDArray[np.float64]
    played: NDArray[np.int64]
    rewards: NDArray[np.float64]
    selected: NDArray[np.int64]
    available: NDArray[np.int64]


class ContextRound(NamedTuple):
    """What happened in a round of a game with contexts, as `trace` returns it.

    Parameters
    ----------
    t : int
        The round: 1, 2, 3, ...
    now : Now
        The contexts and groups of its arms.
    means : ndarray, shape (K,)
        The expected rewards, given the contexts; the rule did not know them.
    ridge : Ridge
        The ridge regression on the rounds before, empty if the rule did not ask for it.
    memory : dict
        The rule's own memory after the round, by name.
    p : ndarray, shape (K,)
        The probability with which each arm was played.
    played : ndarray of int, shape (1,)
        The arm played.
    rewards : ndarray, shape (1,)
        What it paid.
    selected : ndarray of int, shape (K,)
        How often each arm has been played, this round included.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.ContextBandit(fl.contexts.sphere(3, [0.6, 0.8]))
    >>> trace(game, fl.linear.linucb(1.0), 5)[0].now.contexts.shape
    (3, 2)
    """

    t: int
    now: Now
    means: NDArray[np.float64]
    ridge: Ridge
    memory: dict[str, NDArray[np.float64]]
    p: NDArray[np.float64]
    played: NDArray[np.int64]
    rewards: NDArray[np.float64]
    selected: NDArray[np.int64]


def trace(problem: Problem, policy: AnyPolicy, horizon: int, seed: AnySeed = 0) -> list[Any]:
    """Watch a policy play: all rounds of run 0 of `simulate` with the same seed.

    All are held in memory, with what the rule remembered in each: long games are for `simulate`.

    Parameters
    ----------
    problem : Bandit or ContextBandit
        The game.
    policy : Policy or ContextPolicy
        The policy.
    horizon : int
        Number of rounds, at least 1.
    seed : int or numpy.random.SeedSequence
        The seed of all draws.

    Returns
    -------
    list of Round or ContextRound
        What happened in each round.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.5]))
    >>> steps = trace(game, fl.thompson_beta(), 100, seed=3)
    >>> bool((steps[-1].selected == fl.simulate(game, fl.thompson_beta(), 100, seed=3).selected[0, -1]).all())
    True
    """
    return record(make_session(problem, policy, horizon), root(seed))


def record(game: Session, chance: SeedSequence) -> list[Any]:
    """Return the rounds of run 0 of a prepared game."""
    kind = _ArmsRecorder if isinstance(game, ArmsSession) else _ContextsRecorder
    runner: Any = kind(game, np.array([game.sizes["T"]]), chance)
    selected, sums = np.zeros((1, game.sizes["K"]), np.int64), np.zeros((1, runner.arrays["sums"].size))
    runner.play(0, selected, np.zeros(1), sums, np.zeros(16, np.int64))
    rounds: list[Any] = runner.rounds
    return rounds


class _Recorder(Runner):
    """Plays in plain Python; its `rounds` are those of the last run."""

    in_python = True
    rounds: list[Any]
    noting: Callable[..., list[Callable[..., Any]]]

    def in_plain_python(self) -> list[Callable[..., Any]]:
        """Return what the loop calls, in functions that note each round."""
        self.rounds = []
        if not self.arrays["sums"].size:  # without any the loop neither says p nor asks for the sums of the round
            self.arrays["sums"] = np.zeros(1)
        return self.noting(*super().in_plain_python())

    def memory(self) -> dict[str, Any]:
        """Return a copy of the rule's memory, by name."""
        kept = self.game.policy.bound_rule.memory(self.arrays["state"], self.sizes)
        return {name: block.copy() for name, block in kept.items()}


class _ArmsRecorder(_Recorder, ArmsRunner):
    """Notes the rounds of a game on arms."""

    def noting(self, rule: Any, draw: Any, delay: Any, metrics: Any, there: Any) -> list[Callable[..., Any]]:
        """Return the functions that note a round."""
        p, selected, observed, total = (self.arrays[name] for name in ("p", "selected", "observed", "total"))
        seen, played, rewards = Seen(0, selected, observed, total), list[int](), list[float]()
        available = self.arrays["available"]

        def noting_rule(block: Any, t: int, rng: Any) -> int:
            nonlocal seen, played, rewards
            seen, played, rewards = Seen(t, selected.copy(), observed.copy(), total.copy()), [], []
            return int(rule(block, t, rng))

        def noting_draw(block: Any, arm: int, rng: Any) -> float:
            reward = float(draw(block, arm, rng))
            played.append(arm)
            rewards.append(reward)
            return reward

        def noting_metrics(block: Any, t: int) -> None:
            metrics(block, t)
            paid, now = (np.array(played), np.array(rewards)), (selected.copy(), available.copy())
            self.rounds.append(Round(t, seen, self.memory(), p.copy(), *paid, *now))

        return [noting_rule, noting_draw, delay, noting_metrics, there]


class _ContextsRecorder(_Recorder, ContextsRunner):
    """Notes the rounds of a game with contexts."""

    def noting(self, rule: Any, draw: Any, metrics: Any) -> list[Callable[..., Any]]:
        """Return the functions that note a round."""
        p, selected, rewards, ridge = (self.arrays[name] for name in ("p", "selected", "rewards", "ridge"))
        contexts, groups, means = (self.arrays[name] for name in ("contexts", "groups", "means"))
        before = ridge

        def noting_rule(block: Any, t: int, rng: Any) -> int:
            nonlocal before
            before = Ridge(ridge.mean.copy(), ridge.root.copy())
            return int(rule(block, t, rng))

        def noting_metrics(block: Any, t: int, arm: int) -> None:
            metrics(block, t, arm)
            now, played = Now(t, contexts.copy(), groups.copy()), np.array([arm])
            known = now, means.copy(), before, self.memory(), p.copy(), played, rewards[played], selected.copy()
            self.rounds.append(ContextRound(t, *known))

        return [noting_rule, draw, noting_metrics]
