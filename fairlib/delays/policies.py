"""FCUCB-D and FCTS-D, OP-FCUCB-D and OP-FCTS-D, a policy with two boxes, and the paper's rivals."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from fairlib import checks
from fairlib.compilation import compiled, helper
from fairlib.delays.game import _cap
from fairlib.merit import STEP, VALUE, Merit, as_merit, optimistic_step, power_value
from fairlib.policy import Policy

# ---------------------------------------------------------------------------------------------------------------------
# From probabilities to a set of arms


@helper
def play_top(p: Any, plays: int) -> None:
    """Play the arms of the largest indices: turn the indices in `p` into probabilities.

    Parameters
    ----------
    p : ndarray, shape (K,)
        One index an arm, infinity allowed; afterwards 1 at the `plays` largest and 0 elsewhere.
    plays : int
        How many.

    Examples
    --------
    >>> p = np.array([0.3, 0.8, 2.5, 0.8])
    >>> play_top(p, 2)
    >>> p
    array([0., 1., 1., 0.])
    """
    for _ in range(plays):
        best = 0
        for a in range(1, p.size):
            if p[a] > p[best]:
                best = a
        p[best] = -math.inf
    for a in range(p.size):
        p[a] = 1.0 if p[a] == -math.inf else 0.0


@helper
def take_turns(t: int, plays: int, p: Any) -> bool:
    """Play each arm once, in the first K / L rounds, rounded up (the initial rounds of Algorithms 1 and 3).

    Parameters
    ----------
    t : int
        The round.
    plays : int
        Arms a round.
    p : ndarray, shape (K,)
        Receives the probabilities.

    Returns
    -------
    bool
        False if all have had their turn.

    Examples
    --------
    >>> p = np.zeros(4)
    >>> take_turns(2, 3, p), p
    (True, array([1., 1., 0., 1.]))
    """
    first = (t - 1) * plays
    if first >= p.size:
        return False
    for j in range(first, first + plays):
        p[j % p.size] = 1.0
    return True


def upper_ends(params, low, high, mu):
    """Take the upper end of every interval."""
    for a in range(mu.size):
        mu[a] = high[a]


def fair_step(merit: Merit) -> Any:
    r"""Return the optimistic step of a merit function, with no search where none is needed.

    For :math:`f(x) = 1 + A x^p` on [0, 1] with :math:`A \bigl(\frac{p-1}{p+1}\bigr)^{p-1} \le 1` the upper end of
    every interval is optimal, as :math:`f(x)(x - c)` grows with x whatever c (erratum E-D21).
    That is the case for every merit function of the paper's experiments.

    Parameters
    ----------
    merit : Merit
        The merit function.

    Returns
    -------
    callable
        ``step(params, low, high, mu)``, compiled.

    Raises
    ------
    TypeError
        If `merit` is not a `Merit`.

    Examples
    --------
    >>> from fairlib.merit import power
    >>> fair_step(power(2, 4)) is fair_step(power(3.5, 4)), fair_step(power(2, 4)) is fair_step(power(100, 4))
    (True, False)
    """
    if as_merit(merit).value is power_value:
        scale, p = np.asarray(merit.params)
        if scale * ((p - 1) / (p + 1)) ** (p - 1) <= 1:
            return compiled(upper_ends, STEP)
    return optimistic_step(merit)


# ---------------------------------------------------------------------------------------------------------------------
# Delays that do not depend on the reward


@lru_cache(maxsize=64)
def fcucb_d_rule(value: Callable[..., float], step: Callable[..., None]) -> Callable[..., None]:
    """Return the rule of FCUCB-D for a merit function and its optimistic step (Algorithm 1)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        plays, merit = int(params[0]), params[3:]
        k = p.size
        if take_turns(t, plays, p):
            return
        low, high, mu = state[:k], state[k : 2 * k], state[2 * k :]
        width = params[1] + params[2] * math.log(t)
        for a in range(k):
            m = max(observed[a], 1)  # line 3
            mean, c = total[a] / m, math.sqrt(width / m)  # line 4
            high[a] = min(mean + c, 1.0)  # line 5
            low[a] = max(mean - c, 0.0)  # line 6
        step(merit, low, high, mu)  # lines 8 and 9
        whole = 0.0
        for a in range(k):  # line 10
            p[a] = value(merit, mu[a])
            whole += p[a]
        for a in range(k):
            p[a] *= plays / whole

    return rule


