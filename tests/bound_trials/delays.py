"""Trials of the bounds on several plays with late feedback."""

from collections.abc import Callable
from typing import Any

import numpy as np

import fairlib as fl
from bound_trials.cases import FAIRNESS, REWARD, Case, Line, case, chance, in_words, means, played
from bound_trials.exposure import farthest, over_a_prior, worst_believer
from fairlib import delays as de
from fairlib.merit import exponential, power


def late(i: int, informative: bool) -> tuple[int, int, Any]:
    """Return the number of arms and of plays, and the delay."""
    k, plays = ((2, 1), (2, 1), (3, 1), (4, 2), (3, 1), (2, 1))[i]
    by_chance = (None, de.geometric([0.2] * k), de.fixed([5.0] * k), None, de.packet_loss([0.8] * k), None)
    by_reward = (
        None,
        de.geometric([0.2] * k),
        de.biased([20] * k, [0] * k),
        None,
        de.biased([5] * k, [20] * k),
        de.fixed([1.0] * k),
    )
    return k, plays, (by_reward if informative else by_chance)[i]


def of_delays(name: str, field: str, *, prior: bool = False) -> Callable[[int], Case]:
    fair, bound_of = field == "fairness_regret", getattr(de, f"{name}_{field.replace('regret', 'bound')}")
    # OP-FCTS-D's and FCTS-D's bounds on reward have the merit's slope in them.
    gentle = fair or "ts" in name

    def make(i: int) -> Case:
        k, plays, delay = late(i, informative=name.startswith("op"))
        steepness = (0.2, 0.5, 0.3, 0.2, 0.3, 0.1)[i]
        if gentle:
            merit = exponential(steepness) if i % 2 else power(steepness, 1)
        else:  # as steep as it may be where several are played
            merit = power((8, 20, 50, 2, 30, 100)[i], 2 if plays == 1 else 1)
        make_policy = getattr(de, name)(merit, k, plays)

        def game(mu: Any) -> de.SemiBandit:
            return de.SemiBandit(fl.bernoulli(mu), plays=plays, merit=merit, delay=delay)

        # The sharp end: all that an arm can pay, or nothing.
        fixed = game(means(i, (1.0, 0.0), 8, (2, 2, 3, 4, 3)))

        def bound(t: Any) -> Any:
            """Return the bound for the best quantile, of a few."""
            return np.min([bound_of(fixed, t, q=q) for q in (0.5, 0.8, 0.9, 0.99, 1.0)], axis=0)

        says = f"{k} arms, {plays} plays, merit {merit!r}, delay {delay.name if delay else 'none'}"
        if prior:

            def most_of(one: Any) -> tuple[float, float]:
                return farthest(merit, one.arms.means, plays)

            def worst_of(one: Any) -> fl.Policy:
                return worst_believer(merit, one.arms.means, fair, plays)

            def from_the_prior(run: int) -> de.SemiBandit:
                return game(chance(i, 9, run).random(k))

            return over_a_prior(says, from_the_prior, make_policy, field, bound, most_of, worst_of)
        mu = fixed.arms.means
        most = farthest(merit, mu, plays)[0 if fair else 1]
        return case(
            f"means {in_words(mu)}, {says}",
            bound,
            lambda t: most * t,
            lambda runs, rounds: played(fixed, make_policy, field, runs, rounds, i),
            lambda rounds: played(fixed, worst_believer(merit, mu, fair, plays), field, 2, rounds),
        )

    return make


LINES: dict[str, Line] = {
    "upper_merit_delayed_fairness_bound": Line(
        "thm-upper-merit-delayed", "upper merit, delayed", of_delays("upper_merit_delayed", FAIRNESS)
    ),
    "fcucb_d_reward_bound": Line("dl-thm-6", "FCUCB-D", of_delays("fcucb_d", REWARD)),
    "fcucb_d_fairness_bound": Line("dl-thm-6", "FCUCB-D", of_delays("fcucb_d", FAIRNESS)),
    "fcts_d_reward_bound": Line("dl-thm-7", "FCTS-D", of_delays("fcts_d", REWARD, prior=True)),
    "fcts_d_fairness_bound": Line("dl-thm-7", "FCTS-D", of_delays("fcts_d", FAIRNESS, prior=True)),
    "op_fcucb_d_reward_bound": Line("dl-thm-8", "OP-FCUCB-D", of_delays("op_fcucb_d", REWARD)),
    "op_fcucb_d_fairness_bound": Line("dl-thm-8", "OP-FCUCB-D", of_delays("op_fcucb_d", FAIRNESS)),
    "op_fcts_d_reward_bound": Line("dl-thm-9", "OP-FCTS-D", of_delays("op_fcts_d", REWARD)),
    "op_fcts_d_fairness_bound": Line("dl-thm-9", "OP-FCTS-D", of_delays("op_fcts_d", FAIRNESS)),
}
