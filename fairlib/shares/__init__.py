"""Guaranteed shares: FAIR-LEARN around any learner, FAIR-UCB, T-FAIR-UCB and LFG, larger promises, and what is proved.

The package of the chapter of that name, after Patil, Ghalme, Nair and Narahari (2021).
"""

from fairlib.shares import game, policies, theory
from fairlib.shares.game import *
from fairlib.shares.policies import *
from fairlib.shares.theory import *

__all__ = [*game.__all__, *policies.__all__, *theory.__all__]
