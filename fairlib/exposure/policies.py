"""FairX-UCB, FairX-TS and FairX-EG on arms."""

import math
from typing import Any

from fairlib.checks import NonNegative, PositiveScale, UnitInterval, checked
from fairlib.core import Policy, explore, rule, try_each_once
from fairlib.core.arms import BetaShape
from fairlib.merit import (
    Box,
    Merit,
    best_in_box,
    cut,
    exponential_value,
    fair_policy,
    play_by_merit,
)

__all__ = [
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

    Plays in proportion to the merit of the most favourable means in the box
    :math:`\hat\mu_a \pm w_0 / \sqrt{N_a}`, cut to the merit's range.

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
def fairx_ts_rule(a0, b0, merit, seen, rng, p):
    """Play by the merit of means drawn from their Beta posteriors."""
    for a in range(p.size):
        p[a] = rng.beta(a0 + seen.total[a], b0 + seen.observed[a] - seen.total[a])  # line 1
    play_by_merit(merit, p, 1, p)  # line 2


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
    return Policy("FairX-TS", fairx_ts_rule, a0=a, b0=b, merit=merit)


@rule
def fairx_ts_gaussian_rule(prior, noise, merit, seen, rng, p):
    """Play by the merit of means drawn from their normal posteriors."""
    for a in range(p.size):  # prior and noise are precisions, one over a variance
        precision = prior + noise * seen.observed[a]
        mean = noise * seen.total[a] / precision
        p[a] = cut(rng.normal(mean, math.sqrt(1.0 / precision)), merit)  # line 1
    play_by_merit(merit, p, 1, p)  # line 2


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
def fairx_eg_rule(epsilon, merit, seen, p):
    """Play by the merit of the means so far, or with probability epsilon any arm."""
    if try_each_once(seen, p):
        return
    for a in range(p.size):
        p[a] = cut(seen.total[a] / seen.observed[a], merit)
    play_by_merit(merit, p, 1, p)
    explore(epsilon, p)


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
