"""Upper merit, FairX-UCB, FairX-TS and FairX-EG on arms."""

import math
from typing import Annotated, Any

from fairlib.checks import Horizon, NonNegative, PositiveInt, PositiveScale, Real, UnitInterval, checked
from fairlib.core import Policy, explore, helper, is_there, rule, share_out, take_first_turns, try_each_once
from fairlib.core.arms import BetaShape
from fairlib.merit import (
    Box,
    Merit,
    best_in_box,
    cut,
    exponential_value,
    fair_policy,
    largest_merit,
    play_by_merit,
)

__all__ = [
    "upper_merit_rule",
    "upper_merit",
    "upper_merit_kl_rule",
    "upper_merit_kl",
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
]


@rule
def upper_merit_rule(plays, sd, rounds, factor, merit, seen, p, available=None):
    """Play by the largest merit in each confidence interval, or that of its mean if the largest is not much more."""
    if take_first_turns(seen, plays, p, available):
        return
    for a in range(p.size):
        n, mean, width = seen.observed[a], 0.0, math.inf  # lines 1 and 2
        if n > 0:
            excess = math.log(plays * max(rounds, seen.t) / (p.size * n))
            mean, width = seen.total[a] / n, sd * math.sqrt(2.0 * max(excess, 0.0) / n)
        p[a] = largest_merit(merit, mean - width, mean + width)  # line 3
        if factor > 1.0 and n > 0:
            plain = largest_merit(merit, mean, mean)
            p[a] = plain if p[a] <= factor * plain else p[a]
    share_out(p, plays, available)  # line 4


