"""The arena: fixed games on which policies of all four papers, and a reader's own, can be compared.

`v1` is the suite of version 1, `entrants` the policies that play it, for `fairlib.compare`. Its modules: `games`, the
suite and its numbers; `policies`, the entrants.
"""

from fairlib.arena import games, policies
from fairlib.arena.games import *
from fairlib.arena.policies import *

__all__ = [*games.__all__, *policies.__all__]
