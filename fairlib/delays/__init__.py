"""Many arms at once and feedback late: delay laws, fair semi-bandits, rounding, and what is proved of four policies.

The package of the chapters *Many at once, feedback late* and *When the delay tells*, after Chen, Cai, Chen, Zhang and
Lui (2024). A learner sees, per arm, how often it was played, how many of those rewards have arrived, and their sum. Its
modules: `laws`, of the delay; `game`, the bandit and its result; `policies`, with the rounding of probabilities;
`theory`, the bounds.
"""

from fairlib.delays import game, laws, policies, theory
from fairlib.delays.game import *
from fairlib.delays.laws import *
from fairlib.delays.policies import *
from fairlib.delays.theory import *

__all__ = [*laws.__all__, *game.__all__, *policies.__all__, *theory.__all__]
