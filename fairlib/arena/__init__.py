"""The arena: fixed games on which policies of all four papers, and a reader's own, can be compared."""

from fairlib.arena import games, policies
from fairlib.arena.games import *
from fairlib.arena.policies import *

__all__ = [*games.__all__, *policies.__all__]
