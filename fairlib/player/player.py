"""A policy at work: it is asked for arms, learns their rewards whenever they arrive, and keeps its history."""

import json
import math
import numbers
import pathlib
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from fairlib import checks, files
from fairlib._version import __version__
from fairlib.core.contexts import ContextPolicy
from fairlib.core.policy import Policy
from fairlib.engine.agent import Agent
from fairlib.engine.seeding import AnySeed, root, streams
from fairlib.engine.session import AnyPolicy
from fairlib.rules.rule import Seen

__all__ = ["Player", "Choice"]

_OWNER = 0x66616972  # "fair", by which SQLite and the program `file` recognise a journal
_FORMAT = 1  # of a journal; a change after which older releases can't read it needs the next number

_TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS made (how TEXT NOT NULL);  -- the arguments of the player, as JSON
CREATE TABLE IF NOT EXISTS log (
    id INTEGER PRIMARY KEY,  -- the order in which it happened
    what TEXT NOT NULL,      -- 'choice', 'reward', 'join' or 'retire'
    round INTEGER NOT NULL,
    arm NOT NULL,            -- its number or name; a choice of several arms has a row for each
    chance REAL,             -- with which the arm was chosen
    contexts TEXT,           -- of a choice, as JSON, as are the groups
    members TEXT,
    available TEXT,          -- the arms that were there, as JSON; empty if none was away
    reward REAL,
    UNIQUE (round, arm, what)
);
CREATE VIEW IF NOT EXISTS rounds AS
    SELECT choice.round, choice.arm, choice.chance AS propensity, choice.contexts AS features, choice.available,
           feedback.reward
    FROM log AS choice
    LEFT JOIN log AS feedback
        ON feedback.round = choice.round AND feedback.arm = choice.arm AND feedback.what = 'reward'
    WHERE choice.what = 'choice' ORDER BY choice.id;
