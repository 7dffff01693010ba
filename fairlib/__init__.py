"""fairlib: the algorithms of four papers on fair bandits, and the book that teaches them.

A *problem* (`Bandit`, on arms such as `bernoulli`) and a *policy* (`ucb1`, `thompson_beta`, your own `Policy`) go
into `simulate`, and a `Result` comes out; where arms have contexts, a `ContextBandit` and a `ContextPolicy`. These are
what all share. Each paper has a package of its own, such as `fairlib.exposure`, imported when it is first asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

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
from fairlib.contexts import ContextBandit, ContextPolicy, World
from fairlib.engine import simulate
from fairlib.evidence import Estimate, apart, estimate
from fairlib.merit import Merit
from fairlib.player import Choice, Player
from fairlib.policy import Policy
from fairlib.result import Result
from fairlib.rules.rule import Number, PerArm, PerDimension, PerGroup, Square, ask, rule
from fairlib.stepping import trace
from fairlib.sweeps import SweepError, sweep

if TYPE_CHECKING:  # what `__getattr__` finds, for those who only read the code
    from fairlib import after as after
    from fairlib import classic as classic
    from fairlib import contexts as contexts
    from fairlib import data as data
    from fairlib import delays as delays
    from fairlib import explorers as explorers
    from fairlib import exposure as exposure
    from fairlib import figures as figures
    from fairlib import linear as linear
    from fairlib import live as live
    from fairlib import merit as merit
    from fairlib import page as page
    from fairlib import ranks as ranks
    from fairlib import replay as replay
    from fairlib import service as service
    from fairlib import shares as shares

__version__ = "0.1.0"

__all__ = [
    "Arms",
    "Bandit",
    "Choice",
    "ContextBandit",
    "ContextPolicy",
    "Delay",
    "Estimate",
    "Merit",
    "Number",
    "PerArm",
    "PerDimension",
    "PerGroup",
    "Player",
    "Policy",
    "Result",
    "Square",
    "SweepError",
    "World",
    "apart",
    "ask",
    "bernoulli",
    "beta",
    "check_policy",
    "epsilon_greedy",
    "estimate",
    "gaussian",
    "rule",
    "simulate",
    "sweep",
    "thompson_beta",
    "thompson_gaussian",
    "trace",
    "ucb1",
    "ucb1_bound",
    "ucb1_worst_case_bound",
    "uniform",
]

# The import of the package must stay quick, and behind some of these stands Matplotlib: each waits until it is used.
_LATER = frozenset(
    [
        "after",
        "classic",
        "contexts",
        "data",
        "delays",
        "explorers",
        "exposure",
        "figures",
        "linear",
        "live",
        "merit",
        "page",
        "ranks",
        "replay",
        "service",
        "shares",
    ]
)


def __getattr__(name: str) -> Any:
    """Import a module of the package when it is first asked for."""
    if name in _LATER:
        return importlib.import_module(f"fairlib.{name}")
    raise AttributeError(f"module 'fairlib' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the modules, too, that are yet to be imported."""
    return sorted({*globals(), *_LATER})
