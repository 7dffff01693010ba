"""What came after the four papers, the shortest of it: chaining, floors, several plays, groups, and Nash regret.

The package of the chapter of that name. Its modules: `policies`, and `theory`, what follows without playing.
"""

from fairlib.after import policies, theory
from fairlib.after.policies import *
from fairlib.after.theory import *

__all__ = [*policies.__all__, *theory.__all__]
