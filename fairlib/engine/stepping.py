"""The same games round by round, in plain Python: to be watched, and for rules that can't be compiled."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fairlib import checks
from fairlib.core.arms import DELAY, Bandit, no_delay
from fairlib.core.contexts import ContextBandit, ContextPolicy, Now
from fairlib.core.policy import Policy
from fairlib.core.ridge import Ridge
from fairlib.engine.agent import Agent, absorber, fresh_past, fresh_ridge
from fairlib.engine.seeding import AnySeed, root, streams
from fairlib.rules.argument_block import BlockCall
from fairlib.rules.bound_rule import BoundRule
from fairlib.rules.rule import Seen


class Round(NamedTuple):
    """What happened in a round of a game on arms, as `trace` tells it.

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


class ContextRound(NamedTuple):
    """What happened in a round of a game with contexts, as `trace` tells it.

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
    >>> next(trace(game, fl.linear.linucb(1.0), 5)).now.contexts.shape
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


PROBLEM = checks.Instance(Bandit | ContextBandit, "a Bandit or ContextBandit, such as Bandit(bernoulli([0.9, 0.5]))")
Problem = Annotated[Bandit | ContextBandit, checks.InBody(PROBLEM)]
AnyPolicy = Annotated[
    Policy | ContextPolicy,
    checks.InBody(checks.Instance(Policy | ContextPolicy, "a Policy or a ContextPolicy, such as ucb1()")),
]


def trace(
    problem: Problem,
    policy: AnyPolicy,
    horizon: Annotated[int, checks.InBody(checks.Integer(1, example=100))],
    seed: AnySeed = 0,
) -> Iterator[Any]:
    """Watch a policy play: the rounds of run 0 of `simulate` with the same seed, one after the other.

    Parameters
    ----------
    problem : Bandit or ContextBandit
        The game.
    policy : Policy or ContextPolicy
        Who plays.
    horizon : int
        Number of rounds, at least 1.
    seed : int or numpy.random.SeedSequence
        Where all chance comes from.

    Yields
    ------
    Round or ContextRound
        What happened; nothing in it is changed later.

    Raises
    ------
    TypeError, ValueError
        As `simulate` does.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.5]))
    >>> steps = list(trace(game, fl.thompson_beta(), 100, seed=3))
    >>> bool((steps[-1].selected == fl.simulate(game, fl.thompson_beta(), 100, seed=3).selected[0, -1]).all())
    True
    """
    game = make_session(problem, policy)
    last = policy.check_horizon(horizon)
    own, world = streams(root(seed), 0)
    return game.rounds(last, own, world, 0, watched=True)


def make_session(problem: Any, policy: Any) -> "Session":
    """Bring a problem and a policy together.

    Parameters
    ----------
    problem : Bandit or ContextBandit
        The game.
    policy : Policy or ContextPolicy
        Who plays.

    Returns
    -------
    Session
        The game made ready.

    Raises
    ------
    TypeError, ValueError
        If they do not fit.

    Examples
    --------
    >>> import fairlib as fl
    >>> make_session(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.ucb1()).sizes
    {'K': 2}
    """
    PROBLEM("problem", problem)
    return ArmsSession(problem, policy) if isinstance(problem, Bandit) else ContextSession(problem, policy)


class Session(ABC):
    """A game and a policy made ready: what the compiled engine needs, and the same played round by round."""

    problem: Any
    policy: Any
    plays: int
    sizes: dict[str, int]
    rule: Any
    metrics: BoundRule
    metrics_function: Any
    interpreted: bool

    def _make_ready(self, draws: dict[str, BoundRule]) -> dict[str, Any]:
        """Compile what can be; without one of them the compiled engine can't play."""
        bound, interpret = self.policy.bound, self.policy.interpret
        made = {"rule": bound.interpreted if interpret else bound.ready(f"the rule of {self.policy.name!r}", 5)}
        made |= {name: each.ready(each.form.what, 5) for name, each in {"metrics": self.metrics, **draws}.items()}
        self.rule, self.metrics_function = made["rule"], made["metrics"]
        self.interpreted = not all(isinstance(each, BlockCall) for each in made.values())
        return made

    @abstractmethod
    def rounds(self, horizon: int, own: Generator, world: Generator, run: int, watched: bool = False) -> Iterator[Any]:
        """Play the rounds; what is yielded is later changed, unless it is to be watched."""

    @abstractmethod
    def memory(self, sizes: dict[str, int], last: int) -> int:
        """Return how many numbers a run up to a round keeps for the policy."""

    @abstractmethod
    def accumulate(self, truth: Any, sums: Any, step: Any) -> None:
        """Sum what the game sums in a round."""

    def fault(self, t: int, run: int) -> ValueError:
        """Return the error for a round in which the rule, or if negative the world, was at fault."""
        if t < 0:
            return ValueError(f"{self._duty}; in round {-t} of run {run} it did not")
        return ValueError(
            f"the rule of {self.policy.name!r} must return probabilities in [0, 1] that sum to {self.plays}"
            f"{', or an arm that there is' if self.plays == 1 else ''}; in round {t} of run {run} it did not"
        )

    _duty: str


