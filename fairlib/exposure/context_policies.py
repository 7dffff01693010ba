"""Upper merit, FairX-LinUCB, FairX-LinTS and FairX-LinEG, where every arm comes with a vector."""

import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.baselines.linear import posterior_draw
from fairlib.checks import NonNegative, PositiveScale, UnitInterval, checked
from fairlib.core import ContextPolicy, Ridge, dot, explore, helper, rule, share_out, width
from fairlib.core.ridge import posterior_settings
from fairlib.merit import Box, Merit, MeritFunctions, best_in_box, cut, largest_merit, play_by_merit

__all__ = [
    "upper_merit_linear_rule",
    "upper_merit_linear",
    "fairx_linucb_rule",
    "fairx_linucb",
    "fairx_lints_rule",
    "fairx_lints",
    "fairx_lineg_rule",
    "fairx_lineg",
    "most_favourable",
    "fairx_linucb_search_rule",
    "fairx_linucb_gradient_rule",
    "fairx_linucb_search",
]


@rule
def upper_merit_linear_rule(radius, merit, now, ridge, p):
    """Play in proportion to the largest merit in each interval that the ellipsoid leaves."""
    v = np.empty(ridge.mean.size)
    for a in range(p.size):
        centre = dot(ridge.mean, now.contexts[a])  # lines 1 and 2
        reach = radius * width(ridge.root, now.contexts[a], v)
        p[a] = largest_merit(merit, centre - reach, centre + reach)  # line 3
    share_out(p, 1)  # line 4


@checked
def upper_merit_linear(merit: Merit, radius: NonNegative, ridge: PositiveScale = 1.0) -> ContextPolicy:
    r"""Upper merit with contexts: by the largest merit in :math:`\hat\mu \cdot x_a \pm \sqrt\beta \lVert x_a \rVert`.

    Not from the papers. The norm is that of :math:`\Sigma^{-1}`, as in `fairx_linucb`, which takes the same intervals.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    radius : float
        The radius :math:`\sqrt\beta`, at least 0, the same in each round; see `linucb_radius`.
    ridge : float
        The regularizer :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a number is out of range.

    See Also
    --------
    upper_merit_linear_fairness_bound : what is proved of its fairness regret.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.core import sphere
    >>> from fairlib.exposure import ContextExposureBandit
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2, -1, 1))
    >>> bool(fl.simulate(game, upper_merit_linear(game.merit, radius=0.5), 5000).fairness_regret[0, -1] < 400)
    True
    """
    return ContextPolicy("upper merit, linear", upper_merit_linear_rule, ridge=ridge, radius=radius, merit=merit)


@rule
def fairx_linucb_rule(radius, merit, now, ridge, box: Box, p):
    """Play by the merit of the most favourable means in the box around the ellipsoid."""
    v = np.empty(ridge.mean.size)
    for a in range(p.size):
        centre = dot(ridge.mean, now.contexts[a])  # lines 1 and 2
        reach = radius * width(ridge.root, now.contexts[a], v)  # line 3: what the ellipsoid leaves to each
        box.low[a], box.high[a] = cut(centre - reach, merit), cut(centre + reach, merit)
    best_in_box(merit, box)  # line 4
    play_by_merit(merit, box.mu, 1, p)  # line 5


@checked
def fairx_linucb(merit: Merit, radius: NonNegative, ridge: PositiveScale = 1.0) -> ContextPolicy:
    r"""FairX-LinUCB (Algorithm 3), with the optimistic step solved exactly on the box around the ellipsoid.

    Line 7 asks for the most favourable parameter in the ellipsoid :math:`\lVert\mu - \hat\mu\rVert_\Sigma \le
    \sqrt\beta`. This policy gives every arm the whole interval :math:`\hat\mu \cdot x_a \pm \sqrt\beta \lVert x_a
    \rVert_{\Sigma^{-1}}` that the ellipsoid leaves it, whatever the others take. The proofs of Theorems 4.2.1 and
    4.2.2 use no more than that, and on a box the step is exact.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    radius : float
        The radius :math:`\sqrt\beta`, at least 0, the same in each round; see `linucb_radius`.
    ridge : float
        The regularizer :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a number is out of range.

    See Also
    --------
    fairx_linucb_fairness_bound, fairx_linucb_reward_bound : what is proved of its regrets.
    fairx_linucb_search : the same with the ellipsoid itself.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.core import sphere
    >>> from fairlib.exposure import ContextExposureBandit
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2, -1, 1))
    >>> bool(fl.simulate(game, fairx_linucb(game.merit, radius=0.5), 5000).reward_regret[0, -1] < 0)
    True
    """
    return ContextPolicy("FairX-LinUCB", fairx_linucb_rule, ridge=ridge, radius=radius, merit=merit)


