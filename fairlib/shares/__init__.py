"""Guaranteed shares: FAIR-LEARN around any learner, FAIR-UCB, T-FAIR-UCB and LFG, larger promises, and what is proved.

The package of the chapter of that name, after Patil, Ghalme, Nair and Narahari (2021). Its doors: `game`, the bandit
and its result; `policies`; `theory`, the bounds.
"""

from fairlib.shares.game import SharedBandit, SharesResult, shares_metrics
from fairlib.shares.policies import (
    fair_by_deadline,
    fair_by_deadline_rule,
    fair_in_windows,
    fair_in_windows_rule,
    fair_learn,
    fair_learn_rule,
    fair_ucb,
    lfg,
    lfg_rule,
    t_fair_ucb,
    t_fair_ucb_rule,
)
from fairlib.shares.theory import fair_ucb_bound, fair_ucb_regret_bound, fair_ucb_worst_case_bound, t_fair_ucb_bound

__all__ = [
    "SharesResult",
    "SharedBandit",
    "shares_metrics",
    "fair_learn_rule",
    "fair_learn",
    "fair_ucb",
    "t_fair_ucb_rule",
    "t_fair_ucb",
    "lfg_rule",
    "lfg",
    "fair_by_deadline_rule",
    "fair_by_deadline",
    "fair_in_windows_rule",
    "fair_in_windows",
    "fair_ucb_bound",
    "fair_ucb_worst_case_bound",
    "fair_ucb_regret_bound",
    "t_fair_ucb_bound",
]
