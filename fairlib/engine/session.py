"""A game and a policy brought together: checked, measured, and all that the loops call made ready."""

from typing import Any

import numpy as np

from fairlib import checks
from fairlib.core.arms import DELAY, Bandit, no_delay
from fairlib.core.contexts import ContextBandit, ContextPolicy
from fairlib.core.policy import Policy
from fairlib.engine.agent import wrong_probabilities
from fairlib.rules.argument_block import BlockCall
from fairlib.rules.bound_rule import BoundRule

PROBLEM = checks.Instance(Bandit | ContextBandit, "a Bandit or ContextBandit, such as Bandit(bernoulli([0.9, 0.5]))")
Problem = Bandit | ContextBandit
AnyPolicy = Policy | ContextPolicy


def make_session(problem: Any, policy: Any, horizon: Any, compiled: bool = True) -> "Session":
    """Bring a problem and a policy together; without `compiled` only to be translated, for which numbers are enough."""
    PROBLEM("problem", problem)
    game = (ArmsSession if isinstance(problem, Bandit) else ContextSession)(problem, policy, horizon)
    if compiled:
        game.compile()
    return game


class Session:
    """A prepared game and policy; a `Runner` plays it."""

    problem: Any
    policy: Any
    bound_rule: BoundRule
    plays: int
    sizes: dict[str, int]
    rule: Any
    draw: Any
    delay: Any
    there: Any = None  # what says which arms are there, if they come and go
    metrics: BoundRule
    metrics_function: Any
    interpreted: bool
    history = False
    draws: dict[str, BoundRule]
    """What draws rewards or rounds, as ``"draw"``, and on arms ``"delay"``, and ``"there"`` if they come and go."""

    def compile(self) -> None:
        """Compile the functions that can be compiled; the compiled engine needs all of them."""
        bound, interpret = self.bound_rule, self.policy.interpret
        made = {"rule": bound.interpreted if interpret else bound.ready(f"the rule of {self.policy.name!r}", 4)}
        given = {"metrics_function": self.metrics, **self.draws}
        made |= {name: each.ready(each.form.what, 4) for name, each in given.items()}
        vars(self).update(made)
        self.interpreted = not all(isinstance(each, BlockCall) for each in made.values())

    def memory(self, last: int) -> int:
        """Return how many numbers a run up to a round keeps for the policy."""
        past = last * (self.sizes["K"] * (self.sizes["d"] + 1) + 2) if self.history else 0
        return int(self.policy.bound_rule.length(self.sizes)) + past

    def fault(self, t: int, run: int) -> ValueError:
        """Return the error for a round in which the rule, or if negative the world, was at fault."""
        if t < 0:
            return ValueError(f"{self._duty}; in round {-t} of run {run} it did not")
        return wrong_probabilities(self.policy, f"round {t} of run {run}", "there" in self.draws)

    _duty: str


class ArmsSession(Session):
    """A prepared game on arms."""

    _duty = (
        "arms must pay finite rewards, and the delay must be a whole number of rounds of at least 0, or infinity for "
        "never"
    )

    def __init__(self, problem: Bandit, policy: Policy, horizon: Any) -> None:
        checks.instance("policy", policy, Policy, "a Policy, such as ucb1()")
        self.problem, self.policy, self.plays, self.metrics = problem, policy, problem.plays, problem.metrics
        self.sizes = {"K": problem.arms.means.size}
        self.sizes["T"] = policy.check_game(self.sizes, problem.plays, problem.arms.reward_range, horizon)
        self.bound_rule, self.there_params = policy.bound_rule, np.zeros(0)
        delay = problem.delay.draw if problem.delay else BoundRule(no_delay, DELAY, {})
        self.draws = {"draw": problem.arms.draw, "delay": delay}
        if problem.available:
            self._duty += "; at least as many arms as are played must be there, each 1, all others 0"
            self.bound_rule = policy.where_arms_come_and_go()
            self.draws["there"] = problem.available.draw
            self.there_params = problem.available.draw.numbers(self.sizes)
        self.has_delay = problem.delay is not None
        self.table, self.delay_params = problem.arms.draw.numbers(self.sizes), delay.numbers(self.sizes)


class ContextSession(Session):
    """A prepared game with contexts."""

    plays = 1
    _duty = "the world's draw must fill a round with finite numbers and with groups that exist"

    def __init__(self, problem: ContextBandit, policy: ContextPolicy, horizon: Any) -> None:
        checks.instance(
            "policy", policy, ContextPolicy, "a ContextPolicy where arms have contexts, such as linucb(1, 1)"
        )
        world = problem.world
        self.problem, self.policy, self.metrics = problem, policy, problem.metrics
        self.bound_rule = policy.bound_rule
        self.sizes = {"K": world.arms, "d": world.dimension, "G": world.groups}
        self.sizes["T"] = policy.check_game(self.sizes, 1, (0.0, 1.0), horizon)  # what a world pays is not known
        self.draws = {"draw": world.draw}
        self.table = world.draw.numbers(self.sizes)
        self.history = policy.bound_rule.asks("past")
