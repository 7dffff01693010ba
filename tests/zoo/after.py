"""What came after, and the game of the playground."""

from collections.abc import Callable
from typing import Any

import numpy as np

import fairlib as fl
from fairlib import after as af
from fairlib import delays as de
from fairlib.merit import exponential
from fairlib.pages.playground import Playground
from zoo.entry import THREE, WITHIN, Entry, size

GAMES: dict[str, Callable[[], Any]] = {
    "playground": lambda: Playground(fl.bernoulli([0.9, 0.5, 0.7]), shares=[0.1, 0.3, 0.2], merit=exponential(4))
}

ENTRIES = {
    "chaining": Entry(lambda game: af.chaining(0.05), WITHIN, "ucb1"),
    "batched Thompson": Entry(lambda game: af.batched_thompson(50, 20), WITHIN, "thompson"),
    "clipped floor, batched Thompson": Entry(
        lambda game: af.clipped_floor(af.batched_thompson(50, 20), 0.05), WITHIN, "thompson"
    ),
    "mixed floor, UCB1": Entry(lambda game: af.mixed_floor(fl.ucb1(), 0.05), WITHIN, "ucb1"),
    "scaled floor, batched Thompson": Entry(
        lambda game: af.scaled_floor(af.batched_thompson(50, 20), 0.05), WITHIN, "thompson"
    ),
    "projected floor, batched Thompson": Entry(
        lambda game: af.projected_floor(af.batched_thompson(50, 20), 0.05), WITHIN, "thompson"
    ),
    "FAIR-LEARN with plays, CUCB-D": Entry(
        lambda game: af.fair_learn_plays(de.cucb_d(game.plays), [0.9 * game.plays / size(game)] * size(game), 1),
        ("geometric", "packet loss", "empirical"),
        "cucb-d",
    ),
    "FAIR-LEARN with plays, uniform": Entry(
        lambda game: af.fair_learn_plays(fl.uniform(game.plays), [game.plays / size(game)] * size(game)),
        THREE,
        "cucb-d",
    ),
    "fair to groups": Entry(
        lambda game: af.fair_groups(np.arange(size(game)) % 2, [0.1, 0.45], game.merit),
        ("exponential, delay", "power, steep", "clipped"),
        "fairx-ucb",
    ),
    "NCB": Entry(lambda game: af.ncb(2000, c=0.1), WITHIN, "ucb1"),
}
