"""fairlib: the algorithms of four papers on fair bandits, and the book that teaches them.

A *problem* (`Bandit`, on arms such as `bernoulli`) and a *policy* (`ucb1`, `thompson_beta`, your own `Policy`) go
into `simulate`, and a `Result` comes out; where arms have contexts, a `ContextBandit` and a `ContextPolicy`. Each
chapter of the book has a module; this one gathers what all share.
"""

from fairlib.arms import Arms, Bandit, Delay, bernoulli, beta, gaussian
from fairlib.classic import (
    epsilon_greedy,
    thompson_beta,
    thompson_gaussian,
    ucb1,
    ucb1_bound,
    ucb1_worst_case_bound,
    uniform,
)
from fairlib.conformance import check_policy
from fairlib.contexts import ContextBandit, ContextPolicy
from fairlib.engine import simulate
from fairlib.policy import Policy
from fairlib.result import Result
from fairlib.sweeps import sweep

__all__ = [
    "Arms",
    "Bandit",
    "ContextBandit",
    "ContextPolicy",
    "Delay",
    "Policy",
    "Result",
    "bernoulli",
    "beta",
    "check_policy",
    "epsilon_greedy",
    "gaussian",
    "simulate",
    "sweep",
    "thompson_beta",
    "thompson_gaussian",
    "ucb1",
    "ucb1_bound",
    "ucb1_worst_case_bound",
    "uniform",
]
