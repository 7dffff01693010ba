"""Many arms at once and feedback late: delay laws, fair semi-bandits, rounding, and what is proved of four policies.

The package of the chapters *Many at once, feedback late* and *When the delay tells*, after Chen, Cai, Chen, Zhang and
Lui (2024).
"""

from fairlib.delays import game, laws, policies, theory
from fairlib.delays.game import *
from fairlib.delays.laws import *
from fairlib.delays.policies import *
from fairlib.delays.theory import *

__all__ = [*laws.__all__, *game.__all__, *policies.__all__, *theory.__all__]
