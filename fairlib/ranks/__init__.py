"""The best of their own group: relative ranks, group meritocratic fairness and Fair-Greedy (Grazzi et al., 2022).

The package of the chapters *Best of their group* and *A pool of candidates*.
"""

from fairlib.ranks import distributions, game, policies, theory, worlds
from fairlib.ranks.distributions import *
from fairlib.ranks.game import *
from fairlib.ranks.policies import *
from fairlib.ranks.theory import *
from fairlib.ranks.worlds import *

__all__ = [*distributions.__all__, *game.__all__, *worlds.__all__, *policies.__all__, *theory.__all__]
