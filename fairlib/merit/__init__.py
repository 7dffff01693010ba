"""Merit: what an arm of a given mean deserves, and the optimistic step of the policies that do not know the means."""

from fairlib.merit import functions, step
from fairlib.merit.functions import *
from fairlib.merit.step import *

__all__ = [*functions.__all__, *step.__all__]
