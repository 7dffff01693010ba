"""A player behind a database: it answers requests, learns their rewards, and can be killed at any moment."""

import hashlib
import json
import logging
import math
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from numpy.typing import ArrayLike

from fairlib import checks
from fairlib._version import __version__
from fairlib.checks import Seed, checked
from fairlib.deploy.player import Choice, Player, RewardRange, _range
from fairlib.engine.stepping import AnyPolicy, GivenArms, GivenDimension, GivenHorizon
from fairlib.files import GivenPath

__all__ = ["Service", "ServiceError"]

_LOG = logging.getLogger("fairlib.deploy")

_OWNER = 0x66616972  # "fair", by which SQLite and the program `file` recognise the file
_FORMAT = 1
_SAME = 1e-7  # relative; a reward loses less than this in a client that keeps it as a float32

_TABLES = """
CREATE TABLE made (how TEXT NOT NULL);
CREATE TABLE log (
    id INTEGER PRIMARY KEY,  -- the order in which it happened
    what TEXT NOT NULL,      -- 'choice' or 'feedback'
    request TEXT NOT NULL,
    round INTEGER NOT NULL,
    arm INTEGER NOT NULL,    -- a choice of several arms has a row for each
    chance REAL NOT NULL,    -- with which the arm was chosen
    contexts TEXT,           -- of a choice, as JSON
    reward REAL,             -- of feedback
    UNIQUE (request, what, arm)
);
CREATE TABLE snapshot (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id INTEGER NOT NULL,     -- the last row of the log that the player had read
    seal TEXT NOT NULL,
    player BLOB NOT NULL     -- as `Player.save` writes it
);
CREATE VIEW rounds AS
    SELECT choice.round, choice.request, choice.arm, choice.chance AS propensity, choice.contexts AS features,
           feedback.reward
    FROM log AS choice
    LEFT JOIN log AS feedback
        ON feedback.request = choice.request AND feedback.what = 'feedback' AND feedback.arm = choice.arm
    WHERE choice.what = 'choice' ORDER BY choice.id
"""


class ServiceError(RuntimeError):
    """A file that a service can't work with.

    It can't be opened, is the file of another program or of another format, or its log holds choices that this policy
    would not have made. The message names the file.

    Examples
    --------
    >>> import fairlib as fl
    >>> try:
    ...     Service("nowhere/shop.db", fl.ucb1(), 3)
    ... except ServiceError as error:
    ...     print(error)
    nowhere/shop.db can't be opened: unable to open database file
    """