PRAGMA application_id = {_OWNER};
PRAGMA user_version = {_FORMAT};
"""


class Choice(NamedTuple):
    """The arms that a `Player` has chosen.

    Parameters
    ----------
    round : int
        The round, 1, 2, 3, ..., which its feedback must name.
    arms : tuple
        The arms to play, by name if the player has names for them.
    chances : tuple of float
        The probability with which each was chosen.

    Examples
    --------
    >>> import fairlib as fl
    >>> fl.Player(fl.ucb1(), arms=3).choose()
    Choice(round=1, arms=(0,), chances=(1.0,))
    """

    round: int
    arms: tuple[Any, ...]
    chances: tuple[float, ...]


class Player:
    """A policy at work: `choose` says what to play, and `observe` takes the reward, which may come late or never.

    It plays as `simulate` does: with the same seed, and with each reward given when the game would show it, it plays
    run 0 to the last bit.

    A player is its history. Each choice and each reward is a row of its journal, an SQLite database, and is on the disk
    before `choose` and `observe` return. A player that opens a journal plays its history anew, so a process that is
    killed loses nothing.

    Parameters
    ----------
    policy : Policy or ContextPolicy
        The policy.
    arms : int or list, optional
        Number of arms K, or their names, by which they are then called throughout; needed unless the policy is made for
        some number.
    capacity : int, optional
        How many arms there can be, if more may `join`; then it is K. The policy must ask which arms are there.
    dimension : int, optional
        Length d of a context; needed where arms have contexts, unless the policy is made for some length.
    groups : int
        Number of groups that the arms belong to, where they have contexts.
    horizon : int, optional
        How many rounds may be played, by default as many as the policy is made for; needed for one that remembers every
        round.
    rewards : tuple of two floats
        The smallest and the largest reward that there can be; either may be infinite. A policy that is made for rewards
        in [0, 1] takes no others.
    seed : int or numpy.random.SeedSequence
        The seed of the policy's draws.
    journal : path-like, optional
        The file of the journal, on a disk of this machine; it is made if there is none. Left out, the journal is kept
        in memory, and is lost with the player unless `save` writes it.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range, is missing, or does not fit the policy; if the file can't
        be opened, or is no journal of this format; if it was made with other arguments, or this policy would not have
        made one of its choices.

    See Also
    --------
    simulate : lets a policy play a game that is known.

    Notes
    -----
    Several threads may use one player. Several processes may open one journal: they take turns, and each first plays
    what the others have written, so that together they are one player. A process must open the journal itself: a
    connection to SQLite does not survive a fork.

    The table `log` of the journal is only ever added to. Its view `rounds` has a row for each arm that was chosen, with
    the columns that `fairlib.Log` reads: `round`, `arm`, `propensity`, `features` and `available` as JSON, and
    `reward`, empty if it was not observed.

    The seed and the journal together give all choices to come, so at work the seed must be secret, and 0 is not.

    Examples
    --------
    >>> import fairlib as fl
    >>> player = fl.Player(fl.ucb1(), arms=2)
    >>> first, second = player.choose(), player.choose()
    >>> player.observe(second.round, 1.0)  # the feedback of the second round is there before that of the first
    >>> player.observe(first.round, 0.0)
    >>> player.choose().arms
    (1,)

    Arms may have names:

    >>> fl.Player(fl.ucb1(), arms=["tea", "coffee"]).choose()
    Choice(round=1, arms=('tea',), chances=(1.0,))

    With a journal it goes on where it was:

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/shop.db"
    >>> for _ in range(3):
    ...     player = fl.Player(fl.ucb1(), arms=3, journal=path)
    ...     print(player.choose())
    ...     player.close()
    Choice(round=1, arms=(0,), chances=(1.0,))
    Choice(round=2, arms=(0,), chances=(1.0,))
    Choice(round=3, arms=(0,), chances=(1.0,))
    """

    def __init__(
        self,
        policy: AnyPolicy,
        arms: int | Sequence[str | float] | None = None,
        *,
        capacity: int | None = None,
        dimension: int | None = None,
        groups: int = 1,
        horizon: int | None = None,
        rewards: tuple[float, float] = (0.0, 1.0),
        seed: AnySeed = 0,
        journal: files.GivenPath | None = None,
    ) -> None:
        self.policy: Policy | ContextPolicy = checks.instance(
            "policy", policy, Policy | ContextPolicy, "a Policy or a ContextPolicy, such as ucb1()"
        )
        self.plays, self.rewards = policy.plays, _range(rewards)
        names = None if arms is None else checks.arm_names("arms", arms)
        number = len(names) if names else None
        if capacity is not None:
            number = checks.integer("capacity", capacity, number or 1)
        self._sizes = sizes = _sizes(policy, number, dimension, groups, horizon, self.rewards)
        numbered = tuple(range(sizes["K"]))
        self._names: list[Any] = list(names or numbered)
        self._there = np.repeat([1, 0], [len(self._names), sizes["K"] - len(self._names)])
        if not self._there.all():
            policy.where_arms_come_and_go()
        self._places = {each: place for place, each in enumerate(self._names)}
        self.arms, self.horizon = sizes["K"], sizes.get("T")
        bound = policy.bound_rule
        rule = bound.interpreted if policy.interpret else bound.ready(f"the rule of {policy.name!r}", 2)
        self._agent = Agent(policy, rule, sizes)
        origin = root(seed)
        self._rng, _ = streams(origin, 0)
        self._t = 0
        self._lock = threading.RLock()
        self._read = 0  # the last row of the journal that has been played
        made: dict[str, Any] = {
            "arms": self.arms if self._names == list(numbered) else self._names.copy(),
            "capacity": self.arms if capacity else None,
            "dimension": sizes.get("d"),
            "groups": sizes.get("G", 1),
            "horizon": self.horizon,
            "rewards": list(self.rewards),
            "seed": np.asarray(origin.entropy, object).tolist(),
            "spawn_key": list(origin.spawn_key),
        }
        self._open(None if journal is None else checks.path("journal", journal).absolute(), made)

    def choose(
        self,
        contexts: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        available: Iterable[str | float] | None = None,
    ) -> Choice:
        """Choose the arms of the next round.

        Parameters
        ----------
        contexts : array_like, shape (K, d), optional
            The context of each arm, where arms have contexts.
        groups : array_like of int, shape (K,), optional
            The group of each arm, 0, 1, ...; all in group 0 if left out.
        available : list, optional
            The arms that are there in this round, by default all that have joined and not retired.

        Returns
        -------
        Choice
            The round, the arms and their probabilities.

        Raises
        ------
        TypeError, ValueError
            If the contexts are missing, not wanted or don't fit, the horizon is over, the policy remembers every round
            and has not observed the last one, or does not ask which arms are there where some are not, or its rule
            gives no probabilities. In each case nothing has changed.
        sqlite3.Error
            If the journal can't be written; then nothing has changed, either.

        Examples
        --------
        >>> import fairlib as fl
        >>> player = fl.Player(fl.linear.linucb(1.0), arms=2, dimension=2)
        >>> choice = player.choose([[1.0, 0.0], [0.0, 1.0]])
        >>> player.observe(choice.round, 1.0)
        >>> player.choose([[0.0, 1.0], [1.0, 0.0]]).arms
        (1,)
        """
        with self._turn():
            t = self._t + 1
            if self.horizon is not None and t > self.horizon:
                raise ValueError(f"the horizon must not be exceeded: all {self.horizon} rounds have been played")
            shown = members = None
            if self._agent.contextual:
                shown, members = self._seen_contexts(contexts), self._members(groups)
                if self._agent.history and self._waiting(t - 1, t - 1):
                    raise ValueError(
                        f"policy {self.policy.name!r} remembers every round, so round {t - 1} must be observed before "
                        f"round {t} is chosen"
                    )
            elif contexts is not None or groups is not None:
                raise TypeError(f"contexts and groups must be left out: policy {self.policy.name!r} takes none")
            there = self._present(available)
            who = None if there.all() else [self._names[place] for place in np.flatnonzero(there)]
            texts = [None if each is None else json.dumps(each.tolist()) for each in (shown, members)]
            texts.append(None if who is None else json.dumps(who))
            with self._unless_it_fails():
                choice = self._choose(shown, members, there)
                pairs = zip(choice.arms, choice.chances, strict=True)
                self._write(("choice", t, arm, chance, *texts, None) for arm, chance in pairs)
            self._record(choice, shown, members)
            return choice

    def observe(self, round: int, reward: float, arm: str | float | None = None) -> None:
        """Take the reward of an arm in a round.

        The policy learns from feedback in the order in which it is given.

        Parameters
        ----------
        round : int
            The round, as `choose` named it.
        reward : float
            The reward of the arm, in the range `rewards`.
        arm : int, str or float, optional
            The arm; it may be left out while one arm of that round waits for feedback.

        Raises
        ------
        TypeError, ValueError
            If the round has not been played, the arm was not chosen in it or has been observed, or the reward is not in
            the range; then nothing has changed.
        sqlite3.Error
            If the journal can't be written; then nothing has changed, either.

        Examples
        --------
        >>> import fairlib as fl
        >>> player = fl.Player(fl.ucb1(), arms=2)
        >>> player.observe(1, 0.5)
        Traceback (most recent call last):
        ValueError: round must be one that has been played, and none has; not 1
        """
        with self._turn():
            round = checks.integer("round", round, 1)
            if round > self._t:
                last = f"the last was {self._t}" if self._t else "none has"
                raise ValueError(f"round must be one that has been played, and {last}; not {round}")
            low, high = self.rewards
            value = checks.real("reward", reward, low, high) + 0.0  # makes 0.0 of -0.0, as SQLite does
            waiting = self._waiting(round, round).get(round, ())
            left = ", ".join(map(repr, waiting))
            if not waiting:
                raise ValueError(f"round must be one that waits for feedback: {round} has been observed")
            if arm is None and len(waiting) > 1:
                raise ValueError(f"arm must be given, as several of round {round} wait for feedback: {left}")
            named = isinstance(arm, str | numbers.Real) and not isinstance(arm, bool)
            which = waiting[0] if arm is None else next((each for each in waiting if named and each == arm), None)
            if which is None:
                raise ValueError(
                    f"arm must be one of round {round} that waits for feedback ({left}), not {checks.shown(arm)}"
                )
            self._write([("reward", round, which, None, None, None, None, value)])
            self._learn(round, which, value)

    def join(self, arm: str | float) -> None:
        """Let an arm join, a new one while there is room, or one that had retired: with all that is known of it.

        Parameters
        ----------
        arm : int, str or float
            The arm.

        Raises
        ------
        TypeError, ValueError
            If the arm is there, or all places are taken, or the policy does not ask which arms are there.
        sqlite3.Error
            If the journal can't be written. In each case nothing has changed.

        Examples
        --------
        >>> import fairlib as fl
        >>> player = fl.Player(fl.ucb1(), arms=["tea"], capacity=2)
        >>> player.observe(player.choose().round, 1.0)
        >>> player.join("coffee")
        >>> player.choose().arms
        ('coffee',)
        """
        self._come_or_go("join", arm)

    def retire(self, arm: str | float) -> None:
        """Let an arm leave: it is not chosen until it joins again. Its rewards may still be observed.

        Parameters
        ----------
        arm : int, str or float
            The arm.

        Raises
        ------
        TypeError, ValueError
            If the arm is not there, or fewer would be left than are played, or the policy does not ask which are there.
        sqlite3.Error
            If the journal can't be written. In each case nothing has changed.

        Examples
        --------
        >>> import fairlib as fl
        >>> player = fl.Player(fl.uniform(), arms=["tea", "coffee"])
        >>> player.retire("tea")
        >>> player.choose()
        Choice(round=1, arms=('coffee',), chances=(1.0,))
        """
        self._come_or_go("retire", arm)

    def _come_or_go(self, what: str, arm: Any) -> None:
        with self._turn():
            (arm,) = checks.arm_names("arm", [arm])
            here, asked = self._is_there(arm), "SELECT 1 FROM log WHERE round = ? AND arm = ? AND what = ?"
            self.policy.where_arms_come_and_go()
            if here == (what == "join"):
                raise ValueError(f"arm must be one that {'is not' if here else 'is'} there, unlike {arm!r}")
            if arm not in self._places and len(self._names) == self.arms:
                raise ValueError(f"arm must be one of those that have joined, as all {self.arms} places are taken")
            if here and self._there.sum() == self.plays:
                raise ValueError(f"arm must not be one of the last {self.plays}, as so many are played")
            if self._db.execute(asked, (self._t + 1, arm, what)).fetchone():
                raise ValueError(f"arm {arm!r} must wait for the next round: it can {what} once in a round")
            self._write([(what, self._t + 1, arm, None, None, None, None, None)])
            self._move(what, arm)

    def _move(self, what: str, arm: Any) -> None:
        """Let an arm come or go that may."""
        if arm not in self._places:
            self._places[arm] = len(self._names)
            self._names.append(arm)
        self._there[self._places[arm]] = what == "join"

    def _is_there(self, arm: Any) -> bool:
        return arm in self._places and bool(self._there[self._places[arm]])

    def _present(self, available: Any) -> NDArray[np.int64]:
        """Return which arms are there in a round, 1 for each and else 0."""
        if available is None:
            return self._there
        given, there = checks.arm_names("available", available), np.zeros(self.arms, np.int64)
        if not all(map(self._is_there, given)) or len(given) < self.plays:
            known = [self._names[place] for place in np.flatnonzero(self._there)]
            raise ValueError(f"available must be at least {self.plays} of {known}, not {checks.shown(available)}")
        there[[self._places[each] for each in given]] = 1
        return there

    @property
    def waiting(self) -> dict[int, tuple[Any, ...]]:
        """The rounds that wait for feedback, and their arms."""
        with self._lock:
            return self._waiting(1, self._t)

    @property
    def seen(self) -> Seen:
        """All that has been chosen and observed as of this player's last call; `t` is the next round."""
        with self._lock:
            return Seen(self._t + 1, self._agent.selected.copy(), self._agent.observed.copy(), self._agent.total.copy())

    def __repr__(self) -> str:
        return f"Player({self.policy!r}, arms={self.arms}), {self._t} rounds played"

    def close(self) -> None:
        """Close the journal; the player can't be asked any more."""
        with self._lock:
            self._db.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Player can't be pickled or copied, as its journal is open: save it with player.save(path) and load it "
            "with Player.load(path, policy), or open its journal with Player(..., journal=path)"
        )

    def save(self, path: files.GivenPath) -> None:
        """Save the history to a file that is a journal itself, whole or not at all.

        Parameters
        ----------
        path : path-like
            The path; an older file of this name is replaced.

        Raises
        ------
        OSError, sqlite3.Error
            If the file can't be written.

        Examples
        --------
        >>> import tempfile
        >>> import fairlib as fl
        >>> path = tempfile.mkdtemp() + "/player.db"
        >>> player = fl.Player(fl.thompson_beta(), arms=5, seed=3)
        >>> for _ in range(10):
        ...     player.observe(player.choose().round, 1.0)
        >>> player.save(path)
        >>> fl.Player.load(path, fl.thompson_beta()).choose() == player.choose()
        True
        """
        with self._lock, files.atomic_write(checks.path("path", path)) as file:
            self._db.execute("VACUUM INTO ?", (file.name,))

    @classmethod
    def load(cls, path: files.GivenPath, policy: AnyPolicy) -> Self:
        """Load a history and play it anew: the player will choose what the saved one would have chosen.

        What it then plays is not written to the file; open the file as a `journal` for that.

        Parameters
        ----------
        path : path-like
            A file that `save` wrote, or a journal.
        policy : Policy or ContextPolicy
            The policy that it was made with.

        Returns
        -------
        Player
            The player.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        TypeError, ValueError
            If `path` is no path, or `policy` no policy; if the file is no journal of this format, or the policy would
            not have made one of its choices.
        """
        where = checks.path("path", path).absolute()
        where.stat()  # raises FileNotFoundError
        with _named(where), closing(sqlite3.connect(f"{where.as_uri()}?mode=ro", uri=True)) as saved:
            _check_format(saved)
            made = json.loads(saved.execute("SELECT how FROM made").fetchone()[0])
            seed = SeedSequence(made.pop("seed"), spawn_key=made.pop("spawn_key"))
            player = cls(policy, **made, seed=seed)
            saved.backup(player._db)
            player._catch_up()
        return player

    def _open(self, where: pathlib.Path | None, made: dict[str, Any]) -> None:
        """Make a journal or go on with one that was made with the same arguments, and play all that is in it."""
        with _named(where), ExitStack() as failed:
            self._db = sqlite3.connect(where or ":memory:", timeout=60, isolation_level=None, check_same_thread=False)
            weakref.finalize(self, self._db.close)
            failed.callback(self._db.close)
            _check_format(self._db)  # before anything is changed in a file that may be another program's
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")  # a commit is on the disk, whatever fails then
            self._db.executescript(_TABLES)
            self._db.execute("INSERT INTO made SELECT ? WHERE NOT EXISTS (SELECT * FROM made)", (json.dumps(made),))
            found = json.loads(self._db.execute("SELECT how FROM made").fetchone()[0])
            for name, value in made.items():
                if found[name] != value:
                    raise ValueError(f"it was made with {name} {found[name]}, not {value}")
            self._catch_up()
            self._db.execute("COMMIT")
            failed.pop_all()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Let one call work on the journal, with all that is in it played; what it does not commit is undone."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._catch_up()
                yield
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def _catch_up(self) -> None:
        """Play what is new in the journal: once it is opened all of it, later what other processes have written."""
        rows = self._db.execute("SELECT * FROM log WHERE id > ? ORDER BY id", (self._read,))
        for (what, t), group in groupby(rows, key=itemgetter(1, 2)):
            found = list(group)
            if what == "choice":
                self._choose_again(t, found)
            for row in found:
                if what == "reward":
                    self._learn(t, row[3], row[8])
                elif what != "choice":
                    self._move(what, row[3])
            self._read = found[-1][0]

    def _choose_again(self, t: int, rows: list[Any]) -> None:
        """Play a round of the journal: the arms must be those that it has."""
        shown, members = (None if text is None else np.array(json.loads(text)) for text in rows[0][5:7])
        there = self._present(None if rows[0][7] is None else json.loads(rows[0][7]))
        found = Choice(t, *zip(*(row[3:5] for row in rows), strict=True))
        with self._unless_it_fails():
            choice = self._choose(shown, members, there)
            # The last bit of a probability may be another on another machine, which changes no history.
            if choice[:2] != found[:2] or not all(map(math.isclose, choice.chances, found.chances)):
                raise ValueError(
                    f"it has {found}, and {self.policy.name!r} now makes {choice}: its rule, a setting or the seed is "
                    f"another"
                )
        self._record(choice, shown, members)

    def _write(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Write rows to the journal and commit them: once it returns they are on the disk."""
        numbered = [(id, *row) for id, row in enumerate(rows, self._read + 1)]
        self._db.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", numbered)
        self._db.execute("COMMIT")
        self._read += len(numbered)

    @contextmanager
    def _unless_it_fails(self) -> Iterator[None]:
        """Put the agent and its stream back if what is tried with them fails."""
        before, state = self._agent.copy(), self._rng.bit_generator.state
        try:
            yield
        except BaseException:
            self._agent, self._rng.bit_generator.state = before, state
            raise

    def _choose(self, shown: Any, members: Any, there: NDArray[np.int64]) -> Choice:
        """Ask the agent for the next round."""
        self._agent.meet(there)
        arms = tuple(self._agent.choose(self._t + 1, self._rng, shown, members).tolist())
        p = self._agent.p.tolist()
        return Choice(self._t + 1, tuple([self._names[arm] for arm in arms]), tuple([p[arm] for arm in arms]))

    def _record(self, choice: Choice, shown: Any, members: Any) -> None:
        """Let the agent count a round."""
        self._t = choice.round
        self._agent.record(choice.round, np.array([self._places[arm] for arm in choice.arms]), shown, members)

    def _learn(self, t: int, name: Any, reward: float) -> None:
        """Let the agent learn the reward of a choice."""
        asked = "SELECT chance, contexts FROM log WHERE round = ? AND arm = ? AND what = 'choice'"
        (chance, contexts), arm = self._db.execute(asked, (t, name)).fetchone(), self._places[name]
        context = None if contexts is None else np.array(json.loads(contexts)[arm])
        self._agent.observe(t, arm, reward, chance, context)

    def _waiting(self, first: int, last: int) -> dict[int, tuple[Any, ...]]:
        """Return the arms of some rounds that have a choice in the journal and no reward."""
        asked = (
            "SELECT round, arm FROM log WHERE round BETWEEN ? AND ? AND what IN ('choice', 'reward') "
            "GROUP BY round, arm HAVING count(*) = 1 ORDER BY min(id)"
        )
        rows = self._db.execute(asked, (first, last))
        return {t: tuple(arm for _, arm in group) for t, group in groupby(rows, key=itemgetter(0))}

    def _seen_contexts(self, contexts: ArrayLike | None) -> NDArray[np.float64]:
        if contexts is None:
            raise TypeError(f"contexts must be given: policy {self.policy.name!r} chooses by them")
        shown = checks.array("contexts", contexts, 2)
        if shown.shape != (self.arms, self._sizes["d"]):
            raise ValueError(f"contexts must be of shape {(self.arms, self._sizes['d'])}, not {shown.shape}")
        return shown.copy()

    def _members(self, groups: ArrayLike | None) -> NDArray[np.int64]:
        if groups is None:
            return np.zeros(self.arms, np.int64)
        given = checks.integers("groups", groups, 0, self._sizes["G"] - 1)
        if len(given) != self.arms:
            raise ValueError(f"groups must be {self.arms} whole numbers, one an arm, not {len(given)}")
        return np.array(given, np.int64)


def _check_format(db: sqlite3.Connection) -> None:
    """Refuse a database that is no journal, or of another format."""
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()  # first: another process may be making them
    owner, made = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if tables and (owner, made) != (_OWNER, _FORMAT):
        kind = f"a journal of format {made}" if owner == _OWNER else "another program's database"
        raise ValueError(f"it is {kind}, and fairlib {__version__} reads journals of format {_FORMAT}")


@contextmanager
def _named(where: pathlib.Path | None) -> Iterator[None]:
    """Name the file in what is raised about its journal."""
    try:
        yield
    except (sqlite3.Error, ValueError) as error:
        if where is None:
            raise
        raise ValueError(f"{where} must be the journal of this player: {error}") from error


def _sizes(
    policy: Any, arms: Any, dimension: Any, groups: Any, horizon: Any, rewards: tuple[float, float]
) -> dict[str, int]:
    """Take the sizes of a game: K, with contexts d and G, and T if the number of rounds is limited."""
    sizes = {"K": checks.integer("arms", _known("arms", arms, policy), policy.plays)}
    number = checks.integer("groups", groups, 1)
    if isinstance(policy, ContextPolicy):
        sizes |= {"d": checks.integer("dimension", _known("dimension", dimension, policy), 1), "G": number}
    elif dimension is not None or number != 1:
        raise TypeError(f"dimension and groups must be left out, as policy {policy.name!r} takes no contexts")
    last = policy.horizon if horizon is None else horizon
    rounds = policy.check_game(sizes, policy.plays, rewards, 1 if last is None else last)
    if last is None:
        policy.check_endless()
        return sizes
    return {**sizes, "T": rounds}


def _known(name: str, given: Any, policy: Any) -> Any:
    """Return a size that is given, or else the one that the policy is made for."""
    size = getattr(policy, name) if given is None else given
    if size is None:
        raise TypeError(f"{name} must be given, as policy {policy.name!r} is made for any number")
    return size


def _range(rewards: Any) -> tuple[float, float]:
    """Take the range of the rewards; its ends may be infinite."""
    allowed = "the smallest and the largest reward, such as (0, 1)"
    ends = checks.floats("rewards", checks.pair("rewards", rewards, allowed), allowed)
    if ends.ndim != 1 or not ends[0] < ends[1]:
        raise ValueError(f"rewards must be {allowed}, not {checks.shown(rewards)}")
    for end in ends[np.isfinite(ends)]:
        checks.real("rewards", end)
    return float(ends[0]), float(ends[1])
