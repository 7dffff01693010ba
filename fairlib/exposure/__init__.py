"""Exposure in proportion to merit: FairX-UCB, FairX-TS and FairX-EG on arms and in context, and what is proved of them.

The package of the chapters *Exposure by merit* and *Exposure in context*, after Wang, Bai, Sun and Joachims (2021). Its
doors: `game`, the bandits and their result; `policies`, on arms; `context_policies`, with linear models, where every
arm comes with a vector; `theory`, the widths and the bounds.
"""

from fairlib.exposure.context_policies import (
    fairx_lineg,
    fairx_lineg_rule,
    fairx_lints,
    fairx_lints_rule,
    fairx_linucb,
    fairx_linucb_rule,
    fairx_linucb_search,
    most_favourable,
)
from fairlib.exposure.game import (
    ContextExposureBandit,
    ExposureBandit,
    ExposureResult,
    context_exposure_metrics,
    exposure_metrics,
    games_of_low_merit,
    games_of_steep_merit,
)
from fairlib.exposure.policies import (
    fairx_eg,
    fairx_eg_rule,
    fairx_ts,
    fairx_ts_gaussian,
    fairx_ts_gaussian_rule,
    fairx_ts_rule,
    fairx_ucb,
    fairx_ucb_gradient,
    fairx_ucb_gradient_rule,
    fairx_ucb_rule,
)
from fairlib.exposure.theory import (
    fairness_lower_bound,
    fairx_lints_fairness_bound,
    fairx_lints_reward_bound,
    fairx_linucb_fairness_bound,
    fairx_linucb_reward_bound,
    fairx_ts_fairness_bound,
    fairx_ts_reward_bound,
    fairx_ucb_fairness_bound,
    fairx_ucb_log_bound,
    fairx_ucb_reward_bound,
    fairx_ucb_width,
    linucb_radius,
    total_width,
)

__all__ = [
    "ExposureResult",
    "ExposureBandit",
    "games_of_low_merit",
    "games_of_steep_merit",
    "fairness_lower_bound",
    "fairx_ucb_rule",
    "fairx_ucb",
    "fairx_ucb_gradient_rule",
    "fairx_ucb_gradient",
    "fairx_ts_rule",
    "fairx_ts",
    "fairx_ts_gaussian_rule",
    "fairx_ts_gaussian",
    "fairx_eg_rule",
    "fairx_eg",
    "fairx_ucb_width",
    "fairx_ucb_fairness_bound",
    "fairx_ucb_reward_bound",
    "fairx_ucb_log_bound",
    "fairx_ts_fairness_bound",
    "fairx_ts_reward_bound",
    "ContextExposureBandit",
    "exposure_metrics",
    "context_exposure_metrics",
    "fairx_linucb_rule",
    "fairx_linucb",
    "fairx_lints_rule",
    "fairx_lints",
    "fairx_lineg_rule",
    "fairx_lineg",
    "most_favourable",
    "fairx_linucb_search",
    "linucb_radius",
    "total_width",
    "fairx_linucb_fairness_bound",
    "fairx_linucb_reward_bound",
    "fairx_lints_fairness_bound",
    "fairx_lints_reward_bound",
]