@rule
def fairx_lints_rule(sd, merit, now, ridge, rng, p):
    """Play by the merit of means under a parameter drawn from its normal posterior."""
    mu = np.empty(ridge.mean.size)
    posterior_draw(ridge, sd, rng, mu)
    for a in range(p.size):
        p[a] = cut(dot(mu, now.contexts[a]), merit)
    play_by_merit(merit, p, 1, p)


@checked
def fairx_lints(merit: Merit, prior_sd: PositiveScale = 1.0, reward_sd: PositiveScale = 1.0) -> ContextPolicy:
    r"""FairX-LinTS (Algorithm 4): play by the merit of means under a parameter drawn from its normal posterior.

    A drawn mean outside the merit's range has the merit of the nearer end. So the merit is defined for all of
    :math:`\mathbb R`, bounded from below and Lipschitz there, as Theorem 4.3.1 needs (erratum E-F15).

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    prior_sd : float
        Standard deviation of each coordinate of the parameter before the first round, above 0.
    reward_sd : float
        Standard deviation of a reward, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a standard deviation is not a number from 1e-75 to 1e75.

    See Also
    --------
    fairx_lints_fairness_bound, fairx_lints_reward_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.core import sphere
    >>> from fairlib.exposure import ContextExposureBandit
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2, -1, 1))
    >>> bool(fl.simulate(game, fairx_lints(game.merit), 5000).fairness_regret[0, -1] < 400)
    True
    """
    ridge, sd = posterior_settings(prior_sd, reward_sd)
    return ContextPolicy("FairX-LinTS", fairx_lints_rule, ridge=ridge, sd=sd, merit=merit)


@rule
def fairx_lineg_rule(epsilon, merit, now, ridge, p):
    """Play by the merit of the means that the ridge regression estimates, or with probability epsilon any arm."""
    for a in range(p.size):
        p[a] = cut(dot(ridge.mean, now.contexts[a]), merit)
    play_by_merit(merit, p, 1, p)
    explore(epsilon, p)


@checked
def fairx_lineg(merit: Merit, epsilon: UnitInterval, ridge: PositiveScale = 1.0) -> ContextPolicy:
    r"""FairX-LinEG: play by the merit of the means that the ridge regression estimates, and sometimes any arm at all.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    epsilon : float
        Share of the rounds spent on exploring, in [0, 1].
    ridge : float
        The regularizer :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a number is out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.core import sphere
    >>> from fairlib.exposure import ContextExposureBandit
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2, -1, 1))
    >>> bool(fl.simulate(game, fairx_lineg(game.merit, 0.01), 5000).fairness_regret[0, -1] < 400)
    True
    """
    return ContextPolicy("FairX-LinEG", fairx_lineg_rule, ridge=ridge, epsilon=epsilon, merit=merit)


@helper
def _earned(merit: MeritFunctions, contexts: Any, mu: Any, slope: Any) -> float:
    """Return what the fair policy of a parameter earns, and find its gradient."""
    z, push, weight, total = np.empty(len(contexts)), np.empty(len(contexts)), 0.0, 0.0
    for a in range(z.size):
        z[a] = dot(mu, contexts[a])
        push[a] = merit.value(merit.params, cut(z[a], merit))
        weight += push[a]
        total += push[a] * z[a]
    h = 1e-6 * (merit.high - merit.low)
    for i in range(mu.size):
        slope[i] = 0.0
    for a in range(z.size):  # a larger mean pays more, and shifts exposure to its arm
        if merit.low <= z[a] <= merit.high:
            rise = merit.value(merit.params, cut(z[a] + h, merit)) - merit.value(merit.params, cut(z[a] - h, merit))
            push[a] += rise / (2.0 * h) * (z[a] - total / weight)
        for i in range(mu.size):
            slope[i] += push[a] / weight * contexts[a, i]
    return total / weight


