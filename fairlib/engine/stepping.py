"""The same games round by round, in plain Python: to be watched, and for rules that can't be compiled."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fairlib import checks
from fairlib.core.arms import DELAY, Bandit, no_delay
from fairlib.core.contexts import ContextBandit, ContextPolicy, Now
from fairlib.core.policy import Policy
from fairlib.core.ridge import Ridge
from fairlib.engine.agent import Agent, wrong_probabilities
from fairlib.engine.seeding import AnySeed, root, streams
from fairlib.rules.argument_block import BlockCall
from fairlib.rules.bound_rule import BoundRule
from fairlib.rules.rule import Seen


class Round(NamedTuple):
    """What happened in a round of a game on arms, as `trace` yields it.

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
    """What happened in a round of a game with contexts, as `trace` yields it.

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
Problem = Bandit | ContextBandit
AnyPolicy = Policy | ContextPolicy
GivenHorizon = int
"""A number of rounds, which is checked against that of the policy."""
GivenArms = int
"""A number of arms, which is checked against that of the policy."""
GivenDimension = int
"""The length of a context, which is checked against that of the policy."""


def trace(
    problem: Problem,
    policy: AnyPolicy,
    horizon: GivenHorizon,
    seed: AnySeed = 0,
) -> Iterator[Any]:
    """Watch a policy play: the rounds of run 0 of `simulate` with the same seed, one after the other.

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
    return game.rounds(last, *streams(root(seed), 0), 0, watched=True)


