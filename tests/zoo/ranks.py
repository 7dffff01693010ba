"""The best of their own group: games and policies."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from fairlib import ranks as rk
from fairlib.data import standardized, twoyear
from zoo.entry import RANKS, regret_in_context, with_contexts, with_history

WEIGHTS, BIASES = [[1.0, 2.0], [3.0, 0.0], [0.5, 0.5]], [0.0, 1.0, 2.0]
SEPARATE = ("section 6", "separate groups", "employer, one from each group")


def people(**more):
    """Choose among every twentieth person of the data, which leaves a person in each group."""
    whole = twoyear()
    some = slice(None, None, 20)
    return rk.employer(standardized(whole.features[some]), whole.groups[some], whole.rewards[some], **more)


def of_other_groups(draw, game):
    """Draw other weights and biases for as many groups."""
    groups, length = game.weights.shape
    each = st.floats(0.5, 4)
    weights = [draw(st.lists(each, min_size=length, max_size=length)) for _ in range(groups)]
    biases, sd = draw(st.lists(st.floats(-2, 8), min_size=groups, max_size=groups)), draw(st.floats(0, 2))
    if game.shares is None:
        return rk.separate_groups(weights, biases, sd, draw(st.floats(0, 1)))
    return rk.mixed_groups(weights, biases, sd, game.shares, draw(st.integers(2, 9)))


def regret_of_ranks(game, steps):
    lost = 0.0
    for step in steps:
        among = [float(game.distributions[g].cdf(x)) for g, x in zip(step.now.groups, step.means, strict=True)]
        lost += max(among) - among[step.played[0]]
    return lost


def received(game, steps):
    return [sum(int((step.now.groups == g).sum()) for step in steps) for g in range(game.world.groups)]


def chosen(game, steps):
    return [sum(int(step.now.groups[step.played[0]] == g) for step in steps) for g in range(game.world.groups)]


ON_RANKS = {"regret": regret_in_context, "fairness_regret": regret_of_ranks, "received": received, "chosen": chosen}
MEASURES: dict[type, dict[str, Any]] = {rk.RankBandit: ON_RANKS, rk.WeightedBandit: ON_RANKS}
VARIED = {rk.WeightedBandit: of_other_groups}
GAMES: dict[str, Callable[[], Any]] = {
    "section 6": rk.section_6,
    "separate groups": lambda: rk.separate_groups(WEIGHTS, BIASES, sd=0.5, together=0.25),
    "mixed groups": lambda: rk.mixed_groups(WEIGHTS, BIASES, sd=0.5, shares=[0.7, 0.25, 0.05], arms=8),
    "employer, one from each group": people,
    "employer, ten from all": lambda: people(arms=10, sd=0.2),
}

ENTRIES = {
    "GMF": with_contexts(rk.gmf, RANKS, "fair-greedy"),
    "reward-optimal": with_contexts(rk.reward_optimal, RANKS, "fair-greedy"),
    "OFUL, as published": with_contexts(lambda game: rk.oful_as_published(0.1), RANKS, "fair-greedy"),
    "oracle CDF": with_contexts(rk.oracle_cdf, RANKS, "fair-greedy"),
    "Fair-Greedy": with_history(lambda game: rk.fair_greedy(), SEPARATE, "fair-greedy"),
    "Fair-Greedy, first of ties": with_history(lambda game: rk.fair_greedy(ties="first"), SEPARATE, "fair-greedy"),
    "Fair-Greedy V2": with_history(lambda game: rk.fair_greedy_v2(), RANKS, "fair-greedy"),
    "Fair-Greedy V2, half": with_history(lambda game: rk.fair_greedy_v2(unseen="half"), RANKS, "fair-greedy"),
    "Fair-Greedy, rarely": with_history(lambda game: rk.fair_greedy_rarely(), RANKS, "fair-greedy"),
    "oracle rewards": with_history(rk.oracle_rewards, RANKS, "fair-greedy"),
}