@helper
def _ten_steps(merit: MeritFunctions, contexts: Any, ridge: Ridge, radius: float, mu: Any) -> None:
    """Find where ten steps of 0.01 along the gradient lead from the centre, each pulled back into the ellipsoid."""
    d = mu.size
    slope, v, lower = np.empty(d), np.empty(d), np.empty((d, d))
    for i in range(d):  # lower is a root as the ridge's is, but triangular, so that v can be found line by line
        mu[i] = ridge.mean[i]
        for j in range(i + 1):
            rest = dot(ridge.root[i], ridge.root[j])
            for k in range(j):
                rest -= lower[i, k] * lower[j, k]
            lower[i, j] = rest / lower[j, j] if j < i else math.sqrt(max(rest, 1e-300))
    for _ in range(10):
        _earned(merit, contexts, mu, slope)
        for i in range(d):
            mu[i] += 0.01 * slope[i]
            rest = mu[i] - ridge.mean[i]
            for j in range(i):
                rest -= lower[i, j] * v[j]
            v[i] = rest / lower[i, i]
        length = math.sqrt(dot(v, v))  # the norm of mu - mean, as Sigma measures it
        if length > radius:
            for i in range(d):
                mu[i] = ridge.mean[i] + radius / length * (mu[i] - ridge.mean[i])


@helper(forceinline=False)
def _in_ellipsoid(
    merit: MeritFunctions, contexts: Any, ridge: Ridge, radius: float, u: Any, mu: Any, slope: Any
) -> float:
    """Return the earnings at v = 2u / (1 + u.u), and find the parameter and the gradient with respect to u."""
    shrink = 2.0 / (1.0 + dot(u, u))
    for i in range(u.size):
        mu[i] = ridge.mean[i] + radius * shrink * dot(ridge.root[i], u)
    up = np.empty(u.size)
    value = _earned(merit, contexts, mu, up)
    width(ridge.root, up, slope)  # the gradient with respect to v, without the factor of the radius
    outward = shrink * dot(slope, u)
    for i in range(u.size):
        slope[i] = radius * shrink * (slope[i] - outward * u[i])
    return value


@helper(forceinline=False)
def _climb(merit: MeritFunctions, contexts: Any, ridge: Ridge, radius: float, u: Any) -> float:
    """Climb from u to a local maximum of what is earned, by the quasi-Newton method BFGS; return how high it is."""
    d, scale = u.size, 1.0
    mu, slope, step, there = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    other, turn, turned = np.empty(d), np.empty(d), np.empty(d)
    inverse = np.zeros((d, d))  # the inverse of the curvature, taken to be 1 all around until more is known
    for i in range(d):
        inverse[i, i] = 1.0
    best = _in_ellipsoid(merit, contexts, ridge, radius, u, mu, slope)
    for _ in range(300):
        for i in range(d):
            step[i] = scale * dot(inverse[i], slope)
            there[i] = u[i] + step[i]
        if not dot(step, slope) > 1e-10 * (merit.high - merit.low):  # it can gain next to nothing
            break
        value = _in_ellipsoid(merit, contexts, ridge, radius, there, mu, other)
        if not value > best:  # the step was too long
            scale *= 0.5
            continue
        for i in range(d):
            turn[i] = slope[i] - other[i]
            u[i], slope[i] = there[i], other[i]
        best, bend = value, dot(step, turn)
        scale = 1.0 if bend > 0.0 else 2.0 * scale
        if bend > 0.0:  # it has met curvature, which the next step allows for
            for i in range(d):
                turned[i] = dot(inverse[i], turn)
            along = (1.0 + dot(turn, turned) / bend) / bend
            for i in range(d):
                for j in range(d):
                    inverse[i, j] += along * step[i] * step[j] - (turned[i] * step[j] + step[i] * turned[j]) / bend
    return best


@helper
def _best_in_ellipsoid(merit: MeritFunctions, contexts: Any, ridge: Ridge, radius: float, mu: Any) -> None:
    """Find the highest point that is reached from the centre, or from the point that is best for some arm."""
    u, slope = np.zeros(mu.size), np.empty(mu.size)
    best = _climb(merit, contexts, ridge, radius, u)
    _in_ellipsoid(merit, contexts, ridge, radius, u, mu, slope)
    for a in range(len(contexts)):
        length = width(ridge.root, contexts[a], u)
        for i in range(u.size):  # just short of the edge, on which nothing would pull u inwards
            u[i] *= 0.9 / max(length, 1e-300)
        value = _climb(merit, contexts, ridge, radius, u)
        if value > best:
            best = _in_ellipsoid(merit, contexts, ridge, radius, u, mu, slope)


