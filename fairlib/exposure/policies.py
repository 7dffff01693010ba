"""FairX-UCB, FairX-TS and FairX-EG on arms."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from fairlib import checks
from fairlib.compilation import compiled
from fairlib.merit import VALUE, Merit, as_merit, exponential_value, fair_policy, optimistic_step
from fairlib.policy import Policy


@lru_cache(maxsize=64)
def fairx_ucb_rule(value: Callable[..., float], step: Callable[..., None]) -> Callable[..., None]:
    """Return the rule of FairX-UCB for a merit function and its optimistic step (Algorithm 1)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        width, least, most, merit = params[0], params[1], params[2], params[3:]
        k = p.size
        low, high, mu = state[:k], state[k : 2 * k], state[2 * k :]
        for a in range(k):
            n = observed[a]
            if n == 0:  # each arm once first: erratum E-F3
                p[:] = 0.0
                p[a] = 1.0
                return
            mean, w = total[a] / n, width / math.sqrt(n)  # lines 4 and 5
            low[a] = min(max(mean - w, least), most)  # line 6
            high[a] = min(max(mean + w, least), most)
        step(merit, low, high, mu)  # line 7
        whole = 0.0
        for a in range(k):  # line 8
            p[a] = value(merit, mu[a])
            whole += p[a]
        for a in range(k):
            p[a] /= whole

    return rule