def make_session(problem: Any, policy: Any, compiled: bool = True) -> "Session":
    """Bring a problem and a policy together.

    Parameters
    ----------
    problem : Bandit or ContextBandit
        The game.
    policy : Policy or ContextPolicy
        The policy.
    compiled : bool
        Whether to compile what can be compiled. If not, nothing is played: to be translated, a game needs only its
        numbers.

    Returns
    -------
    Session
        The prepared game.

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
    game = ArmsSession(problem, policy) if isinstance(problem, Bandit) else ContextSession(problem, policy)
    if compiled:
        game.compile()
    return game


class Session(ABC):
    """A prepared game and policy: what the compiled engine needs, and the same played round by round."""

    problem: Any
    policy: Any
    plays: int
    sizes: dict[str, int]
    rule: Any
    draw: Any
    delay: Any
    metrics: BoundRule
    metrics_function: Any
    interpreted: bool
    draws: dict[str, BoundRule]
    """What draws rewards or rounds, as ``"draw"``, and on arms the delays, as ``"delay"``."""

    def compile(self) -> None:
        """Compile the functions that can be compiled; the compiled engine needs all of them."""
        bound, interpret = self.policy.bound_rule, self.policy.interpret
        made = {"rule": bound.interpreted if interpret else bound.ready(f"the rule of {self.policy.name!r}", 4)}
        given = {"metrics_function": self.metrics, **self.draws}
        made |= {name: each.ready(each.form.what, 4) for name, each in given.items()}
        vars(self).update(made)
        self.interpreted = not all(isinstance(each, BlockCall) for each in made.values())

    @abstractmethod
    def rounds(
        self, horizon: int, policy_rng: Generator, env_rng: Generator, run: int, watched: bool = False
    ) -> Iterator[Any]:
        """Play the rounds; what is yielded is later changed, unless it is to be watched."""

    @abstractmethod
    def memory(self, sizes: dict[str, int], last: int) -> int:
        """Return how many numbers a run up to a round keeps for the policy."""

    @abstractmethod
    def accumulate(self, params: Any, sums: Any, step: Any) -> None:
        """Sum what the game sums in a round."""

    def fault(self, t: int, run: int) -> ValueError:
        """Return the error for a round in which the rule, or if negative the world, was at fault."""
        if t < 0:
            return ValueError(f"{self._duty}; in round {-t} of run {run} it did not")
        return wrong_probabilities(self.policy, f"round {t} of run {run}")

    _duty: str


class ArmsSession(Session):
    """A prepared game on arms.

    Parameters
    ----------
    problem : Bandit
        The game.
    policy : Policy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If they do not fit.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = ArmsSession(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.ucb1())
    >>> game.compile()
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
        policy.check_rewards(*problem.arms.reward_range, f"those of {problem.arms!r}")
        self.problem, self.policy, self.plays, self.metrics = problem, policy, problem.plays, problem.metrics
        self.sizes = {"K": arms}
        delay = problem.delay.draw if problem.delay else BoundRule(no_delay, DELAY, {})
        self.draws = {"draw": problem.arms.draw, "delay": delay}
        self.has_delay = problem.delay is not None
        self.table, self.delay_params = problem.arms.draw.numbers(self.sizes), delay.numbers(self.sizes)

    def rounds(
        self, horizon: int, policy_rng: Generator, env_rng: Generator, run: int, watched: bool = False
    ) -> Iterator[Round]:
        """Play the rounds; what is yielded is later changed, unless it is to be watched."""
        agent = Agent(self.policy, self.rule, {**self.sizes, "T": horizon}, f" of run {run}")
        arriving: dict[int, list[tuple[int, int, float, float]]] = {}
        for t in range(1, horizon + 1):
            seen = Seen(t, agent.selected, agent.observed, agent.total)
            if watched:
                seen = Seen(t, agent.selected.copy(), agent.observed.copy(), agent.total.copy())
            chosen = agent.choose(t, policy_rng)
            agent.record(t, chosen)
            rewards = np.zeros(self.plays)
            for j, arm in enumerate(chosen.tolist()):
                rewards[j] = x = self.draw(self.table, arm, env_rng)
                if not math.isfinite(x):
                    raise self.fault(-t, run)
                wait = self.delay(self.delay_params, arm, x, env_rng) if self.has_delay else 0
                if wait < -1:
                    raise self.fault(-t, run)
                if wait == 0:
                    agent.observe(t, arm, x, agent.p[arm])
                elif wait > 0:
                    arriving.setdefault(t + wait, []).append((t, arm, x, agent.p[arm]))
            for message in reversed(arriving.pop(t, [])):  # the last sent is read first, as in the compiled engine
                agent.observe(*message)
            kept = {name: block.copy() for name, block in agent.memory.items()} if watched else {}
            p, counts = (agent.p.copy(), agent.selected.copy()) if watched else (agent.p, agent.selected)
            yield Round(t, seen, kept, p, chosen, rewards, counts)

    def memory(self, sizes: dict[str, int], last: int) -> int:
        """Return how many numbers a run up to a round keeps for the policy."""
        return int(self.policy.bound_rule.length(sizes))

    def accumulate(self, params: Any, sums: Any, step: Round) -> None:
        """Sum what the game sums in a round."""
        self.metrics_function(params, sums, step.t, step.p, step.selected)


