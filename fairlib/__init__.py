"""fairlib: the algorithms of four papers on fair bandits, and the book that teaches them.

A *problem* (`Bandit`, on arms such as `bernoulli`) and a *policy* (`ucb1`, `thompson_beta`, your own `Policy`) go into
`simulate`, and a `Result` comes out; where arms have contexts, a `ContextBandit` and a `ContextPolicy`. All of the book
shares these. Each paper has a package of its own, such as `fairlib.exposure`, imported when it is first asked for.
"""

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from fairlib._version import __version__ as __version__
from fairlib.baselines.classic import (
    epsilon_greedy,
    thompson_beta,
    thompson_gaussian,
    ucb1,
    ucb1_bound,
    ucb1_worst_case_bound,
    uniform,
)
from fairlib.core.arms import Arms, Available, Bandit, Delay, bernoulli, beta, gaussian
from fairlib.core.contexts import ContextBandit, ContextPolicy, World
from fairlib.core.policy import Policy
from fairlib.core.result import Result
from fairlib.engine.check_policy import check_policy
from fairlib.engine.simulate import simulate
from fairlib.engine.trace import trace
from fairlib.merit import Merit
from fairlib.player.player import Choice, Player
from fairlib.rules.rule import Number, PerArm, PerDimension, PerGroup, Square, ask, rule
from fairlib.study.compare import Comparison, compare
from fairlib.study.statistics import Estimate, estimate, paired_t
from fairlib.study.sweep import SweepError, sweep

if TYPE_CHECKING:  # the modules that `__getattr__` finds, for tools that only read the code
    from fairlib import after as after
    from fairlib import arena as arena
    from fairlib import data as data
    from fairlib import delays as delays
    from fairlib import exposure as exposure
    from fairlib import merit as merit
    from fairlib import ranks as ranks
    from fairlib import shares as shares
    from fairlib.baselines import classic as classic
    from fairlib.baselines import linear as linear
    from fairlib.core import contexts as contexts
    from fairlib.data import Log as Log
    from fairlib.pages import explorers as explorers
    from fairlib.pages import figures as figures
    from fairlib.pages import live as live
    from fairlib.study.evaluate import evaluate as evaluate
    from fairlib.study.replay import replay as replay

__all__ = [
    "Arms",
    "Bandit",
    "Choice",
    "Comparison",
    "ContextBandit",
    "ContextPolicy",
    "Available",
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
    "ask",
    "bernoulli",
    "beta",
    "check_policy",
    "compare",
    "epsilon_greedy",
    "estimate",
    "gaussian",
    "paired_t",
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

# The import of the package must stay quick, and some parts need Matplotlib: each is imported when it is first used.
# Modules that are asked for by a shorter name than their own, besides the packages:
_SHORT = {
    "classic": "fairlib.baselines.classic",
    "contexts": "fairlib.core.contexts",
    "explorers": "fairlib.pages.explorers",
    "figures": "fairlib.pages.figures",
    "linear": "fairlib.baselines.linear",
    "live": "fairlib.pages.live",
}
# A class and functions that are asked for without their module:
_MEMBERS = {"Log": "fairlib.data", "evaluate": "fairlib.study.evaluate", "replay": "fairlib.study.replay"}


def __getattr__(name: str) -> Any:
    """Import a module of the package, or a member of one, when it is first asked for."""
    if name in _MEMBERS:
        return getattr(importlib.import_module(_MEMBERS[name]), name)
    if name in _SHORT or name in _packages():
        return importlib.import_module(_SHORT.get(name, f"fairlib.{name}"))
    raise AttributeError(f"module 'fairlib' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what is yet to be imported, too."""
    return sorted({*globals(), *_SHORT, *_MEMBERS, *_packages()})


def _packages() -> set[str]:
    return {each.name for each in pkgutil.iter_modules(__path__) if each.ispkg}