def fairx_ucb(merit: Merit, arms: int, width: float) -> Policy:
    r"""FairX-UCB (Algorithm 1), with the optimistic step of line 7 solved exactly.

    Plays in proportion to the merit of the most favourable means in the box
    :math:`\hat\mu_a \pm w_0 / \sqrt{N_a}`, cut to the merit's range.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    arms : int
        Number of arms K.
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
    >>> result = fl.simulate(game, fairx_ucb(game.merit, 2, width=0.1), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    step = optimistic_step(merit)
    checks.whole("arms", arms, 1)
    params = [checks.real("width", width, 0, math.inf), merit.low, merit.high, *np.asarray(merit.params)]
    rule = fairx_ucb_rule(compiled(merit.value, VALUE), step)
    return Policy("FairX-UCB", rule, params, memory=3 * arms, arms=arms)


def fairx_ucb_gradient_rule(params, state, t, selected, observed, total, rng, p):
    """FairX-UCB as the paper runs it, for exponential merit: line 7 by ten projected gradient steps of 0.01."""
    width, least, most, c = params[0], params[1], params[2], params[3]
    k = p.size
    low, high, mu = state[:k], state[k : 2 * k], state[2 * k :]
    for a in range(k):
        n = observed[a]
        if n == 0:
            p[:] = 0.0
            p[a] = 1.0
            return
        mean, w = total[a] / n, width / math.sqrt(n)
        low[a] = min(max(mean - w, least), most)
        high[a] = min(max(mean + w, least), most)
        mu[a] = min(max(mean, least), most)  # the paper does not say where it starts
    for step in range(11):
        whole, earned = 0.0, 0.0
        for a in range(k):
            p[a] = math.exp(c * mu[a])
            whole += p[a]
            earned += p[a] * mu[a]
        for a in range(k):
            p[a] /= whole
            if step < 10:  # the slope of G at arm a is its probability times 1 + c (mu - G)
                mu[a] += 0.01 * p[a] * (1.0 + c * (mu[a] - earned / whole))
                mu[a] = min(max(mu[a], low[a]), high[a])


def fairx_ucb_gradient(merit: Merit, arms: int, width: float) -> Policy:
    r"""FairX-UCB with the local solver of the paper's experiments, for comparison with the exact `fairx_ucb`.

    Line 7 is ten steps of projected gradient ascent from the centre of the box, with step size 0.01 (Section 5.1). They
    reach a maximum only by luck (erratum E-F4).

    Parameters
    ----------
    merit : Merit
        An exponential merit function, the paper's only kind.
    arms : int
        Number of arms K.
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
    >>> result = fl.simulate(game, fairx_ucb_gradient(game.merit, 2, width=0.1), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    if as_merit(merit).value is not exponential_value:
        raise ValueError(f"merit must be exponential, such as exponential(2), not {merit.name!r}")
    checks.whole("arms", arms, 1)
    params = [checks.real("width", width, 0, math.inf), merit.low, merit.high, *np.asarray(merit.params)]
    return Policy("FairX-UCB, gradient", fairx_ucb_gradient_rule, params, memory=3 * arms, arms=arms)


@lru_cache(maxsize=64)
def fairx_ts_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of FairX-TS for a merit function, with Beta posteriors (Algorithm 2)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        a0, b0, merit = params[0], params[1], params[2:]
        whole = 0.0
        for a in range(p.size):  # lines 3 and 4
            p[a] = value(merit, rng.beta(a0 + total[a], b0 + observed[a] - total[a]))
            whole += p[a]
        for a in range(p.size):
            p[a] /= whole

    return rule


def fairx_ts(merit: Merit, a: float = 1.0, b: float = 1.0) -> Policy:
    """FairX-TS (Algorithm 2) for rewards 0 and 1: play by the merit of means drawn from their Beta posteriors.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves; its range must hold [0, 1].
    a, b : float
        Shapes of the prior, above 0.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit` for means in [0, 1], or a shape is not positive.

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
    shapes = [checks.real("a", a, above=0), checks.real("b", b, above=0)]
    fair_policy(as_merit(merit), [0.0, 1.0])
    return Policy("FairX-TS", fairx_ts_rule(compiled(merit.value, VALUE)), [*shapes, *np.asarray(merit.params)])


@lru_cache(maxsize=64)
def fairx_ts_gaussian_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of FairX-TS for a merit function, with normal posteriors (Algorithm 2)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        prior, noise = params[0], params[1]  # precisions, one over a variance
        least, most, merit = params[2], params[3], params[4:]
        whole = 0.0
        for a in range(p.size):
            precision = prior + noise * observed[a]
            mean = noise * total[a] / precision
            drawn = rng.normal(mean, math.sqrt(1.0 / precision))  # line 3
            p[a] = value(merit, min(max(drawn, least), most))  # line 4
            whole += p[a]
        for a in range(p.size):
            p[a] /= whole

    return rule


def fairx_ts_gaussian(merit: Merit, prior_sd: float = 1.0, reward_sd: float = 1.0) -> Policy:
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
        If `merit` is not a `Merit`, or a standard deviation is not positive.

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
    precisions = [checks.real("prior_sd", prior_sd, above=0) ** -2, checks.real("reward_sd", reward_sd, above=0) ** -2]
    params = [*precisions, as_merit(merit).low, merit.high, *np.asarray(merit.params)]
    return Policy("FairX-TS", fairx_ts_gaussian_rule(compiled(merit.value, VALUE)), params)


@lru_cache(maxsize=64)
def fairx_eg_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of FairX-EG for a merit function."""

    def rule(params, state, t, selected, observed, total, rng, p):
        epsilon, least, most, merit = params[0], params[1], params[2], params[3:]
        whole = 0.0
        for a in range(p.size):
            if observed[a] == 0:
                p[:] = 0.0
                p[a] = 1.0
                return
            mean = min(max(total[a] / observed[a], least), most)
            p[a] = value(merit, mean)
            whole += p[a]
        for a in range(p.size):
            p[a] = (1.0 - epsilon) * p[a] / whole + epsilon / p.size

    return rule


def fairx_eg(merit: Merit, epsilon: float) -> Policy:
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
    as_merit(merit)
    params = [checks.real("epsilon", epsilon, 0, 1), merit.low, merit.high, *np.asarray(merit.params)]
    return Policy("FairX-EG", fairx_eg_rule(compiled(merit.value, VALUE)), params)
