"""What a simulation returns."""

import math
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from fairlib import saved

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What happened, at the recorded rounds.

    Parameters
    ----------
    rounds : ndarray of int, shape (R,)
        The recorded rounds, increasing; everything below is taken at the end of each.
    selected : ndarray of int, shape (runs, R, K)
        How often each arm had been played.
    reward : ndarray, shape (runs, R)
        Reward collected so far, seen or not.
    regret : ndarray, shape (runs, R)
        Expected reward that the best policy would have collected, less the expected reward of the arms played.
    game, policy : str
        What was played, and by whom.
    horizon : int
        Number of rounds that were asked for.
    seed : int or str
        Where all chance came from.
    versions : dict
        The versions of Python and of the packages that made it.

    Examples
    --------
    >>> import fairlib as fl
    >>> result = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.uniform(), 100, runs=3)
    >>> result.selected.shape == (3, result.rounds.size, 2)
    True
    >>> result.share[:, -1].sum(axis=1)
    array([1., 1., 1.])
    >>> result.policy, result.horizon, result.seed
    ("Policy('uniform')", 100, 0)
    """

    rounds: NDArray[np.int64]
    selected: NDArray[np.int64]
    reward: NDArray[np.float64]
    regret: NDArray[np.float64]
    game: str = field(default="", kw_only=True)
    policy: str = field(default="", kw_only=True)
    horizon: int = field(default=0, kw_only=True)
    seed: int | str = field(default=0, kw_only=True)
    versions: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    if TYPE_CHECKING:  # each game's result has more fields, and what `simulate` returns depends on the game

        def __getattr__(self, name: str) -> Any: ...

    @property
    def share(self) -> NDArray[np.float64]:
        """Fraction of the rounds so far in which each arm was played, shape (runs, R, K)."""
        return self.selected / self.rounds[:, None]

    def __repr__(self) -> str:
        runs, last = self.reward.shape[0], int(self.rounds[-1])
        played = ", ".join(f"{share:.3g}" for share in self.share[:, -1].mean(axis=0)[:12])
        more = ", ..." if self.selected.shape[2] > 12 else ""
        lines = [
            f"{type(self).__name__}: {self.policy or 'a policy'} in {self.game or 'a game'}",
            f"  {runs:,} run{'s' * (runs > 1)} of {self.horizon or last:,} rounds, seed {self.seed}",
            f"  after round {last:,}: share of the arms {played}{more}",
        ]
        for name, value in self._by_round().items():
            if value.ndim == 2:
                error = f" ± {value[:, -1].std(ddof=1) / math.sqrt(runs):.2g}" if runs > 1 else ""
                lines.append(f"    {name} {value[:, -1].mean():.4g}{error}")
        return "\n".join(lines)

    def _by_round(self) -> dict[str, NDArray[Any]]:
        """Return all that was recorded, by name: an array for each run and recorded round."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        shape = self.reward.shape
        return {
            name: value for name, value in named.items() if isinstance(value, np.ndarray) and value.shape[:2] == shape
        }

    def frame(self) -> "pd.DataFrame":
        """Return the result as a table for pandas.

        Returns
        -------
        pandas.DataFrame
            A row for each run and recorded round, a column for each thing recorded; what there is of each arm or group
            has a column for each, such as ``selected 0``.

        Examples
        --------
        >>> import fairlib as fl
        >>> result = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.ucb1(), 4, runs=2, rounds=[2, 4])
        >>> result.frame().groupby("round")["selected 1"].max()
        round
        2    1
        4    1
        Name: selected 1, dtype: int64
        """
        import pandas as pd  # here, as the import of the package must stay quick

        runs, columns = self.reward.shape[0], {}
        for name, value in sorted(self._by_round().items(), key=lambda item: item[1].ndim):
            if value.ndim == 2:
                columns[name] = value.ravel()
            else:
                columns |= {f"{name} {a}": value[:, :, a].ravel() for a in range(value.shape[2])}
        rows = pd.MultiIndex.from_product([range(runs), self.rounds.tolist()], names=["run", "round"])
        return pd.DataFrame(columns, index=rows)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the result to a file of NumPy's (``.npz``), whole or not at all.

        Parameters
        ----------
        path : path-like
            Where; an older file of this name is replaced.

        Examples
        --------
        >>> import tempfile
        >>> import fairlib as fl
        >>> path = tempfile.mkdtemp() + "/result.npz"
        >>> result = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.ucb1(), 100)
        >>> result.save(path)
        >>> bool((fl.Result.load(path).regret == result.regret).all())
        True
        """
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        arrays = {name: value for name, value in named.items() if isinstance(value, np.ndarray)}
        rest = {name: value for name, value in named.items() if name not in arrays}
        saved.write(path, "result", {"of": type(self).__name__, **rest, "versions": dict(self.versions)}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load a result; nothing in the file is executed.

        Parameters
        ----------
        path : path-like
            A file that `save` wrote.

        Returns
        -------
        Result
            The result, of the kind that was saved.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If it holds no result, not a whole one, or one of a kind that is neither this nor made from it.
        """
        heading, arrays = saved.read(path, "result")
        from fairlib import delays, exposure, ranks, shares  # noqa: F401  (so that their kinds of result are known)

        name, kinds = heading.pop("of"), {cls.__name__: cls}
        stack: list[type[Self]] = [cls]
        while stack:
            for each in stack.pop().__subclasses__():
                kinds[each.__name__] = each
                stack.append(each)
        if name not in kinds:
            raise ValueError(f"{path} must hold a {cls.__name__}, not a {name}; load it with the class that it is of")
        try:
            given: dict[str, Any] = {**heading, **arrays}
            return kinds[name](**given)
        except TypeError as error:
            raise ValueError(f"{path} must hold all of a {name}: {error}") from error


def versions() -> dict[str, str]:
    """Return the versions that a result depends on.

    Returns
    -------
    dict
        Name and version of this package, of those that make its numbers, and of Python.

    Examples
    --------
    >>> list(versions())
    ['fairlib', 'numba', 'numpy', 'python']
    """
    import numba

    import fairlib

    made = {each.__name__: each.__version__ for each in (fairlib, numba, np)}
    return made | {"python": platform.python_version()}