@rule
def fairx_linucb_search_rule(radius, merit, now, ridge, p):
    """Play by the merit of the best parameter that a search of the ellipsoid finds."""
    mu = np.empty(ridge.mean.size)
    _best_in_ellipsoid(merit, now.contexts, ridge, radius, mu)  # line 4
    for a in range(p.size):
        p[a] = cut(dot(mu, now.contexts[a]), merit)
    play_by_merit(merit, p, 1, p)  # line 5


@rule
def fairx_linucb_gradient_rule(radius, merit, now, ridge, p):
    """Play by the merit of the parameter to which the paper's ten steps lead."""
    mu = np.empty(ridge.mean.size)
    _ten_steps(merit, now.contexts, ridge, radius, mu)  # line 4
    for a in range(p.size):
        p[a] = cut(dot(mu, now.contexts[a]), merit)
    play_by_merit(merit, p, 1, p)  # line 5


Method = Annotated[str, checks.Choice(("search", "gradient"))]


@checked
def most_favourable(
    merit: Merit,
    contexts: Annotated[ArrayLike, checks.Table(2)],
    ridge: Annotated[Ridge, checks.Instance(Ridge, "a Ridge, such as Ridge(np.zeros(2), np.eye(2))")],
    radius: NonNegative,
    method: Method = "search",
) -> NDArray[np.float64]:
    r"""Look for the parameter in the ellipsoid under which the fair policy earns most (Algorithm 3, line 7 as printed).

    The problem has several local maxima and no known exact solution in more than a few dimensions, so this finds a
    lower bound; the exact step on the box of `fairx_linucb` gives an upper one.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    contexts : array_like, shape (K, d)
        The contexts of the round.
    ridge : Ridge
        The ridge regression: the ellipsoid is :math:`\hat\mu + \sqrt\beta\,\mathrm{root}\,v` with
        :math:`\lVert v \rVert \le 1`.
    radius : float
        The radius :math:`\sqrt\beta`, at least 0.
    method : str
        ``"search"``: climb to a local maximum from the centre and from the point that is best for each arm, by the
        quasi-Newton method BFGS, and take the highest. ``"gradient"``: the paper's recipe (Section 5.1), ten steps of
        0.01 along the gradient from the centre, each pulled back into the ellipsoid.

    Returns
    -------
    ndarray, shape (d,)
        The parameter.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> from fairlib.merit import exponential
    >>> ridge = Ridge(np.zeros(2), np.eye(2))
    >>> most_favourable(exponential(2, -1, 1), [[1.0, 0.0], [0.0, 0.8]], ridge, 0.5).round(2)
    array([0.5 , 0.04])
    """
    x = np.asarray(contexts, np.float64)
    if np.shape(ridge.mean) != (x.shape[1],) or np.shape(ridge.root) != (x.shape[1], x.shape[1]):
        raise ValueError(f"ridge must be of {x.shape[1]} dimensions, as contexts are, not {checks.shown(ridge)}")
    mu = np.empty(x.shape[1])
    (_best_in_ellipsoid if method == "search" else _ten_steps)(merit.functions, x, ridge, radius, mu)
    return mu


@checked
def fairx_linucb_search(
    merit: Merit, radius: NonNegative, ridge: PositiveScale = 1.0, method: Method = "search"
) -> ContextPolicy:
    """FairX-LinUCB (Algorithm 3) with the ellipsoid itself, instead of the box around it, for comparison.

    Line 7 asks for the best parameter of the ellipsoid. It can't be found exactly: this policy plays by the best one
    that a search finds, or by the one at which the paper's ten steps end.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    radius : float
        The radius of the ellipsoid, at least 0, the same in each round.
    ridge : float
        The regularizer, above 0.
    method : str
        How line 7 is attempted: ``"search"`` or, as the paper has it, ``"gradient"``; see `most_favourable`.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, a number is out of range or the method unknown.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.core import sphere
    >>> from fairlib.exposure import ContextExposureBandit
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2, -1, 1))
    >>> policy = fairx_linucb_search(game.merit, radius=0.5, method="gradient")
    >>> bool(fl.simulate(game, policy, 100).fairness_regret[0, -1] < 100)
    True
    """
    rule, name = {
        "search": (fairx_linucb_search_rule, "FairX-LinUCB, ellipsoid"),
        "gradient": (fairx_linucb_gradient_rule, "FairX-LinUCB, gradient"),
    }[method]
    return ContextPolicy(name, rule, ridge=ridge, radius=radius, merit=merit)
