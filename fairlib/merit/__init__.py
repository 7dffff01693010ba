"""Merit: what an arm of a given mean deserves, and the optimistic step of the policies that do not know the means.

Its doors: `functions`, merit functions and the fair policy that they define; `step`, the most favourable means in a
box.
"""

from fairlib.merit.functions import (
    BEST,
    SOLVE,
    VALUE,
    Merit,
    as_merit,
    clipped,
    clipped_best,
    clipped_value,
    cut,
    exponential,
    exponential_best,
    exponential_value,
    fair_policy,
    optimistic_means,
    play_by_merit,
    power,
    power_best,
    power_value,
)
from fairlib.merit.step import Box, MeritFunctions, best_in_box, dinkelbach, exponential_in_box, search_best, upper_ends

__all__ = [
    "VALUE",
    "BEST",
    "SOLVE",
    "Merit",
    "exponential_value",
    "exponential_best",
    "exponential",
    "power_value",
    "power_best",
    "power",
    "clipped_value",
    "clipped_best",
    "clipped",
    "fair_policy",
    "as_merit",
    "cut",
    "play_by_merit",
    "MeritFunctions",
    "Box",
    "best_in_box",
    "exponential_in_box",
    "upper_ends",
    "dinkelbach",
    "search_best",
    "optimistic_means",
]
