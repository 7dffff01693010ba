"""Exposure in proportion to merit: FairX-UCB, FairX-TS and FairX-EG on arms and in context, and what is proved of them.

The package of the chapters *Exposure by merit* and *Exposure in context*, after Wang, Bai, Sun and Joachims (2021). Its
modules: `game`, the bandits and their result; `policies`, on arms; `context_policies`, with linear models, where every
arm comes with a vector; `theory`, the widths and the bounds.
"""

from fairlib.exposure import context_policies, game, policies, theory
from fairlib.exposure.context_policies import *
from fairlib.exposure.game import *
from fairlib.exposure.policies import *
from fairlib.exposure.theory import *

__all__ = [*game.__all__, *policies.__all__, *context_policies.__all__, *theory.__all__]
