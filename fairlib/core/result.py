"""What a simulation returns."""

import contextlib
import importlib
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from fairlib import files
from fairlib._version import __version__

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
        The seed of all draws.
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
        for name, value in self.by_round().items():
            if value.ndim == 2:
                error = f" ± {value[:, -1].std(ddof=1) / math.sqrt(runs):.2g}" if runs > 1 else ""
                lines.append(f"    {name} {value[:, -1].mean():.4g}{error}")
        return "\n".join(lines)

    def by_round(self) -> dict[str, NDArray[Any]]:
        """Return all that was recorded, by name.

        Returns
        -------
        dict of ndarray
            A quantity with one number in each round has shape (runs, R), one with a number for each arm (runs, R, K).

        Examples
        --------
        >>> import fairlib as fl
        >>> list(fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.uniform(), 10).by_round())
        ['selected', 'reward', 'regret']
        """
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
            A row for each run and recorded round, and a column for each quantity; a quantity of each arm or group has a
            column for each of them, such as ``selected 0``.

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
        for name, value in sorted(self.by_round().items(), key=lambda item: item[1].ndim):
            if value.ndim == 2:
                columns[name] = value.ravel()
            else:
                columns |= {f"{name} {a}": value[:, :, a].ravel() for a in range(value.shape[2])}
        rows = pd.MultiIndex.from_product([range(runs), self.rounds.tolist()], names=["run", "round"])
        return pd.DataFrame(columns, index=rows)

    def save(self, path: files.GivenPath) -> None:
        """Save the result to a NumPy file (``.npz``), whole or not at all.

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
        of = f"{type(self).__module__}:{type(self).__qualname__}"
        files.save_npz(path, {"of": of, **rest, "versions": dict(self.versions)}, arrays)

    @classmethod
    def load(cls, path: files.GivenPath) -> Self:
        """Load a result; nothing in the file is executed.

        Parameters
        ----------
        path : path-like
            A file that `save` wrote.

        Returns
        -------
        Result
            The result, of the class that was saved. A class of the package is imported if need be; one that is defined
            elsewhere must have been imported before.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        TypeError
            If `path` is no path.
        ValueError
            If it holds no result, one of another format, an incomplete one, or one of a class that is neither this one
            nor a subclass; the message names the path.
        """
        heading, arrays = files.load_npz(path)
        of = str(heading.pop("of", None))
        kind = _kind(cls, of)
        if kind is None:
            raise ValueError(
                f"{path} must hold a {cls.__name__}, not a {of.rpartition(':')[2]}; load it with the class that it is "
                f"of, {of.replace(':', '.')}, once that is imported"
            )
        try:
            made: Self = kind(**heading, **arrays)
        except TypeError as error:
            raise ValueError(f"{path} must hold a whole {kind.__name__} as it was saved: {error}") from error
        return made


def _kind(cls: type[Any], of: str) -> Any:
    """Return the class of the result in a file, if it is this one or a subclass."""
    module, _, name = of.rpartition(":")
    if module.startswith("fairlib."):
        with contextlib.suppress(ImportError):  # of another release, perhaps
            importlib.import_module(module)
    known = [cls]
    for each in known:  # it grows
        known += each.__subclasses__()
    alike = [each for each in reversed(known) if each.__qualname__ == name]
    # What ran as a script is __main__, and a module may have another name by now.
    return max(alike, key=lambda each: bool(each.__module__ == module), default=None)


def versions() -> dict[str, str]:
    """Return the versions that a result depends on, by the names of the packages."""
    import numba

    made = {"fairlib": __version__, "numba": numba.__version__, "numpy": np.__version__}
    return made | {"python": platform.python_version()}
