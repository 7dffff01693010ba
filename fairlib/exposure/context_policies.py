"""FairX-LinUCB, FairX-LinTS and FairX-LinEG, where every arm comes with a vector."""

from functools import partial
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.baselines.linear import posterior_draw
from fairlib.checks import NonNegative, PositiveScale, UnitInterval, checked
from fairlib.core import ContextPolicy, Ridge, dot, explore, posterior_settings, rule, width
from fairlib.merit import Box, Merit, best_in_box, cut, play_by_merit

__all__ = [
    "fairx_linucb_rule",
    "fairx_linucb",
    "fairx_lints_rule",
    "fairx_lints",
    "fairx_lineg_rule",
    "fairx_lineg",
    "most_favourable",
    "fairx_linucb_search",
]


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
    """Play by the merit of the means as the ridge regression has them, or with probability epsilon any arm."""
    for a in range(p.size):
        p[a] = cut(dot(ridge.mean, now.contexts[a]), merit)
    play_by_merit(merit, p, 1, p)
    explore(epsilon, p)


@checked
def fairx_lineg(merit: Merit, epsilon: UnitInterval, ridge: PositiveScale = 1.0) -> ContextPolicy:
    r"""FairX-LinEG: play by the merit of the means as the ridge regression has them, and sometimes any arm at all.

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

    The problem has several local maxima and no known exact solution in more than a few dimensions, so that this finds a
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
        ``"search"``: SciPy's SLSQP from the centre and from the point that is best for each arm. ``"gradient"``: the
        paper's recipe, ten steps of 0.01 along the gradient from the centre, each pulled back into the ellipsoid.

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
    from scipy.optimize import minimize  # only here: SciPy is slow to import, and the package must not be

    x = np.asarray(contexts)
    if np.shape(ridge.mean) != (x.shape[1],) or np.shape(ridge.root) != (x.shape[1], x.shape[1]):
        raise ValueError(f"ridge must be of {x.shape[1]} dimensions, as contexts are, not {checks.shown(ridge)}")
    f, mean, shape = merit, ridge.mean, radius * ridge.root

    def earned(mu: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return what the fair policy of a parameter earns, and the gradient."""
        z = x @ mu
        inside = np.clip(z, f.low, f.high)
        h = 1e-6 * (f.high - f.low)
        merits, slopes = f(inside), (f(np.minimum(inside + h, f.high)) - f(np.maximum(inside - h, f.low))) / (2 * h)
        value = merits @ z / merits.sum()
        return value, ((merits + slopes * (z - value) * (z == inside)) / merits.sum()) @ x

    if method == "gradient":
        mu = mean.copy()
        for _ in range(10):
            mu = mu + 0.01 * earned(mu)[1]
            v = np.linalg.solve(shape, mu - mean) if radius > 0 else np.zeros(mean.size)
            mu = mean + shape @ (v / max(1.0, float(np.linalg.norm(v))))
        return mu

    def loss(v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = earned(mean + shape @ v)
        return -value, -slope @ shape

    ball = {"type": "ineq", "fun": lambda v: 1.0 - v @ v, "jac": lambda v: -2.0 * v}
    starts = [
        np.zeros(mean.size),
        *((shape.T @ each) / max(float(np.linalg.norm(shape.T @ each)), 1e-300) for each in x),
    ]
    found = [minimize(loss, v, jac=True, method="SLSQP", constraints=ball).x for v in starts]
    inside = [v / max(1.0, float(np.linalg.norm(v))) for v in found]
    return mean + shape @ min(inside, key=lambda v: loss(v)[0])


def _by_ellipsoid(merit, method, radius, now, ridge, p):
    """FairX-LinUCB on the ellipsoid: play by the merit of its most favourable point."""
    means = now.contexts @ most_favourable(merit, now.contexts, ridge, radius, method)
    p[:] = merit(np.clip(means, merit.low, merit.high))
    p /= p.sum()


@checked
def fairx_linucb_search(
    merit: Merit, radius: NonNegative, ridge: PositiveScale = 1.0, method: Method = "search"
) -> ContextPolicy:
    """FairX-LinUCB with the ellipsoid itself in place of the box around it, for comparison; hundreds of times slower.

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
        The policy; it is interpreted.

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
    name = {"search": "FairX-LinUCB, ellipsoid", "gradient": "FairX-LinUCB, gradient"}[method]
    return ContextPolicy(name, partial(_by_ellipsoid, merit, method), ridge=ridge, interpret=True, radius=radius)