class ArmsSession(Session):
    """A game on arms made ready.

    Parameters
    ----------
    problem : Bandit
        The game.
    policy : Policy
        Who plays.

    Raises
    ------
    TypeError, ValueError
        If they do not fit.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = ArmsSession(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.ucb1())
    >>> next(game.rounds(3, *streams(root(0), 0), run=0)).played
    array([0])
    """

    _duty = (
        "arms must pay finite rewards, and the delay must be a whole number of rounds of at least 0, or infinity for "
        "never"
    )

    def __init__(self, problem: Bandit, policy: Policy) -> None:
        checks.instance("policy", policy, Policy, "a Policy, such as ucb1()")
        if policy.plays != problem.plays:
            raise ValueError(f"policy.plays must be the problem's {problem.plays}, not {policy.plays}")
        arms = problem.arms.means.size
        if policy.arms is not None and policy.arms != arms:
            raise ValueError(f"policy {policy.name!r} is made for {policy.arms} arms, not {arms}")
        self.problem, self.policy, self.plays, self.metrics = problem, policy, problem.plays, problem.metrics
        self.sizes = {"K": arms}
        delay = problem.delay.draw if problem.delay else BoundRule(no_delay, DELAY, {})
        made = self._make_ready({"draw": problem.arms.draw, "delay": delay})
        self.draw, self.delay, self.late = made["draw"], made["delay"], problem.delay is not None
        self.table, self.waits = problem.arms.draw.numbers(self.sizes), delay.numbers(self.sizes)

    def rounds(
        self, horizon: int, own: Generator, world: Generator, run: int, watched: bool = False
    ) -> Iterator[Round]:
        """Play the rounds; what is yielded is later changed, unless it is to be watched."""
        sizes = {**self.sizes, "T": horizon}
        seat, number = Agent(self.policy, self.rule, sizes), sizes["K"]
        selected, observed, total = np.zeros(number, np.int64), np.zeros(number, np.int64), np.zeros(number)
        arriving: dict[int, list[tuple[int, float, int, float]]] = {}

        def arrive(arm: int, reward: float, t: int, chance: float) -> None:
            observed[arm] += 1
            total[arm] += reward
            seat.hear(arm, reward, t, chance)

        for t in range(1, horizon + 1):
            seen = (
                Seen(t, selected.copy(), observed.copy(), total.copy())
                if watched
                else Seen(t, selected, observed, total)
            )
            chosen = seat.choose((t, selected, observed, total), own, self.plays)
            if chosen is None:
                raise self.fault(t, run)
            rewards = np.zeros(self.plays)
            for j, arm in enumerate(chosen.tolist()):
                rewards[j] = x = self.draw(self.table, arm, world)
                selected[arm] += 1
                if not math.isfinite(x):
                    raise self.fault(-t, run)
                wait = self.delay(self.waits, arm, x, world) if self.late else 0
                if wait < -1:
                    raise self.fault(-t, run)
                if wait == 0:
                    arrive(arm, x, t, seat.p[arm])
                elif wait > 0:
                    arriving.setdefault(t + wait, []).append((arm, x, t, seat.p[arm]))
            for message in reversed(arriving.pop(t, [])):  # the last sent is read first, as in the compiled engine
                arrive(*message)
            kept = {name: block.copy() for name, block in seat.memory.items()} if watched else {}
            p, counts = (seat.p.copy(), selected.copy()) if watched else (seat.p, selected)
            yield Round(t, seen, kept, p, chosen, rewards, counts)

    def memory(self, sizes: dict[str, int], last: int) -> int:
        """Return how many numbers a run up to a round keeps for the policy."""
        return int(self.policy.bound.length(sizes))

    def accumulate(self, truth: Any, sums: Any, step: Round) -> None:
        """Sum what the game sums in a round."""
        self.metrics_function(truth, sums, step.t, step.p, step.selected)