def fcucb_d(merit: Merit, arms: int, plays: int, radius: tuple[float, float] | None = None) -> Policy:
    r"""FCUCB-D (Algorithm 1), with the optimistic step of line 9 solved exactly.

    Plays in proportion to the merit of the most favourable means in the box :math:`\hat\mu_a \pm c_{t,a}`. Here
    :math:`\hat\mu_a` is the mean of the M rewards that have arrived, and
    :math:`c_{t,a} = \sqrt{\ln(4LKt) / (M \vee 1)}`.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    radius : tuple of two floats, optional
        Numbers :math:`(a, b)` for another radius, :math:`\sqrt{(a + b \ln t) / (M \vee 1)}`; by default
        :math:`(\ln 4LK, 1)`, as in Theorem 6.

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    See Also
    --------
    fcucb_d_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, fixed
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=fixed([20] * 4), merit=power(2, 4))
    >>> result = fl.simulate(game, fcucb_d(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    number, chosen = _size(merit, arms, plays)
    params = [chosen, *_radius(radius, math.log(4 * chosen * number), 1.0), *np.asarray(merit.params)]
    rule = fcucb_d_rule(compiled(merit.value, VALUE), fair_step(merit))
    return Policy("FCUCB-D", rule, params, plays=chosen, memory=3 * number, arms=number)


@lru_cache(maxsize=64)
def fcts_d_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of FCTS-D for a merit function (Algorithm 2)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        plays, merit = params[0], params[1:]
        whole = 0.0
        for a in range(p.size):  # lines 3 and 4
            p[a] = value(merit, rng.beta(1.0 + total[a], 1.0 + observed[a] - total[a]))
            whole += p[a]
        for a in range(p.size):
            p[a] *= plays / whole

    return rule


def fcts_d(merit: Merit, arms: int, plays: int) -> Policy:
    """FCTS-D (Algorithm 2) for rewards 0 and 1: play by the merit of means drawn from their posteriors.

    The prior is uniform, and the posterior counts the rewards that have arrived.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    See Also
    --------
    fcts_d_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, fixed
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=fixed([20] * 4), merit=power(2, 4))
    >>> result = fl.simulate(game, fcts_d(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    number, chosen = _size(merit, arms, plays)
    params = [chosen, *np.asarray(merit.params)]
    return Policy("FCTS-D", fcts_d_rule(compiled(merit.value, VALUE)), params, plays=chosen, arms=number)


# ---------------------------------------------------------------------------------------------------------------------
# Delays that may depend on the reward


@lru_cache(maxsize=64)
def op_fcucb_d_rule(value: Callable[..., float], step: Callable[..., None]) -> Callable[..., None]:
    """Return the rule of OP-FCUCB-D for a merit function and its optimistic step (Algorithm 3)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        plays, merit = int(params[0]), params[3:]
        k = p.size
        if take_turns(t, plays, p):
            return
        low, high, mu = state[:k], state[k : 2 * k], state[2 * k :]
        width = params[1] + params[2] * math.log(t)
        for a in range(k):
            n, missing = selected[a], selected[a] - observed[a]  # lines 3 and 4
            c = math.sqrt(width / n)
            high[a] = min((missing + total[a]) / n + c, 1.0)  # lines 5 and 7
            low[a] = max(total[a] / n - c, 0.0)  # lines 6 and 8
        step(merit, low, high, mu)  # lines 10 and 11
        whole = 0.0
        for a in range(k):  # line 12
            p[a] = value(merit, mu[a])
            whole += p[a]
        for a in range(k):
            p[a] *= plays / whole

    return rule


def op_fcucb_d(merit: Merit, arms: int, plays: int, radius: tuple[float, float] | None = None) -> Policy:
    r"""OP-FCUCB-D (Algorithm 3): missing rewards count as 1 in the upper bound and as 0 in the lower one.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    radius : tuple of two floats, optional
        Numbers :math:`(a, b)` for another radius, :math:`\sqrt{(a + b \ln t) / N}`; by default
        :math:`(\ln 6LK, 1)`. (Theorem 8 prints :math:`\ln(6LK/T)`, which is negative: erratum E-D12.)

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    See Also
    --------
    op_fcucb_d_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, biased
    >>> from fairlib.merit import power
    >>> late = biased([200, 0, 0, 0], [0, 200, 200, 200])
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=late, merit=power(2, 4))
    >>> result = fl.simulate(game, op_fcucb_d(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.03)
    True
    """
    number, chosen = _size(merit, arms, plays)
    params = [chosen, *_radius(radius, math.log(6 * chosen * number), 1.0), *np.asarray(merit.params)]
    rule = op_fcucb_d_rule(compiled(merit.value, VALUE), fair_step(merit))
    return Policy("OP-FCUCB-D", rule, params, plays=chosen, memory=3 * number, arms=number)


@lru_cache(maxsize=64)
def op_fcts_d_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of OP-FCTS-D for a merit function (Algorithm 4)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        plays, merit = params[0], params[1:]
        whole = 0.0
        for a in range(p.size):
            missing = selected[a] - observed[a]
            ones, zeros = 1.0 + total[a], 1.0 + observed[a] - total[a]
            most = rng.beta(ones + missing, zeros)  # line 3
            least = rng.beta(ones, zeros + missing)  # line 4
            p[a] = value(merit, 0.5 * (most + least))  # line 5
            whole += p[a]
        for a in range(p.size):
            p[a] *= plays / whole

    return rule


def op_fcts_d(merit: Merit, arms: int, plays: int) -> Policy:
    """OP-FCTS-D (Algorithm 4): the average of two draws, one with missing rewards as 1, one with them as 0.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    See Also
    --------
    op_fcts_d_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, biased
    >>> from fairlib.merit import power
    >>> late = biased([200, 0, 0, 0], [0, 200, 200, 200])
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=late, merit=power(2, 4))
    >>> result = fl.simulate(game, op_fcts_d(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.03)
    True
    """
    number, chosen = _size(merit, arms, plays)
    params = [chosen, *np.asarray(merit.params)]
    return Policy("OP-FCTS-D", op_fcts_d_rule(compiled(merit.value, VALUE)), params, plays=chosen, arms=number)


@lru_cache(maxsize=64)
def two_box_rule(value: Callable[..., float], step: Callable[..., None]) -> Callable[..., None]:
    """Return the rule of the two-box policy for a merit function and its optimistic step."""

    def rule(params, state, t, selected, observed, total, rng, p):
        plays, narrow, safe, merit = int(params[0]), params[1], params[2], params[3:]
        k = p.size
        if take_turns(t, plays, p):
            return
        # The safe box and the narrow one, each as what its ends have moved inwards from 0 and from 1.
        bottom, roof = state[:k], state[k : 2 * k]
        floor, top = state[2 * k : 3 * k], state[3 * k : 4 * k]
        low, high, mu = state[4 * k : 5 * k], state[5 * k : 6 * k], state[6 * k : 7 * k]
        for a in range(k):
            n, m = selected[a], max(observed[a], 1)
            c, mean, w = math.sqrt(safe / n), total[a] / m, math.sqrt(narrow / m)
            bottom[a] = max(bottom[a], total[a] / n - c)
            roof[a] = max(roof[a], 1.0 - (n - observed[a] + total[a]) / n - c)
            floor[a] = max(floor[a], mean - w)
            top[a] = max(top[a], 1.0 - mean - w)
            if max(floor[a], bottom[a]) > 1.0 - max(top[a], roof[a]):
                state[7 * k] = 1.0  # refuted: these delays depend on the rewards
        for a in range(k):
            low[a], high[a] = bottom[a], 1.0 - roof[a]
            if state[7 * k] == 0.0:
                low[a], high[a] = max(floor[a], bottom[a]), 1.0 - max(top[a], roof[a])
            elif low[a] > high[a]:  # happens only if a bound has failed
                low[a] = high[a]
        step(merit, low, high, mu)
        whole = 0.0
        for a in range(k):
            p[a] = value(merit, mu[a])
            whole += p[a]
        for a in range(k):
            p[a] *= plays / whole

    return rule


def two_box(merit: Merit, arms: int, plays: int, horizon: int) -> Policy:
    r"""Two-box: one policy for delays of either kind, which it need not be told. Ours, not the paper's.

    The safe box is OP-FCUCB-D's, the narrow box FCUCB-D's, each the intersection of those of all rounds so far. While
    they meet, the policy is optimistic in what they share; once they do not, the delays must depend on the rewards,
    and it keeps to the safe box.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    horizon : int
        Number of rounds T, in the radii :math:`\sqrt{\ln(4LKT)/M}` and :math:`\sqrt{\ln(6LKT)/N}`.

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, biased
    >>> from fairlib.merit import power
    >>> late = biased([200, 0, 0, 0], [0, 200, 200, 200])
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=late, merit=power(2, 4))
    >>> result = fl.simulate(game, two_box(game.merit, 4, 2, 50_000), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.03)
    True
    """
    number, chosen = _size(merit, arms, plays)
    product = chosen * number * checks.whole("horizon", horizon, 1)
    params = [chosen, math.log(4 * product), math.log(6 * product), *np.asarray(merit.params)]
    rule = two_box_rule(compiled(merit.value, VALUE), fair_step(merit))
    return Policy("Two-box", rule, params, plays=chosen, memory=7 * number + 1, arms=number)


# ---------------------------------------------------------------------------------------------------------------------
# The paper's rivals


def cucb_d_rule(params, state, t, selected, observed, total, rng, p):
    """Play the arms of the largest upper bounds on what has arrived."""
    plays = int(params[0])
    if take_turns(t, plays, p):
        return
    width = params[1] + params[2] * math.log(t)
    for a in range(p.size):
        each = 1.0 / max(observed[a], 1)  # divide once: that is a twentieth of the round
        p[a] = total[a] * each + math.sqrt(width * each)
    play_top(p, plays)


def cucb_d(arms: int, plays: int, radius: tuple[float, float] = (0.0, 1.5)) -> Policy:
    r"""CUCB-D: the arms of the largest upper bounds, with no thought of fairness (after Chen, Wang and Yuan, 2013).

    Parameters
    ----------
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    radius : tuple of two floats
        Numbers :math:`(a, b)` of the radius :math:`\sqrt{(a + b \ln t) / (M \vee 1)}`; by default CUCB's own, with
        b = 3/2. The paper does not say which it took, its public code takes b = L + 1.

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.8, 0.1]), plays=2)
    >>> bool(fl.simulate(game, cucb_d(3, 2), 5000).share[0, -1, 2] < 0.05)
    True
    """
    number = checks.whole("arms", arms, 1)
    chosen = checks.whole("plays", plays, 1, number)
    return Policy("CUCB-D", cucb_d_rule, [chosen, *_radius(radius, 0.0, 1.5)], plays=chosen, arms=number)


def mp_ts_d_rule(params, state, t, selected, observed, total, rng, p):
    """Play the arms whose draws from the posterior are the largest."""
    for a in range(p.size):
        p[a] = rng.beta(1.0 + total[a], 1.0 + observed[a] - total[a])
    play_top(p, int(params[0]))


def mp_ts_d(arms: int, plays: int) -> Policy:
    """MP-TS-D: the arms of the largest posterior draws (after Komiyama, Honda and Nakagawa, 2015).

    Parameters
    ----------
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.

    Returns
    -------
    Policy
        The policy, for rewards 0 and 1.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.8, 0.1]), plays=2)
    >>> bool(fl.simulate(game, mp_ts_d(3, 2), 5000).share[0, -1, 2] < 0.05)
    True
    """
    number = checks.whole("arms", arms, 1)
    chosen = checks.whole("plays", plays, 1, number)
    return Policy("MP-TS-D", mp_ts_d_rule, [chosen], plays=chosen, arms=number)


@lru_cache(maxsize=64)
def fgreedy_d_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of FGreedy-D for a merit function."""

    def rule(params, state, t, selected, observed, total, rng, p):
        plays, epsilon, merit = params[0], params[1], params[2:]
        explore = rng.random() < epsilon
        whole = 0.0
        for a in range(p.size):
            p[a] = 1.0 if explore else value(merit, total[a] / max(observed[a], 1))
            whole += p[a]
        for a in range(p.size):
            p[a] *= plays / whole

    return rule


