"""What came after the four papers, the shortest of it: chaining, floors, several plays, groups, and Nash regret.

The package of the chapter of that name. Its doors: `policies`, and `theory`, what follows without playing.
"""

from fairlib.after.policies import (
    batched_thompson,
    batched_thompson_rule,
    chaining,
    chaining_rule,
    chances,
    clipped_floor,
    clipped_floor_rule,
    fair_groups,
    fair_groups_rule,
    fair_learn_plays,
    fair_learn_plays_rule,
    mixed_floor,
    mixed_floor_rule,
    ncb,
    ncb_rule,
    projected_floor,
    projected_floor_rule,
    scaled_floor,
    scaled_floor_rule,
)
from fairlib.after.theory import calibrated_shares, guard_rounds

__all__ = [
    "chaining_rule",
    "chaining",
    "batched_thompson_rule",
    "batched_thompson",
    "chances",
    "clipped_floor_rule",
    "clipped_floor",
    "mixed_floor_rule",
    "mixed_floor",
    "scaled_floor_rule",
    "scaled_floor",
    "projected_floor_rule",
    "projected_floor",
    "fair_learn_plays_rule",
    "fair_learn_plays",
    "fair_groups_rule",
    "fair_groups",
    "ncb_rule",
    "ncb",
    "guard_rounds",
    "calibrated_shares",
]