class Service:
    """A player behind a database: each request is answered once, and a process that is killed loses nothing.

    A log in the database holds all choices and all feedback, in order, and nothing else counts: a choice is written
    before it is answered, and what a player knows follows from the log. Each process has a player of its own, which
    first reads what others have written. So any number of processes and threads may serve one file, and a process that
    starts later goes on where the log ends.

    A service has no users, no passwords and no encryption: see the notes.

    Parameters
    ----------
    path : path-like
        The SQLite file, on a disk of this machine; it is made if there is none.
    policy : Policy or ContextPolicy
        The policy.
    arms : int, optional
        Number of arms K; needed unless the policy is made for some number.
    dimension : int, optional
        Length d of a context; needed where arms have contexts, unless the policy is made for some length.
    horizon : int, optional
        How many rounds may be played, by default as many as the policy is made for.
    rewards : tuple of two floats
        The smallest and the largest reward that there can be.
    seed : int
        The seed of the policy's draws.
    snapshot_every : int
        The number of rounds after which the player is stored, so that opening the file plays fewer rounds than this
        again. With 0 no snapshot is stored or used: opening plays the whole log, and checks each choice in it.

    Raises
    ------
    TypeError, ValueError
        If an argument is not what `Player` takes, the path names no file on a disk, or the file was made with other
        arguments.
    ServiceError
        If the file can't be opened, is no file of a service or has another format, or the log holds a choice that this
        policy would not have made.

    See Also
    --------
    app : answers HTTP requests with a service.
    Player : plays without a database.

    Notes
    -----
    The table `log` is only ever added to. The view `rounds` has a row for each arm that was chosen in a round, with its
    reward if that has been observed; `fairlib.experiments.replay` reads its columns. Only one process at a time can
    write: several processes let one of them stop, and do not add speed.

    Names of requests can be guessed, and stay in the log. Any client can send the reward of another client's request,
    read it from the refusal of another reward, and use up rounds and the horizon. The seed and the log together give
    all choices to come, so the seed must be secret, and 0 is not. The file can be read by every user whom the umask
    lets.

    A snapshot is sealed against damage, but not against forgery: a program that can write the file can write the seal,
    too.

    A connection to SQLite does not survive a fork, so a process must make its own service. And a process in which
    another thread plays should not be forked at all: the child may wait forever for a lock of the compiler.

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

    @checked
    def __init__(
        self,
        path: GivenPath,
        policy: AnyPolicy,
        arms: GivenArms | None = None,
        *,
        dimension: GivenDimension | None = None,
        horizon: GivenHorizon | None = None,
        rewards: RewardRange = (0.0, 1.0),
        seed: Seed = 0,
        snapshot_every: Annotated[int, checks.Integer(0)] = 1000,
    ) -> None:
        self._path = _on_disk(path)
        given: dict[str, Any] = {"arms": arms, "dimension": dimension, "horizon": horizon, "rewards": _range(rewards)}
        given["seed"], self._every = seed, snapshot_every
        self.policy, self._given, self._lock = policy, given, threading.RLock()
        self._begin()
        player = self._player
        how = {"policy": repr(policy), "rule": policy.bound_rule.mark[:12], "arms": player.arms, "dimension": dimension}
        how |= {"horizon": player.horizon, "rewards": list(player.rewards)}
        how |= {"seed": given["seed"] if given["seed"] < 2**64 else hex(given["seed"])}
        self._how = json.dumps(how)
        try:
            self._db = sqlite3.connect(self._path, timeout=60, isolation_level=None, check_same_thread=False)
            try:
                self._open()
            except BaseException:
                self._db.close()
                raise
        except sqlite3.Error as error:
            raise ServiceError(f"{self._path} can't be opened: {error}") from error

    def choose(
        self,
        request: str,
        contexts: ArrayLike | None = None,
    ) -> Choice:
        """Choose the arms for a request, or say again what was chosen for it.

        Parameters
        ----------
        request : str
            The client's name for the request: a new one for each round, and the same one if it has to ask again.
        contexts : array_like, shape (K, d), optional
            The context of each arm, where arms have contexts.

        Returns
        -------
        Choice
            The round, the arms and their probabilities, which are in the log by now.

        Raises
        ------
        TypeError, ValueError
            If the request is no short printable text or was made with other contexts, or the contexts or the horizon
            are not as `Player.choose` wants them. Then nothing has changed.
        sqlite3.Error
            If the log can't be written. Ask again: the same request is never played twice.
        ServiceError
            If another process has written a choice to the log that this policy would not have made.
        """
        name = _request(request)
        shown = None if contexts is None else checks.array("contexts", contexts, 2) + 0.0  # makes 0.0 of -0.0
        text = None if shown is None else json.dumps(shown.tolist())
        with self._lock:
            with self._transaction() as db:
                if said := self._said(name):
                    if said[0][3] != text:
                        raise ValueError(
                            f"request must be a new one where the contexts are, but {name!r} has been answered"
                        )
                    rounds, arms, chances, _ = zip(*said, strict=True)
                    return Choice(rounds[0], arms, chances)
                self._catch_up()
                choice = self._player.choose(shown)
                for arm, chance in zip(choice.arms, choice.chances, strict=True):
                    row = "choice", name, choice.round, arm, chance, text
                    added = "INSERT INTO log (what, request, round, arm, chance, contexts) VALUES (?, ?, ?, ?, ?, ?)"
                    self._read = db.execute(added, row).lastrowid or 0
            if self._every and choice.round % self._every == 0:
                self._keep()
            return choice

    def observe(
        self,
        request: str,
        reward: float,
        arm: int | None = None,
    ) -> bool:
        """Take the reward of an arm that was chosen for a request.

        Parameters
        ----------
        request : str
            The request.
        reward : float
            The reward of the arm, in the range `rewards`.
        arm : int, optional
            The arm; may be left out if one was chosen.

        Returns
        -------
        bool
            False if the reward had been observed before, and nothing has changed. Two rewards count as the same if they
            agree to seven digits, as they do if one was a float32 in between.

        Raises
        ------
        TypeError, ValueError
            If nothing was chosen for the request, the arm is missing or was not chosen, the reward is out of range, or
            another reward has been observed. Then nothing has changed.
        sqlite3.Error
            If the log can't be written. Send it again: the same feedback is never counted twice.
        """
        name, value = _request(request), checks.real("reward", reward, *self._player.rewards)
        with self._transaction() as db:
            said = {row[1]: row for row in self._said(name)}
            left = ", ".join(map(str, said))
            if not said:
                raise ValueError(f"request must be one that was answered, not {name!r}")
            if arm is None and len(said) > 1:
                raise ValueError(f"arm must be given, as several were chosen for {name!r}: {left}")
            which = next(iter(said)) if arm is None else checks.integer("arm", arm, 0, self._player.arms - 1)
            if which not in said:
                raise ValueError(f"arm must be one that was chosen for {name!r} ({left}), not {checks.shown(arm)}")
            known = "SELECT reward FROM log WHERE request = ? AND what = 'feedback' AND arm = ?"
            if (told := db.execute(known, (name, which)).fetchone()) is None:
                added = "INSERT INTO log (what, request, round, arm, chance, reward) VALUES ('feedback', ?, ?, ?, ?, ?)"
                db.execute(added, (name, *said[which][:3], value))
            elif not math.isclose(told[0], value, rel_tol=_SAME):
                raise ValueError(f"reward must be {told[0]!r}, as was observed for {name!r} before, not {value!r}")
            return told is None

    def rounds(self) -> int:
        """Return how many rounds have been played, by all processes.

        It does not wait while another process writes.

        Returns
        -------
        int
            The number of the last round in the log.

        Raises
        ------
        sqlite3.Error
            If the file can't be read.
        """
        place = f"{self._path.absolute().as_uri()}?mode=ro"
        last = "SELECT round FROM log WHERE what = 'choice' ORDER BY id DESC LIMIT 1"
        with closing(sqlite3.connect(place, uri=True, timeout=1)) as db:
            found = db.execute(last).fetchone()
        return int(found[0]) if found else 0

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _open(self) -> None:
        """Take a new file, or go on with one that was made with the same arguments."""
        self._db.execute("BEGIN")
        self._is_new()  # before anything is changed in a file that may be another program's
        self._db.execute("COMMIT")
        if (mode := self._db.execute("PRAGMA journal_mode = WAL").fetchone()[0]) != "wal":
            raise ServiceError(f"{self._path} must be on a disk of this machine: its journal can't be WAL, only {mode}")
        self._db.execute("PRAGMA synchronous = FULL")  # a commit is on the disk, whatever fails then
        with self._transaction() as db:
            if self._is_new():
                for statement in _TABLES.split(";\n"):
                    db.execute(statement)
                db.execute("INSERT INTO made VALUES (?)", (self._how,))
                db.execute(f"PRAGMA application_id = {_OWNER}")
                db.execute(f"PRAGMA user_version = {_FORMAT}")
            self._check_made(db.execute("SELECT how FROM made").fetchone())
            again = self._catch_up()
        if self._every and again >= self._every:
            self._keep()

    def _is_new(self) -> bool:
        """Say whether the file is empty; refuse one that no service of this format has made."""
        owner, made = (self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        tables = {name for (name,) in self._db.execute("SELECT name FROM sqlite_master")}
        if (owner, made) == (_OWNER, _FORMAT):
            return False
        if not (owner or made or tables):
            return True
        if owner == _OWNER:
            raise ServiceError(f"{self._path} is of format {made}, and fairlib {__version__} reads format {_FORMAT}")
        raise ServiceError(f"{self._path} must be a file that a Service has made, not another program's database")

    def _check_made(self, row: Any) -> None:
        """Refuse a file that was made with other arguments, and name them."""
        if row is not None and row[0] == self._how:
            return
        how = json.loads(self._how)
        try:
            was = json.loads(row[0])
            other = ", ".join(f"{each} {was[each]}, not {how[each]}" for each in how if was[each] != how[each])
        except (TypeError, ValueError, KeyError, RecursionError) as error:
            raise ServiceError(f"{self._path} must say what it was made with: its table `made` is damaged") from error
        raise ValueError(f"policy and the other arguments must be those of {self._path}, made with {other}")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Let one process at a time read and write; its changes are written whole, or not at all."""
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

    def _catch_up(self) -> int:
        """Let the player play the part of the log that it has not read, and return the number of its rounds."""
        if self._read == 0 and self._every:
            self._restore()
        count, plays = 0, self._player.plays
        unread = "SELECT id, what, request, round, arm, chance, contexts, reward FROM log WHERE id > ? ORDER BY id"
        rows = self._db.execute(unread, (self._read,))
        for row in rows:
            number, what, request, t, arm, _, text, reward = row
            try:
                if what == "feedback":
                    self._player.observe(t, reward, arm)
                elif what == "choice":
                    found = [row, *islice(rows, plays - 1)]
                    choice = self._player.choose(text and json.loads(text))
                    each = zip(choice.arms, choice.chances, strict=True)
                    if [one[1:6] for one in found] != [(what, request, choice.round, *pair) for pair in each]:
                        raise ServiceError(
                            f"{self._path} has {_shown(found)} in round {t}, and {self.policy.name!r} now chooses "
                            f"{choice}: the log or the rule was changed, or another version or machine has written it"
                        )
                    number, count = found[-1][0], count + 1
                else:
                    raise ValueError(f"what must be 'choice' or 'feedback', not {checks.shown(what)}")
            except (TypeError, ValueError, RecursionError) as error:
                raise ServiceError(
                    f"{self._path} has a row in its log that no service wrote, {number}: {error}"
                ) from error
            self._read = number
        return count

    def _keep(self) -> None:
        """Store the player. If that fails nothing is lost: opening plays more rounds again."""
        try:
            with tempfile.TemporaryDirectory(prefix="fairlib-") as folder:
                self._player.save(Path(folder, "player"))
                kept = Path(folder, "player").read_bytes()
            new = 1, self._read, self._seal(self._read, kept), kept
            self._db.execute("REPLACE INTO snapshot (one, id, seal, player) VALUES (?, ?, ?, ?)", new)
        except (OSError, sqlite3.Error) as error:
            _LOG.warning("%s: the player could not be stored: %s", self._path, error)

    def _restore(self) -> None:
        """Load the stored player, if it is whole and is this policy's."""
        if (row := self._db.execute("SELECT id, seal, player FROM snapshot").fetchone()) is None:
            return
        number, seal, kept = row
        try:
            if seal != self._seal(number, kept):
                raise ValueError("it is damaged, or of another log")
            with tempfile.TemporaryDirectory(prefix="fairlib-") as folder:
                Path(folder, "player").write_bytes(kept)
                self._player = Player.load(Path(folder, "player"), self.policy)
        except (OSError, TypeError, ValueError) as error:
            _LOG.warning("%s: the stored player is passed over, and the log played again: %s", self._path, error)
        else:
            self._read = number

    def _seal(self, number: int, kept: bytes) -> str:
        """Return a seal of the stored player, the arguments and the row of the log that it goes on from."""
        last = self._db.execute("SELECT * FROM log WHERE id = ?", (number,)).fetchone()
        return hashlib.sha256(repr((self._how, last)).encode() + kept).hexdigest()

    def _said(self, name: str) -> list[Any]:
        chosen = "SELECT round, arm, chance, contexts FROM log WHERE request = ? AND what = 'choice' ORDER BY id"
        return self._db.execute(chosen, (name,)).fetchall()


def _shown(rows: list[Any]) -> str:
    """Say what the rows of a choice hold, for a message."""
    return " and ".join(f"arm {row[4]} with probability {row[5]:g}" for row in rows)


def _on_disk(path: Any) -> Path:
    """Take the path of a file; SQLite has names for a database that is lost when the process ends."""
    found = checks.path("path", path)
    if str(path) == ":memory:" or str(path).startswith("file:"):
        raise ValueError(f"path must be the path of a file on a disk, where the log outlives the process, not {path!r}")
    return found


def _request(request: Any) -> str:
    allowed = "a text of 1 to 200 printable characters"
    if not isinstance(request, str):
        raise TypeError(f"request must be {allowed}, not {checks.shown(request)}")
    if not (0 < len(request) <= 200 and request.isprintable()):
        raise ValueError(f"request must be {allowed}, not {request[:50]!r}")
    return request
