"""What came after the four papers, in short: chaining, floors, several plays, groups, and Nash regret."""

from fairlib.after import policies, theory
from fairlib.after.policies import *
from fairlib.after.theory import *

__all__ = [*policies.__all__, *theory.__all__]