class ContextSession(Session):
    """A game with contexts made ready.

    Parameters
    ----------
    problem : ContextBandit
        The game.
    policy : ContextPolicy
        Who plays.

    Raises
    ------
    TypeError, ValueError
        If they do not fit.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = ContextSession(fl.ContextBandit(fl.contexts.sphere(3, [0.6, 0.8])), fl.linear.linucb(1.0))
    >>> game.sizes
    {'K': 3, 'd': 2, 'G': 1}
    """

    plays = 1
    _duty = "the world's draw must fill a round with finite numbers and with groups that exist"

    def __init__(self, problem: ContextBandit, policy: ContextPolicy) -> None:
        checks.instance(
            "policy", policy, ContextPolicy, "a ContextPolicy where arms have contexts, such as linucb(1, 1)"
        )
        world = problem.world
        if policy.dimension is not None and policy.dimension != world.dimension:
            raise ValueError(
                f"policy {policy.name!r} is made for contexts of length {policy.dimension}, not {world.dimension}"
            )
        self.problem, self.policy, self.metrics = problem, policy, problem.metrics
        self.sizes = {"K": world.arms, "d": world.dimension, "G": world.groups}
        self.draw = self._make_ready({"draw": world.draw})["draw"]
        self.table = world.draw.numbers(self.sizes)
        self.history = policy.bound.asks("past")

    def rounds(
        self, horizon: int, own: Generator, world: Generator, run: int, watched: bool = False
    ) -> Iterator[ContextRound]:
        """Play the rounds; what is yielded is later changed, unless it is to be watched."""
        play, selected = ContextRun(self, horizon, own, world, run), np.zeros(self.sizes["K"], np.int64)
        for t in range(1, horizon + 1):
            play.draw(t)
            ridge = Ridge(play.ridge.mean.copy(), play.ridge.root.copy()) if watched else play.ridge
            chosen = play.choose(t)
            selected[chosen] += 1
            p, now, means, rewards = play.seat.p, Now(t, play.contexts, play.groups), play.means, play.rewards[chosen]
            if watched:
                kept = {name: block.copy() for name, block in play.seat.memory.items()}
                now, counts = Now(t, play.contexts.copy(), play.groups.copy()), selected.copy()
                yield ContextRound(t, now, means.copy(), ridge, kept, p.copy(), chosen, rewards, counts)
            else:
                yield ContextRound(t, now, means, ridge, {}, p, chosen, rewards, selected)

    def memory(self, sizes: dict[str, int], last: int) -> int:
        """Return how many numbers a run up to a round keeps for the policy."""
        k, d = sizes["K"], sizes["d"]
        return int(self.policy.bound.length(sizes)) + (last * (k * (d + 1) + 2) if self.history else 0)

    def accumulate(self, truth: Any, sums: Any, step: ContextRound) -> None:
        """Sum what the game sums in a round."""
        self.metrics_function(truth, sums, step.t, step.now.groups, step.means, step.p, step.played[0])


class ContextRun:
    """A run of a game with contexts under way: the round that is drawn, and what is known from those before.

    Parameters
    ----------
    game : ContextSession
        The game.
    horizon : int
        Number of rounds that there is memory for.
    own, world : numpy.random.Generator
        The policy's stream, and the world's.
    run : int
        Which run it is, for messages.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = ContextSession(fl.ContextBandit(fl.contexts.sphere(3, [0.6, 0.8])), fl.linear.linucb(1.0))
    >>> play = ContextRun(game, 3, *streams(root(0), 0), run=0)
    >>> play.draw(1)
    >>> play.choose(1)
    array([0])
    """

    def __init__(self, game: ContextSession, horizon: int, own: Generator, world: Generator, run: int) -> None:
        self.game, self.own, self.world, self.run = game, own, world, run
        self.sizes = {**game.sizes, "T": horizon}
        k, d = self.sizes["K"], self.sizes["d"]
        self.contexts, self.groups = np.zeros((k, d)), np.zeros(k, np.int64)
        self.means, self.rewards = np.zeros(k), np.zeros(k)
        self.seat = Agent(game.policy, game.rule, self.sizes)
        self.ridge, self.past = fresh_ridge(game.policy.ridge, d), fresh_past(horizon if game.history else 0, k, d)

    def draw(self, t: int) -> None:
        """Draw round t."""
        self.game.draw(self.game.table, self.world, self.contexts, self.groups, self.means, self.rewards)
        fine = all(np.isfinite(each).all() for each in (self.contexts, self.means, self.rewards))
        if not (fine and (self.groups >= 0).all() and (self.groups < self.sizes["G"]).all()):
            raise self.game.fault(-t, self.run)

    def chances(self, t: int) -> NDArray[np.float64]:
        """Return the probability of each arm in the round that is drawn; the policy won't remember the question."""
        seat = self.seat.copy()
        if seat.settle(seat.ask(self._given(t), self.own), 0.0, 1) is None:
            raise self.game.fault(t, self.run)
        return seat.p

    def choose(self, t: int) -> NDArray[np.int64]:
        """Let the policy play the round that is drawn, and learn from it; return the arm."""
        chosen = self.seat.choose(self._given(t), self.own, 1)
        if chosen is None:
            raise self.game.fault(t, self.run)
        arm = int(chosen[0])
        if self.ridge.mean.size:
            absorber()(self.ridge.mean, self.ridge.root, self.contexts[arm], self.rewards[arm])
        if self.game.history:
            self.past.contexts[t - 1], self.past.groups[t - 1] = self.contexts, self.groups
            self.past.played[t - 1], self.past.rewards[t - 1] = arm, self.rewards[arm]
        self.seat.hear(arm, self.rewards[arm], t, self.seat.p[arm])
        return chosen

    def _given(self, t: int) -> tuple[Any, ...]:
        return t, self.contexts, self.groups, self.ridge, self.past
