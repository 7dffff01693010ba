"""Classic bandit policies: uniform play, epsilon-greedy, UCB1 and Thompson sampling, and what is proved of UCB1."""

import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from fairlib import checks
from fairlib.checks import Horizons, PositiveInt, PositiveScale, UnitInterval, checked
from fairlib.core import Bandit, Policy, count_there, is_there, largest, rule
from fairlib.core.arms import BetaShape, check_no_delay, mean_gaps


@rule
def uniform_rule(plays, p, available=None):
    """Play every arm that is there with the same probability."""
    there = count_there(available, p)
    for a in range(p.size):
        p[a] = plays / there if is_there(a, available) else 0.0


@checked
def uniform(plays: PositiveInt = 1) -> Policy:
    """Uniform play: every arm with the same probability, whatever has been seen.

    Parameters
    ----------
    plays : int
        Arms played each round.

    Returns
    -------
    Policy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> result = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), uniform(), 1000, runs=50)
    >>> bool(abs(result.share[:, -1, 0].mean() - 0.5) < 0.01)
    True
    """
    return Policy("uniform", uniform_rule, plays=plays)


@rule
def epsilon_greedy_rule(epsilon, seen, p, available=None):
    """Play the arm that has paid best, or with probability epsilon any arm."""
    for a in range(p.size):
        p[a] = seen.total[a] / seen.observed[a] if seen.observed[a] > 0 else math.inf
    best, there = largest(p, available), count_there(available, p)
    for a in range(p.size):
        p[a] = epsilon / there if is_there(a, available) else 0.0
    p[best] += 1.0 - epsilon


@checked
def epsilon_greedy(epsilon: UnitInterval) -> Policy:
    """Epsilon-greedy: the arm that has paid best so far, and with probability epsilon any arm at all.

    Parameters
    ----------
    epsilon : float
        Share of the rounds spent on exploring, in [0, 1].

    Returns
    -------
    Policy
        The policy, one play a round.

    Examples
    --------
    >>> import fairlib as fl
    >>> result = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), epsilon_greedy(0.1), 1000, runs=50)
    >>> bool(result.share[:, -1, 1].mean() > 0.05)
    True
    """
    return Policy("epsilon-greedy", epsilon_greedy_rule, epsilon=epsilon)


@rule
def ucb1_rule(seen, p, available=None):
    """Play the arm of the largest upper confidence bound, untried arms first."""
    width = 2.0 * math.log(seen.t)
    for a in range(p.size):
        n = seen.observed[a]
        p[a] = seen.total[a] / n + math.sqrt(width / n) if n > 0 else math.inf
    return largest(p, available)


def ucb1() -> Policy:
    r"""UCB1 of Auer, Cesa-Bianchi and Fischer (2002): optimism about rewards in [0, 1].

    It plays the arm with the largest :math:`\hat\mu_a + \sqrt{2 \ln t / N_a}`. An arm that has not been tried has an
    infinite index (the appendix of Patil et al. prints 0: erratum E-P4). Ties go to the first arm.

    Returns
    -------
    Policy
        The policy, one play a round.

    See Also
    --------
    ucb1_bound, ucb1_worst_case_bound : what is proved of its regret.

    Examples
    --------
    >>> import fairlib as fl
    >>> result = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), ucb1(), 1000)
    >>> int(result.selected[0, -1].sum())
    1000
    """
    return Policy("UCB1", ucb1_rule, unit_rewards=True)


@rule
def thompson_beta_rule(a0, b0, seen, rng, p, available=None):
    """Draw each mean from its Beta posterior; play the arm of the largest."""
    for a in range(p.size):
        p[a] = rng.beta(a0 + seen.total[a], b0 + seen.observed[a] - seen.total[a])
    return largest(p, available)


