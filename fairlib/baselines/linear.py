"""Policies with contexts that promise no fairness: LinUCB, OFUL, linear Thompson sampling, greedy play and chance."""

import math
from typing import Any

import numpy as np

from fairlib.checks import NonNegative, OpenProbability, PositiveScale, checked
from fairlib.core import ContextPolicy, Number, Ridge, any_of_the_best, dot, helper, largest, rule, width
from fairlib.core.ridge import posterior_settings

__all__ = [
    "posterior_draw",
    "linucb_rule",
    "linucb",
    "oful_rule",
    "oful",
    "lints_rule",
    "lints",
    "at_random_rule",
    "at_random",
    "greedy_rule",
    "greedy",
]


@helper
def posterior_draw(ridge: Ridge, sd: float, rng: Any, mu: Any) -> None:
    r"""Draw a parameter from its normal posterior.

    The posterior is :math:`\mathcal N(\hat\mu, \sigma^2 \Sigma^{-1})`.

    Parameters
    ----------
    ridge : Ridge
        The ridge regression, with regularizer :math:`\lambda = \sigma^2 / \sigma_0^2` for a prior of standard deviation
        :math:`\sigma_0`.
    sd : float
        Standard deviation :math:`\sigma` of a reward.
    rng : numpy.random.Generator
        The stream of random numbers.
    mu : ndarray, shape (d,)
        Receives the parameter.

    Examples
    --------
    >>> mu = np.empty(2)
    >>> posterior_draw(Ridge(np.array([1.0, 2.0]), np.zeros((2, 2))), 1.0, np.random.default_rng(0), mu)
    >>> mu
    array([1., 2.])
    """
    z = np.empty(mu.size)
    for i in range(mu.size):
        z[i] = sd * rng.standard_normal()
    for i in range(mu.size):
        mu[i] = ridge.mean[i] + dot(ridge.root[i], z)


@rule
def linucb_rule(radius, now, ridge, p):
    """Play the arm whose mean could be largest."""
    v = np.empty(ridge.mean.size)
    for a in range(p.size):
        p[a] = dot(ridge.mean, now.contexts[a]) + radius * width(ridge.root, now.contexts[a], v)
    return largest(p)


@checked
def linucb(radius: NonNegative, ridge: PositiveScale = 1.0) -> ContextPolicy:
    r"""LinUCB: play the arm with the largest :math:`\hat\mu \cdot x_a + \sqrt\beta \lVert x_a \rVert_{\Sigma^{-1}}`.

    Parameters
    ----------
    radius : float
        The radius :math:`\sqrt\beta`, at least 0, the same in each round.
    ridge : float
        The regularizer :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.core import sphere
    >>> game = fl.ContextBandit(sphere(3, [0.6, 0.8]))
    >>> bool(fl.simulate(game, linucb(radius=1.0), 5000).regret[0, -1] < 200)
    True
    """
    return ContextPolicy("LinUCB", linucb_rule, ridge=ridge, radius=radius)


@rule
def oful_rule(noise, reach, log_failure, now, ridge, log_det: Number, p):
    """Play as LinUCB, with the radius that the data so far call for."""
    v, w = np.empty(ridge.mean.size), np.empty(p.size)
    radius = noise * math.sqrt(log_det[0] - 2.0 * log_failure) + reach  # log_det is ln det(Sigma / lambda)
    for a in range(p.size):
        w[a] = width(ridge.root, now.contexts[a], v)
        p[a] = dot(ridge.mean, now.contexts[a]) + radius * w[a]
    arm = largest(p)
    log_det[0] += math.log(1.0 + w[arm] * w[arm])  # each play multiplies the determinant by 1 + w^2
    return arm


@checked
def oful(noise: NonNegative, norm: NonNegative, failure: OpenProbability, ridge: PositiveScale = 1.0) -> ContextPolicy:
    r"""OFUL (Abbasi-Yadkori, Pál and Szepesvári, 2011): LinUCB with a radius that follows the data.

    .. math:: \sqrt{\beta_t} = \sigma \sqrt{\ln\frac{\det \Sigma_t}{\det \Sigma_1} + 2\ln\frac1\delta} + \sqrt\lambda\,W

    Parameters
    ----------
    noise : float
        The noise is :math:`\sigma`-sub-Gaussian; at least 0.
    norm : float
        Bound W on the length of the parameter, at least 0.
    failure : float
        The probability :math:`\delta` that the ellipsoid ever misses the parameter, in (0, 1).
    ridge : float
        The regularizer :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.core import sphere
    >>> game = fl.ContextBandit(sphere(3, [0.6, 0.8]))
    >>> bool(fl.simulate(game, oful(noise=1, norm=1, failure=0.1), 5000).regret[0, -1] < 300)
    True
    """
    settings: dict[str, Any] = {"reach": norm * math.sqrt(ridge), "log_failure": math.log(failure)}
    return ContextPolicy("OFUL", oful_rule, ridge=ridge, noise=noise, **settings)


@rule
def lints_rule(sd, now, ridge, rng, p):
    """Play the arm that is best under a parameter drawn from the posterior."""
    mu = np.empty(ridge.mean.size)
    posterior_draw(ridge, sd, rng, mu)
    for a in range(p.size):
        p[a] = dot(mu, now.contexts[a])
    return largest(p)


@checked
def lints(prior_sd: PositiveScale = 1.0, reward_sd: PositiveScale = 1.0) -> ContextPolicy:
    """Linear Thompson sampling: play the arm that is best under a parameter drawn from its normal posterior.

    Parameters
    ----------
    prior_sd : float
        Standard deviation of each coordinate of the parameter before the first round, above 0.
    reward_sd : float
        Standard deviation of a reward, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.core import sphere
    >>> game = fl.ContextBandit(sphere(3, [0.6, 0.8]))
    >>> bool(fl.simulate(game, lints(), 5000).regret[0, -1] < 200)
    True
    """
    ridge, sd = posterior_settings(prior_sd, reward_sd)
    return ContextPolicy("LinTS", lints_rule, ridge=ridge, sd=sd)


@rule
def at_random_rule(p):
    """Choose any candidate."""
    for a in range(p.size):
        p[a] = 1.0 / p.size


def at_random() -> ContextPolicy:
    r"""Choose any candidate; if they are independent, the fairness regret is :math:`T(K-1)/(2(K+1))` on average.

    Returns
    -------
    ContextPolicy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> fl.simulate(section_6(), at_random(), 8).selected[0, -1].sum()
    np.int64(8)
    """
    return ContextPolicy("uniform", at_random_rule)


@rule
def greedy_rule(now, ridge, p):
    """Choose the largest estimated reward."""
    for a in range(p.size):
        p[a] = dot(ridge.mean, now.contexts[a])
    any_of_the_best(p)


@checked
def greedy(ridge: PositiveScale = 0.1) -> ContextPolicy:
    r"""Greedy: the candidate with the largest reward that the ridge regression on all rounds so far estimates.

    Parameters
    ----------
    ridge : float
        The regularizer :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> bool(fl.simulate(section_6(), greedy(), 500, runs=20).fairness_regret[:, -1].mean() > 40)
    True
    """
    return ContextPolicy("Greedy", greedy_rule, ridge=ridge)