def fgreedy_d(merit: Merit, arms: int, plays: int, epsilon: float) -> Policy:
    """FGreedy-D: in some rounds any arms at all, in the others by the merit of the means so far.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    epsilon : float
        Probability that a round explores, in [0, 1]. The paper does not say; its public code takes 0.13.

    Returns
    -------
    Policy
        The policy. The coin that decides on exploring is tossed before the round, and the regrets count what it says.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> result = fl.simulate(game, fgreedy_d(game.merit, 4, 2, 0.0), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    number, chosen = _size(merit, arms, plays)
    params = [chosen, checks.real("epsilon", epsilon, 0, 1), *np.asarray(merit.params)]
    return Policy("FGreedy-D", fgreedy_d_rule(compiled(merit.value, VALUE)), params, plays=chosen, arms=number)


def _size(merit: Merit, arms: int, plays: int) -> tuple[int, int]:
    """Take the numbers of arms and of plays, for a merit on [0, 1] that fits them."""
    number = checks.whole("arms", arms, 1)
    chosen = checks.whole("plays", plays, 1, number)
    if as_merit(merit).low > 0 or merit.high < 1:
        raise ValueError(f"merit must be for means in [0, 1], not in [{merit.low:g}, {merit.high:g}]")
    _cap(merit, number, chosen)
    return number, chosen


def _radius(radius: tuple[float, float] | None, flat: float, slope: float) -> tuple[float, float]:
    a, b = (flat, slope) if radius is None else radius
    return checks.real("radius[0]", a, 0, math.inf), checks.real("radius[1]", b, 0, math.inf)
