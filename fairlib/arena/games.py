"""The games of the arena, fixed by their numbers, so that a paper can cite a version."""

import copy
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from fairlib import ranks
from fairlib.core.arms import Available, Bandit, bernoulli
from fairlib.core.contexts import ContextBandit, sphere
from fairlib.delays import geometric, packet_loss
from fairlib.exposure import ContextExposureBandit, ExposureBandit
from fairlib.merit import exponential, power
from fairlib.pages.playground import Playground
from fairlib.shares import SharedBandit

__all__ = ["Suite", "v1", "v2"]

_YEAST = [0.3153, 0.4295, 0.4067, 0.3566, 0.2987, 0.247, 0.1771, 0.1986, 0.0736, 0.1047, 0.1196, 0.7513, 0.7443, 0.0141]
_WORKERS = [0.3, 0.5, 0.7, 0.9, 0.8, 0.6, 0.4]

# All that a game is made of. Games on arms have shares and merit, so that each is measured by every notion of fairness.
_V1: dict[str, dict[str, Any]] = {
    "shares/easy": {
        "means": [0.5, 0.9, 0.7, 0.6, 0.8, 0.4],
        "shares": [0.1] * 6,
        "merit": ["exponential", 4],
        "about": "Six arms far apart, each promised a tenth of the rounds.",
    },
    "shares/paper": {
        "means": [0.71, 0.8, 0.78, 0.77, 0.76, 0.75, 0.74, 0.73, 0.72, 0.7],
        "shares": [0.05] * 10,
        "merit": ["exponential", 4],
        "about": "Ten arms close together, each promised a twentieth, as Patil et al. simulate them, in another order.",
    },
    "shares/hostile": {
        "means": [0.5 - 0.01 * a for a in range(1, 20)] + [0.5],
        "shares": [0.0475] * 20,
        "merit": ["exponential", 4],
        "about": "Twenty arms, and 95 per cent of the rounds are promised: little is left to learn with.",
    },
    "exposure/paper": {
        "means": _YEAST,
        "shares": [0.03] * 14,
        "merit": ["exponential", 10],
        "about": "The fourteen labels of the yeast data of Wang et al., with their steep merit exp(10x).",
    },
    "exposure/hostile": {
        "means": [0.1, 0.9, 0.5, 0.5, 0.5, 0.5],
        "shares": [0.02] * 6,
        "merit": ["exponential", 20],
        "about": "Merit exp(20x): small errors about means are large errors about what arms deserve.",
    },
    "exposure/contexts": {
        "arms": 5,
        "parameter": [0.5, -0.5, 0.5, -0.5],
        "sd": 0.5,
        "merit": ["exponential", 4],
        "about": "Five arms with random contexts of length 4, and merit exp(4x).",
    },
    "delays/easy": {
        "means": [0.3, 0.8, 0.5, 0.6, 0.4],
        "shares": [0.1] * 5,
        "merit": ["exponential", 4],
        "delay": ["geometric", [0.05] * 5],
        "about": "Rewards are seen 20 rounds late on average.",
    },
    "delays/paper": {
        "means": _WORKERS,
        "plays": 3,
        "shares": [0.1] * 7,
        "merit": ["power", 2, 4],
        "delay": ["geometric", [0.05] * 7],
        "about": "Three of seven arms a round, and late rewards: the example of Chen et al.",
    },
    "delays/hostile": {
        "means": [0.4, 0.7, 0.6, 0.5, 0.3],
        "shares": [0.1] * 5,
        "merit": ["exponential", 4],
        "delay": ["packet_loss", [0.3, 0.1, 0.3, 0.5, 0.9], [0.3, 0.9, 0.5, 0.3, 0.1]],
        "about": "Rewards are lost, by arm and by reward, so that the means of what is seen are wrong.",
    },
    "ranks/easy": {
        "weights": [[2.0, 1.0], [1.0, 1.0]],
        "biases": [0.0, 1.0],
        "sd": 0.5,
        "about": "One candidate from each of two groups, of which one has the higher rewards.",
    },
    "ranks/paper": {
        "weights": [[4.0, 3.0, 7.0, 0.0], [8.0, 0.0, 0.0, 0.0], [5.0, 5.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0]],
        "biases": [0.0, 16 / 3, 32 / 3, 16.0],
        "sd": 2.0,
        "about": "The simulation of Grazzi et al., four groups.",
    },
    "ranks/hostile": {
        "weights": [[1.0, 2.0], [3.0, 0.0], [0.5, 0.5]],
        "biases": [0.0, 1.0, 2.0],
        "sd": 0.5,
        "shares": [0.7, 0.25, 0.05],
        "arms": 8,
        "about": "Eight candidates from three groups, one of them rare.",
    },
}