@checked
def upper_merit(
    merit: Merit,
    sd: PositiveScale = 0.5,
    plays: PositiveInt = 1,
    horizon: Horizon | None = None,
    factor: Annotated[float, Real(1)] = 1.0,
) -> Policy:
    r"""Upper merit: play in proportion to the largest merit in each arm's confidence interval. Not from the papers.

    After N rewards of an arm, of mean :math:`\hat\mu`, its interval is :math:`\hat\mu \pm w` with

    .. math:: w = \sigma \sqrt{\frac{2}{N} \ln_+ \frac{mt}{KN}} , \qquad \ln_+ x = \max(\ln x, 0) ,

    each point moved to the nearest one of the merit's range. For a rising merit only its upper end matters.

    Upper merit *in doubt* has a factor above 1, best 2: it uses the largest merit only where that is more than twice
    the merit of the mean, and elsewhere the merit of the mean. Its bound is nearly the same, and in every single game
    it is the plug-in policy from some round on.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    sd : float
        A :math:`\sigma` such that the rewards are sub-Gaussian, above 0: 1/2 for rewards in [0, 1], the standard
        deviation for normal ones.
    plays : int
        Number of arms m that are played each round, at most the number of arms.
    horizon : int, optional
        Number of rounds T: it replaces t in the width. The policy refuses longer games.
    factor : float
        The factor :math:`\rho`, at least 1: the largest merit counts only where it is more than this many times the
        merit of the mean. At 1, it always counts.

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a number is out of range.

    See Also
    --------
    upper_merit_fairness_bound : what is proved of its fairness regret.
    upper_merit_kl : narrower intervals for arms of small mean.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.exposure import ExposureBandit
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.bernoulli([0.8, 0.4]), merit=exponential(2))
    >>> result = fl.simulate(game, upper_merit(game.merit, factor=2), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    rounds = 0 if horizon is None else horizon
    name = "upper merit in doubt" if factor > 1 else "upper merit"
    settings: dict[str, Any] = {"sd": sd, "rounds": rounds, "factor": factor, "merit": merit}
    return Policy(name, upper_merit_rule, plays=plays, horizon=horizon, **settings)


@helper
def _kl_upper(mean: float, level: float) -> float:
    r"""Return the largest x with :math:`\mathrm{kl}(\hat\mu, x) \le` `level`, from above."""
    mean = min(max(mean, 0.0), 1.0)
    if mean == 1.0:
        return 1.0
    # Newton's method. Above the mean, kl(mean, x) rises and is convex in x, so a step from a point above the end leads
    # to a lower point that is still above it. The first point is the smaller of two upper bounds: that of Pinsker's
    # inequality, and that which follows from mean ln(mean / x) >= mean ln(mean).
    entropy = (-mean * math.log(mean) if mean > 0.0 else 0.0) - (1.0 - mean) * math.log1p(-mean)
    x = min(mean + math.sqrt(0.5 * level), 1.0 - math.exp(-(level + entropy) / (1.0 - mean)))
    while mean < x < 1.0:
        excess = (1.0 - mean) * math.log1p((x - mean) / (1.0 - x)) - level
        excess -= mean * math.log1p((x - mean) / mean) if mean > 0.0 else 0.0
        lower = x - excess * x * (1.0 - x) / (x - mean)
        if not lower < x:  # up to rounding, x is the end
            break
        x = lower
    return max(x, mean)


@rule
def upper_merit_kl_rule(level, merit, seen, p, available=None):
    """Play in proportion to the largest merit in each interval of means that the rewards do not refute."""
    if take_first_turns(seen, 1, p, available):
        return
    for a in range(p.size):
        low, high = -math.inf, math.inf  # lines 1 and 2
        if seen.observed[a] > 0:
            mean, each = seen.total[a] / seen.observed[a], level / seen.observed[a]
            low, high = 1.0 - _kl_upper(1.0 - mean, each), _kl_upper(mean, each)
        p[a] = largest_merit(merit, low, high)  # line 3
    share_out(p, 1, available)  # line 4


@checked
def upper_merit_kl(merit: Merit, arms: PositiveInt, horizon: Horizon) -> Policy:
    r"""Upper merit with the intervals of Chernoff's inequality, for rewards in [0, 1]. Not from the papers.

    After N rewards the interval is :math:`\{x : N\, \mathrm{kl}(\hat\mu, x) \le \ln(4KT^2)\}`. Near 0 and 1 it is much
    narrower than that of `upper_merit`; so the policy can learn merit equal to the mean, where some arms deserve
    nothing.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    arms : int
        Number of arms K.
    horizon : int
        Number of rounds T. The policy refuses longer games.

    Returns
    -------
    Policy
        The policy, one play a round; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a number is out of range.

    See Also
    --------
    upper_merit_kl_fairness_bound : what is proved for merit equal to the mean.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.exposure import ExposureBandit
    >>> from fairlib.merit import clipped
    >>> game = ExposureBandit(fl.bernoulli([0.8, 0.4, 0.0]), merit=clipped(1e-9))
    >>> result = fl.simulate(game, upper_merit_kl(game.merit, 3, 20_000), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.05)
    True
    """
    settings: dict[str, Any] = {"level": math.log(4 * arms * horizon**2), "merit": merit}
    return Policy("upper merit, kl", upper_merit_kl_rule, unit_rewards=True, arms=arms, horizon=horizon, **settings)


@rule
def fairx_ucb_rule(width, merit, seen, box: Box, p):
    """Play by the merit of the most favourable means in the box."""
    if try_each_once(seen, p):
        return
    for a in range(p.size):
        mean, w = seen.total[a] / seen.observed[a], width / math.sqrt(seen.observed[a])  # line 1
        box.low[a], box.high[a] = cut(mean - w, merit), cut(mean + w, merit)  # line 2
    best_in_box(merit, box)  # line 3
    play_by_merit(merit, box.mu, 1, p)  # line 4


@checked
def fairx_ucb(merit: Merit, width: NonNegative) -> Policy:
    r"""FairX-UCB (Algorithm 1), with the optimistic step of line 7 solved exactly.

    It plays in proportion to the merit of the most favourable means in the box :math:`\hat\mu_a \pm w_0 / \sqrt{N_a}`,
    cut to the merit's range.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    width : float
        The factor :math:`w_0` of the confidence widths, at least 0; Theorems 3.2.1 and 3.2.2 take
        :math:`\sqrt{2 \ln(4TK/\delta)}` for rewards in [-1, 1].

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a number is out of range.

    See Also
    --------
    fairx_ucb_fairness_bound, fairx_ucb_reward_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.exposure import ExposureBandit
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.bernoulli([0.8, 0.4]), merit=exponential(2))
    >>> result = fl.simulate(game, fairx_ucb(game.merit, width=0.1), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    return Policy("FairX-UCB", fairx_ucb_rule, width=width, merit=merit)


@rule
def fairx_ucb_gradient_rule(width, merit, steepness, seen, box: Box, p):
    """FairX-UCB as the paper runs it, for exponential merit: line 3 by ten projected gradient steps of 0.01."""
    if try_each_once(seen, p):
        return
    for a in range(p.size):
        mean, w = seen.total[a] / seen.observed[a], width / math.sqrt(seen.observed[a])
        box.low[a], box.high[a] = cut(mean - w, merit), cut(mean + w, merit)
        box.mu[a] = cut(mean, merit)  # the paper does not say where it starts
    for _ in range(10):
        play_by_merit(merit, box.mu, 1, p)
        earned = 0.0
        for a in range(p.size):
            earned += p[a] * box.mu[a]
        for a in range(p.size):  # the slope of G at arm a is its probability times 1 + c (mu - G)
            up = box.mu[a] + 0.01 * p[a] * (1.0 + steepness * (box.mu[a] - earned))
            box.mu[a] = min(max(up, box.low[a]), box.high[a])
    play_by_merit(merit, box.mu, 1, p)


@checked
def fairx_ucb_gradient(merit: Merit, width: NonNegative) -> Policy:
    r"""FairX-UCB with the local solver of the paper's experiments, for comparison with the exact `fairx_ucb`.

    Line 7 is ten steps of projected gradient ascent from the centre of the box, with step size 0.01 (Section 5.1). They
    reach a maximum only by luck (erratum E-F4).

    Parameters
    ----------
    merit : Merit
        An exponential merit function, the paper's only kind.
    width : float
        The factor :math:`w_0` of the confidence widths, at least 0.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not an exponential `Merit`, or a number is out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.exposure import ExposureBandit
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.bernoulli([0.8, 0.4]), merit=exponential(2))
    >>> result = fl.simulate(game, fairx_ucb_gradient(game.merit, width=0.1), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    if merit.value is not exponential_value:
        raise ValueError(f"merit must be exponential, such as exponential(2), not {merit.name!r}")
    return Policy("FairX-UCB, gradient", fairx_ucb_gradient_rule, width=width, merit=merit, **merit.settings)


@rule
def fairx_ts_rule(a0, b0, merit, seen, rng, p, available=None):
    """Play by the merit of means drawn from their Beta posteriors."""
    for a in range(p.size):
        p[a] = rng.beta(a0 + seen.total[a], b0 + seen.observed[a] - seen.total[a])  # line 1
    play_by_merit(merit, p, 1, p, available)  # line 2


@checked
def fairx_ts(merit: Merit, a: BetaShape = 1.0, b: BetaShape = 1.0) -> Policy:
    """FairX-TS (Algorithm 2) for rewards 0 and 1: play by the merit of means drawn from their Beta posteriors.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves; its range must hold [0, 1].
    a, b : float
        Shapes of the prior, at least 0.02.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit` for means in [0, 1], or a shape is below 0.02.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.exposure import ExposureBandit
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.bernoulli([0.8, 0.4]), merit=exponential(2))
    >>> result = fl.simulate(game, fairx_ts(game.merit), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    fair_policy(merit, [0.0, 1.0])
    return Policy("FairX-TS", fairx_ts_rule, unit_rewards=True, a0=a, b0=b, merit=merit)


@rule
def fairx_ts_gaussian_rule(prior, noise, merit, seen, rng, p, available=None):
    """Play by the merit of means drawn from their normal posteriors."""
    for a in range(p.size):  # prior and noise are precisions, one over a variance
        precision = prior + noise * seen.observed[a]
        mean = noise * seen.total[a] / precision
        p[a] = cut(rng.normal(mean, math.sqrt(1.0 / precision)), merit)  # line 1
    play_by_merit(merit, p, 1, p, available)  # line 2


@checked
def fairx_ts_gaussian(merit: Merit, prior_sd: PositiveScale = 1.0, reward_sd: PositiveScale = 1.0) -> Policy:
    r"""FairX-TS (Algorithm 2) for normal rewards: play by the merit of means drawn from their normal posteriors.

    The prior of each mean is :math:`N(0, \sigma_0^2)`. A mean that is drawn outside the merit's range is cut to it: the
    policy plays by :math:`f(\mathrm{cut}(x))`, which has the minimum and the Lipschitz constant of f, and has them on
    all of :math:`\mathbb R`, as Theorem 3.3.1 asks (erratum E-F15).

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    prior_sd : float
        Standard deviation of the prior, above 0.
    reward_sd : float
        Standard deviation of a reward, above 0; Theorems 3.3.1 and 3.3.2 take 1 for both.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a standard deviation is not a number from 1e-75 to 1e75.

    See Also
    --------
    fairx_ts_fairness_bound, fairx_ts_reward_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.exposure import ExposureBandit
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.gaussian([0.8, 0.4]), merit=exponential(2))
    >>> result = fl.simulate(game, fairx_ts_gaussian(game.merit), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    precisions: dict[str, Any] = {"prior": prior_sd**-2, "noise": reward_sd**-2}
    return Policy("FairX-TS", fairx_ts_gaussian_rule, **precisions, merit=merit)


@rule
def fairx_eg_rule(epsilon, merit, seen, p, available=None):
    """Play by the merit of the means so far, or with probability epsilon any arm."""
    if try_each_once(seen, p, available):
        return
    for a in range(p.size):
        if is_there(a, available):
            p[a] = cut(seen.total[a] / seen.observed[a], merit)
    play_by_merit(merit, p, 1, p, available)
    explore(epsilon, p, available)


@checked
def fairx_eg(merit: Merit, epsilon: UnitInterval) -> Policy:
    """FairX-EG: play by the merit of the means so far, and with probability epsilon any arm at all.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    epsilon : float
        Share of the rounds spent on exploring, in [0, 1].

    Returns
    -------
    Policy
        The policy, one play a round; each arm once first.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or `epsilon` is not a number in [0, 1].

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.exposure import ExposureBandit
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.bernoulli([0.8, 0.4]), merit=exponential(2))
    >>> result = fl.simulate(game, fairx_eg(game.merit, 0), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    return Policy("FairX-EG", fairx_eg_rule, epsilon=epsilon, merit=merit)