class ContextSession(Session):
    """A prepared game with contexts.

    Parameters
    ----------
    problem : ContextBandit
        The game.
    policy : ContextPolicy
        The policy.

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
        if policy.arms is not None and policy.arms != world.arms:
            raise ValueError(f"policy {policy.name!r} is made for {policy.arms} arms, not {world.arms}")
        if policy.dimension is not None and policy.dimension != world.dimension:
            raise ValueError(
                f"policy {policy.name!r} is made for contexts of length {policy.dimension}, not {world.dimension}"
            )
        self.problem, self.policy, self.metrics = problem, policy, problem.metrics
        self.sizes = {"K": world.arms, "d": world.dimension, "G": world.groups}
        self.draws = {"draw": world.draw}
        self.table = world.draw.numbers(self.sizes)
        self.history = policy.bound_rule.asks("past")

    def rounds(
        self, horizon: int, policy_rng: Generator, env_rng: Generator, run: int, watched: bool = False
    ) -> Iterator[ContextRound]:
        """Play the rounds; what is yielded is later changed, unless it is to be watched."""
        play = ContextRun(self, horizon, policy_rng, env_rng, run)
        for t in range(1, horizon + 1):
            play.draw(t)
            ridge = Ridge(play.agent.ridge.mean.copy(), play.agent.ridge.root.copy()) if watched else play.agent.ridge
            chosen = play.choose(t)
            p, now, means, rewards = play.agent.p, Now(t, play.contexts, play.groups), play.means, play.rewards[chosen]
            if watched:
                kept = {name: block.copy() for name, block in play.agent.memory.items()}
                now, counts = Now(t, play.contexts.copy(), play.groups.copy()), play.agent.selected.copy()
                yield ContextRound(t, now, means.copy(), ridge, kept, p.copy(), chosen, rewards, counts)
            else:
                yield ContextRound(t, now, means, ridge, {}, p, chosen, rewards, play.agent.selected)

    def memory(self, sizes: dict[str, int], last: int) -> int:
        """Return how many numbers a run up to a round keeps for the policy."""
        k, d = sizes["K"], sizes["d"]
        return int(self.policy.bound_rule.length(sizes)) + (last * (k * (d + 1) + 2) if self.history else 0)

    def accumulate(self, params: Any, sums: Any, step: ContextRound) -> None:
        """Sum what the game sums in a round."""
        self.metrics_function(params, sums, step.t, step.now.groups, step.means, step.p, step.played[0])


class ContextRun:
    """A run of a game with contexts under way: the round that is drawn, and what is known from those before.

    Parameters
    ----------
    game : ContextSession
        The game.
    horizon : int
        Number of rounds that there is memory for.
    policy_rng, env_rng : numpy.random.Generator
        The policy's stream, and the environment's.
    run : int
        Which run it is, for messages.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = ContextSession(fl.ContextBandit(fl.contexts.sphere(3, [0.6, 0.8])), fl.linear.linucb(1.0))
    >>> game.compile()
    >>> play = ContextRun(game, 3, *streams(root(0), 0), run=0)
    >>> play.draw(1)
    >>> play.choose(1)
    array([0])
    """

    def __init__(self, game: ContextSession, horizon: int, policy_rng: Generator, env_rng: Generator, run: int) -> None:
        self.game, self.policy_rng, self.env_rng, self.run = game, policy_rng, env_rng, run
        k, d = game.sizes["K"], game.sizes["d"]
        self.contexts, self.groups = np.zeros((k, d)), np.zeros(k, np.int64)
        self.means, self.rewards = np.zeros(k), np.zeros(k)
        self.agent = Agent(game.policy, game.rule, {**game.sizes, "T": horizon}, f" of run {run}")

    def draw(self, t: int) -> None:
        """Draw round t."""
        self.game.draw(self.game.table, self.env_rng, self.contexts, self.groups, self.means, self.rewards)
        fine = all(np.isfinite(each).all() for each in (self.contexts, self.means, self.rewards))
        if not (fine and (self.groups >= 0).all() and (self.groups < self.game.sizes["G"]).all()):
            raise self.game.fault(-t, self.run)

    def chances(self, t: int) -> NDArray[np.float64]:
        """Return the probability of each arm in the round that is drawn; the policy won't remember the question."""
        agent = self.agent.copy()
        agent.select_arms(t, agent.ask(t, self.policy_rng, self.contexts, self.groups), 0.0)
        return agent.p

    def choose(self, t: int) -> NDArray[np.int64]:
        """Let the policy play the round that is drawn, and learn from it; return the arm."""
        chosen = self.agent.choose(t, self.policy_rng, self.contexts, self.groups)
        self.agent.record(t, chosen, self.contexts, self.groups)
        arm = int(chosen[0])
        self.agent.observe(t, arm, self.rewards[arm], self.agent.p[arm], self.contexts[arm])
        return chosen