_V2: dict[str, dict[str, Any]] = {
    "come-and-go/shares": {
        "means": [0.5, 0.9, 0.7, 0.6, 0.8, 0.4],
        "shares": [0.1] * 6,
        "hours": [0.03, 0.03],
        "about": "The arms of shares/easy. All but the last leave, and come back, with probability 3 per cent a round.",
    },
    "come-and-go/merit": {
        "means": [0.5, 0.9, 0.7, 0.6, 0.8, 0.4],
        "merit": ["exponential", 4],
        "hours": [0.03, 0.03],
        "about": "The same arms and absences. Each arm is owed plays by the merit exp(4x), among those that are there.",
    },
}

_MERITS: dict[str, Any] = {"exponential": exponential, "power": power}
_DELAYS: dict[str, Any] = {"geometric": geometric, "packet_loss": packet_loss}


class Suite(Mapping[str, Bandit | ContextBandit]):
    """Games by name, each built when it is first asked for.

    Parameters
    ----------
    name : str
        What a paper calls the suite.
    numbers : dict
        The numbers that each game is made of.

    Examples
    --------
    >>> len(v1), v1["shares/easy"].arms.means.tolist()
    (12, [0.5, 0.9, 0.7, 0.6, 0.8, 0.4])
    >>> print(v1.about("delays/easy"))
    Rewards are seen 20 rounds late on average.
    """

    def __init__(self, name: str, numbers: Mapping[str, Mapping[str, Any]]) -> None:
        self.name, self._numbers, self._built = name, numbers, dict[str, Bandit | ContextBandit]()

    def __getitem__(self, name: str) -> Bandit | ContextBandit:
        if name not in self._built:
            self._built[name] = _build(**self._numbers[name])
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def about(self, name: str) -> str:
        """Return in a sentence what a game is.

        Parameters
        ----------
        name : str
            The game's name.

        Returns
        -------
        str
            The sentence.

        Raises
        ------
        KeyError
            If there is no such game.

        Examples
        --------
        >>> v1.about("ranks/paper")
        'The simulation of Grazzi et al., four groups.'
        """
        return str(self._numbers[name]["about"])

    def numbers(self, name: str) -> dict[str, Any]:
        """Return all that a game is made of, by name: means, shares, merit, delay and the like."""
        return {key: copy.deepcopy(each) for key, each in self._numbers[name].items() if key != "about"}

    @property
    def fingerprint(self) -> str:
        """A hash of all numbers of all games: a suite with another hash is another suite."""
        plain = json.dumps({name: self.numbers(name) for name in self}, sort_keys=True)
        return hashlib.sha256(plain.encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"Suite({self.name!r}, {len(self)} games, fingerprint {self.fingerprint})"


def _at_random(leave, come, available, rng):
    """Let each arm but the last leave and come back at random."""
    for a in range(available.size - 1):
        if rng.random() < (leave if available[a] == 1 else come):
            available[a] = 1 - available[a]


def _build(about: str, merit: Any = None, delay: Any = None, hours: Any = (), **numbers: Any) -> Bandit | ContextBandit:
    """Return a game; the names of its numbers say of which kind it is."""
    if "weights" in numbers:
        return (ranks.mixed_groups if "arms" in numbers else ranks.separate_groups)(**numbers)
    if "parameter" in numbers:
        world = sphere(numbers["arms"], numbers["parameter"], numbers["sd"])
        return ContextExposureBandit(world, merit=_MERITS[merit[0]](*merit[1:], -1, 1))
    if merit:
        numbers["merit"] = _MERITS[merit[0]](*merit[1:])
    arms = bernoulli(numbers.pop("means"))
    if hours:
        there = Available(_at_random, leave=hours[0], come=hours[1])
        return (ExposureBandit if merit else SharedBandit)(arms, available=there, **numbers)
    late = _DELAYS[delay[0]](*delay[1:]) if delay else None
    return Playground(arms, delay=late, **numbers)


v1 = Suite("fairlib arena 1", _V1)
"""Twelve games over the four papers. The best arm is never the first, so that ties and orders win nothing."""

v2 = Suite("fairlib arena 2", _V2)
"""Two games in which arms come and go: one on promised shares, one on merit."""
