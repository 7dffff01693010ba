"""The best of their own group: games and policies."""

from collections.abc import Callable
from typing import Any

from fairlib import ranks as rk
from fairlib.data import standardized, twoyear
from zoo.entry import RANKS, with_contexts, with_history

WEIGHTS, BIASES = [[1.0, 2.0], [3.0, 0.0], [0.5, 0.5]], [0.0, 1.0, 2.0]
SEPARATE = ("section 6", "separate groups", "employer, one from each group")


def people(**more):
    """Choose among every twentieth person of the data, which leaves a person in each group."""
    whole = twoyear()
    some = slice(None, None, 20)
    return rk.employer(standardized(whole.features[some]), whole.groups[some], whole.rewards[some], **more)


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