@checked
def thompson_beta(a: BetaShape = 1.0, b: BetaShape = 1.0) -> Policy:
    """Thompson sampling for rewards 0 and 1, with a Beta prior on each mean.

    Rewards between 0 and 1 are allowed and counted as that fraction of a success.

    Parameters
    ----------
    a, b : float
        Shapes of the prior, at least 0.02; 1 and 1 is the uniform prior.

    Returns
    -------
    Policy
        The policy, one play a round.

    Examples
    --------
    >>> import fairlib as fl
    >>> result = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), thompson_beta(), 1000)
    >>> bool(result.share[0, -1, 0] > 0.9)
    True
    """
    return Policy("Thompson sampling", thompson_beta_rule, unit_rewards=True, a0=a, b0=b)


@rule
def thompson_gaussian_rule(mean, prior, noise, seen, rng, p, available=None):
    """Draw each mean from its normal posterior; play the arm of the largest."""
    for a in range(p.size):  # prior and noise are precisions, one over a variance
        precision = prior + noise * seen.observed[a]
        centre = (prior * mean + noise * seen.total[a]) / precision
        p[a] = rng.normal(centre, math.sqrt(1.0 / precision))
    return largest(p, available)


@checked
def thompson_gaussian(
    mean: Annotated[float, checks.Real()] = 0.0, sd: PositiveScale = 1.0, reward_sd: PositiveScale = 1.0
) -> Policy:
    """Thompson sampling for normal rewards of known spread, with a normal prior on each mean.

    Parameters
    ----------
    mean, sd : float
        Mean and standard deviation of the prior; `sd` above 0.
    reward_sd : float
        Standard deviation of a reward, above 0.

    Returns
    -------
    Policy
        The policy, one play a round.

    Examples
    --------
    >>> import fairlib as fl
    >>> result = fl.simulate(fl.Bandit(fl.gaussian([1.0, 0.0])), thompson_gaussian(), 1000)
    >>> bool(result.share[0, -1, 0] > 0.9)
    True
    """
    precisions: dict[str, Any] = {"prior": sd**-2, "noise": reward_sd**-2}
    return Policy("Thompson sampling (normal)", thompson_gaussian_rule, mean=mean, **precisions)


@checked
def ucb1_bound(game: Bandit, horizon: Horizons) -> NDArray[np.float64]:
    r"""Bound on UCB1's expected regret when the gaps are known (Patil et al., Theorem 6).

    .. math:: \sum_{a: \Delta_a > 0} \frac{8 \ln T}{\Delta_a} + \Bigl(1 + \frac{\pi^2}{3}\Bigr) \sum_a \Delta_a

    Parameters
    ----------
    game : Bandit
        The game, with rewards in [0, 1], one play a round and no delay.
    horizon : int or array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Examples
    --------
    >>> import fairlib as fl
    >>> ucb1_bound(fl.Bandit(fl.bernoulli([0.9, 0.5])), 1000).round(1)
    np.float64(139.9)
    """
    check_no_delay(game)
    if game.plays != 1:
        raise ValueError(f"game must have one play a round, as UCB1 has, not {game.plays}")
    gaps, rounds = mean_gaps(game), np.asarray(horizon, np.float64)
    return np.log(rounds) * (8 / gaps[gaps > 0]).sum() + (1 + np.pi**2 / 3) * gaps.sum()


@checked
def ucb1_worst_case_bound(arms: PositiveInt, horizon: Horizons) -> NDArray[np.float64]:
    r"""Bound on UCB1's expected regret whatever the means (Patil et al., Theorem 7, repaired as in erratum E-P13b).

    .. math:: 2 \sqrt{2 K T \ln T} + \zeta(3) K

    Parameters
    ----------
    arms : int
        Number of arms K.
    horizon : int or array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Examples
    --------
    >>> ucb1_worst_case_bound(2, 1000).round(1)
    np.float64(334.9)
    """
    from scipy.special import zeta  # here, so that a session that only plays need not wait for SciPy

    rounds = np.asarray(horizon, np.float64)
    bound: NDArray[np.float64] = 2 * np.sqrt(2 * arms * rounds * np.log(rounds)) + zeta(3) * arms
    return bound
