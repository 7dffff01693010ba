"""A policy at work for others: it answers requests, hears what came of them, and can be killed at any moment."""

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import ArrayLike

from fairlib import checks
from fairlib.contexts import ContextPolicy
from fairlib.player import Choice, Player, _range
from fairlib.policy import Policy

__all__ = ["Service"]

_TABLES = """
CREATE TABLE IF NOT EXISTS made (how TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS log (
    id INTEGER PRIMARY KEY,  -- the order in which it happened
    what TEXT NOT NULL,      -- 'choice' or 'news'
    request TEXT NOT NULL,
    round INTEGER NOT NULL,
    arm INTEGER NOT NULL,
    chance REAL NOT NULL,    -- with which the arm was chosen
    contexts TEXT,           -- of a choice, as JSON
    reward REAL,             -- of news
    UNIQUE (request, what)
);
CREATE VIEW IF NOT EXISTS rounds AS
    SELECT choice.round, choice.request, choice.arm, choice.chance AS propensity, choice.contexts AS features,
           news.reward
    FROM log AS choice LEFT JOIN log AS news ON news.request = choice.request AND news.what = 'news'
    WHERE choice.what = 'choice' ORDER BY choice.id
"""


class Service:
    """A player behind a database: each request is answered once, and a process that is killed loses nothing.

    A log in the database holds all that was chosen and all that was heard, in order, and nothing else counts: a choice
    is written before anybody is told of it, and what a player knows follows from the log. Each process has a player
    of its own, which first reads what others have written. So any number of processes and threads may serve one file,
    and whoever starts later goes on where the log ends.

    Parameters
    ----------
    path : path-like
        The SQLite file, on a disk of this machine; it is made if there is none.
    policy : Policy or ContextPolicy
        Who plays, one arm a round.
    arms : int, optional
        Number of arms K; needed unless the policy is made for some number.
    dimension : int, optional
        Length d of a context; needed where arms have contexts, unless the policy is made for some length.
    horizon : int, optional
        How many rounds may be played, by default as many as the policy is made for.
    rewards : tuple of two floats
        The smallest and the largest reward that there can be.
    seed : int
        Where the policy's chance comes from. Who knows it and the log knows all choices to come.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what `Player` takes, the policy plays several arms a round, or the file holds the log of
        another service.
    RuntimeError
        If the log holds a choice that this policy would not have made.
    sqlite3.Error
        If the file can't be opened or is no database.

    See Also
    --------
    Player : what plays.

    Notes
    -----
    The table `log` is only ever added to. The view `rounds` shows a row for each round, with the reward if it has been
    told; its columns are those that `fairlib.replay.replay` reads. A process must make its own service, for a
    connection to SQLite does not survive a fork. Only one at a time can write: several processes are there so that one
    may stop, and not for speed. Starting takes a while, as all rounds are played again.

    Examples
    --------
    >>> import tempfile
    >>> import fairlib as fl
    >>> service = Service(tempfile.mkdtemp() + "/shop.db", fl.ucb1(), 3)
    >>> service.choose("visit 1")
    Choice(round=1, arms=(0,), chances=(1.0,))
    >>> service.choose("visit 1").round  # asked again, it says the same again
    1
    >>> service.observe("visit 1", 1.0), service.observe("visit 1", 1.0)
    (True, False)
    >>> service.close()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        policy: Policy | ContextPolicy,
        arms: int | None = None,
        *,
        dimension: int | None = None,
        horizon: int | None = None,
        rewards: tuple[float, float] = (0.0, 1.0),
        seed: int = 0,
    ) -> None:
        where = checks.path("path", path)
        given: dict[str, Any] = {"arms": arms, "dimension": dimension, "horizon": horizon, "rewards": _range(rewards)}
        given["seed"] = checks.whole("seed", seed, 0, None)
        self.policy, self._given, self._lock = policy, given, threading.RLock()
        self._begin()
        player = self._player
        if player.plays != 1:
            raise ValueError(f"policy must play one arm a round, not {player.plays} as {policy.name!r} does")
        how = {"policy": repr(policy), "rule": policy.bound.mark[:12], "arms": player.arms, "dimension": dimension}
        how |= {"horizon": player.horizon, "rewards": list(player.rewards)}
        how |= {"seed": given["seed"] if given["seed"] < 2**64 else hex(given["seed"])}
        self._db = sqlite3.connect(where, timeout=60, isolation_level=None, check_same_thread=False)
        try:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")  # a commit is on the disk, whatever fails then
            with self._transaction() as db:
                for statement in _TABLES.split(";\n"):
                    db.execute(statement)
                if (made := db.execute("SELECT how FROM made").fetchone()) is None:
                    db.execute("INSERT INTO made VALUES (?)", (json.dumps(how),))
                elif (was := json.loads(made[0])) != how:
                    other = ", ".join(f"{each} {was[each]}, not {how[each]}" for each in how if was[each] != how[each])
                    raise ValueError(f"policy and the other arguments must be those of {where}, made with {other}")
                self._catch_up()
        except BaseException:
            self._db.close()
            raise

    def choose(self, request: str, contexts: ArrayLike | None = None) -> Choice:
        """Choose the arm for a request, or say again what was chosen for it.

        Parameters
        ----------
        request : str
            What the asker calls it: its own for each round, and the same if it has to ask again.
        contexts : array_like, shape (K, d), optional
            The context of each arm, where arms have contexts.

        Returns
        -------
        Choice
            The round, the arm and its probability, which are in the log by now.

        Raises
        ------
        TypeError, ValueError
            If the request is no short printable text or was made with other contexts, or the contexts or the horizon
            are not as `Player.choose` wants them. Then nothing has changed.
        sqlite3.Error
            If the log can't be written; then nothing has changed.
        """
        name = _request(request)
        text = None if contexts is None else json.dumps(checks.array("contexts", contexts, 2).tolist())
        with self._transaction() as db:
            if (said := self._said(name)) is not None:
                if said[3] != text:
                    raise ValueError(
                        f"request must be a new one where the contexts are, but {name!r} has been answered"
                    )
                return Choice(said[0], (said[1],), (said[2],))
            self._catch_up()
            choice = self._player.choose(contexts)
            row = name, choice.round, choice.arms[0], choice.chances[0], text
            added = "INSERT INTO log (what, request, round, arm, chance, contexts) VALUES ('choice', ?, ?, ?, ?, ?)"
            self._read = db.execute(added, row).lastrowid
            return choice

    def observe(self, request: str, reward: float) -> bool:
        """Take what the arm paid that was chosen for a request.

        Parameters
        ----------
        request : str
            The request.
        reward : float
            What the arm paid, in `rewards`.

        Returns
        -------
        bool
            False if it had been told before, and has changed nothing.

        Raises
        ------
        TypeError, ValueError
            If nothing was chosen for the request, the reward is out of range, or another one has been told. Then
            nothing has changed.
        sqlite3.Error
            If the log can't be written; then nothing has changed.
        """
        name, value = _request(request), checks.real("reward", reward, *self._player.rewards)
        with self._transaction() as db:
            if (said := self._said(name)) is None:
                raise ValueError(f"request must be one that was answered, not {name!r}")
            told = db.execute("SELECT reward FROM log WHERE request = ? AND what = 'news'", (name,)).fetchone()
            if told is not None and told[0] != value:
                raise ValueError(f"reward must be {told[0]:g}, as was told of {name!r} before, not {reward}")
            if told is None:
                added = "INSERT INTO log (what, request, round, arm, chance, reward) VALUES ('news', ?, ?, ?, ?, ?)"
                db.execute(added, (name, *said[:3], value))
            return told is None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Let one process at a time read and write; what happens inside is written whole, or not at all."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException as error:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                if not isinstance(error, TypeError | ValueError):  # the player may know what is not in the log
                    self._begin()
                raise

    def _begin(self) -> None:
        """Take a player that has read nothing."""
        self._player, self._read = Player(self.policy, **self._given), 0

    def _catch_up(self) -> None:
        """Let the player live through what it has not read."""
        unread = "SELECT id, what, round, arm, chance, contexts, reward FROM log WHERE id > ? ORDER BY id"
        for number, what, t, arm, chance, text, reward in self._db.execute(unread, (self._read,)):
            if what == "news":
                self._player.observe(t, reward)
            elif (again := self._player.choose(text and json.loads(text))) != (t, (arm,), (chance,)):
                raise RuntimeError(
                    f"the log has arm {arm} with probability {chance:g} in round {t}, and {self.policy.name!r} now "
                    f"chooses {again}: the log or the rule was changed, or it was written by another version or machine"
                )
            self._read = number

    def _said(self, name: str) -> tuple[Any, ...] | None:
        chosen = "SELECT round, arm, chance, contexts FROM log WHERE request = ? AND what = 'choice'"
        found: tuple[Any, ...] | None = self._db.execute(chosen, (name,)).fetchone()
        return found


def _request(request: Any) -> str:
    allowed = "a text of 1 to 200 printable characters"
    if not isinstance(request, str):
        raise TypeError(f"request must be {allowed}, not {checks.said(request)}")
    if not (0 < len(request) <= 200 and request.isprintable()):
        raise ValueError(f"request must be {allowed}, not {request[:50]!r}")
    return request
