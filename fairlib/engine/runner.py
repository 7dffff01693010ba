"""Runners: they play the runs of a game one after another, compiled or in plain Python, in memory set up once."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import SeedSequence

from fairlib.engine.agent import fresh_past, fresh_ridge
from fairlib.engine.loops import ArmsRun, ContextsRun, compiled_loop, play_contexts, play_rounds
from fairlib.engine.seeding import Streams
from fairlib.engine.session import ArmsSession, Session
from fairlib.rules.argument_block import code_address, pack_arrays, view
from fairlib.rules.bound_rule import broken_off
from fairlib.rules.jit import entry_point

_MUCH = 2**30  # bytes
_ROOM = 2**20  # for feedback under way: numbers of rewards


def check_memory(size: int, what: str, instead: str = "record fewer rounds, or play fewer of them") -> None:
    """Warn how much memory something takes, if it is much, before it is taken; refuse it if less is free."""
    if size < _MUCH:
        return
    import psutil  # here, as the import of the package must stay quick

    free = psutil.virtual_memory().available
    text = f"{what} takes {size / _MUCH:,.1f} GiB of memory"
    if size > free:
        raise MemoryError(f"{text}, and {free / _MUCH:,.1f} GiB are free: {instead}")
    warnings.warn(text, stacklevel=3)


def make_runner(game: Session, recorded: Any, chance: SeedSequence) -> "Runner":
    """Return a runner for a game; the last of the rounds to record ends a run."""
    return (ArmsRunner if isinstance(game, ArmsSession) else ContextsRunner)(game, recorded, chance)


class Runner(ABC):
    """It plays the runs of a game; its memory is that of one run, so each thread has its own."""

    kind: ClassVar[Any]
    """What the loop works with: `ArmsRun` or `ContextsRun`."""
    loop: ClassVar[Callable[..., int]]
    takes: ClassVar[dict[str, tuple[str, ...]]]
    """The functions of the game that the loop calls, in its order, each with the arrays that it is given."""
    cleared: tuple[str, ...]
    """The arrays that are zero when a run begins."""
    restored: tuple[str, ...] = ()
    """Those that are set to their start."""
    in_python = False

    def __init__(self, game: Any, recorded: Any, chance: SeedSequence) -> None:
        self.game, self.recorded, self.sizes = game, recorded, game.sizes
        self._streams = Streams(chance)
        self._most, self._room = int(recorded[-1]) * game.plays, _ROOM
        self._set_up()

    @abstractmethod
    def own(self, room: int) -> dict[str, Any]:
        """Return the arrays that are a kind's own, with room for so much feedback, and other fields of its runs."""

    @abstractmethod
    def seen(self) -> dict[str, Any]:
        """Return what the rule would be given after the last run: counts and sums, or the ridge regression."""

    def _set_up(self) -> None:
        bound, metrics, k = self.game.policy.bound_rule, self.game.metrics, self.sizes["K"]
        self.arrays = {
            "params": bound.numbers(self.sizes),
            "state": bound.state(self.sizes),
            "p": np.zeros(k),
            "selected": np.zeros(k, np.int64),
            # Feedback that has arrived and that the rule has not read is from cursors[0] to cursors[1]; each learner
            # that reads it has two such numbers more. Empty for a rule that does not ask for it.
            "cursors": np.zeros(2 * bound.readers, np.int64),
            "table": self.game.table,
            "metric_params": metrics.numbers(self.sizes),
            "sums": metrics.state(self.sizes),
            **self.own(min(self._room, self._most)),
        }
        self._used = False  # memory that is never written takes none: for the first run nothing is cleared
        self._starts = [(each, each.copy()) for each in self._flat(self.restored)]
        if self.in_python or self.game.interpreted:
            self._blocks = [0] * len(self.takes)
            self._play = partial(self.loop, *self.in_plain_python())
        else:
            self._held = [pack_arrays(*self._flat(names)) for names in self.takes.values()]
            self._blocks = [block.ctypes.data for block in self._held]
            called = [made for name in self.takes if (made := getattr(self.game, name))]
            functions = tuple(code_address(each.compiled) for each in called)
            self._play = partial(entry_point(compiled_loop(self.kind, len(functions))), functions)
        self._fields = {name: array for name, array in self.arrays.items() if name in self.kind._fields}

    def in_plain_python(self) -> list[Callable[..., Any]]:
        """Return what the loop calls in plain Python: each function knows its arrays, and is given no block."""
        game, given = self.game, {name: [self.arrays[each] for each in names] for name, names in self.takes.items()}
        (params, state, *seen, p), (table, *drawn) = given["rule"], given["draw"]
        seen = [each if each is self.arrays["cursors"] else view(each) for each in seen]
        metric_params, sums, *known = given["metrics_function"]
        there = [each if each is self.arrays["available"] else view(each) for each in given.get("there", ())]
        made: dict[str, Callable[..., Any]] = {
            "rule": lambda _, t, rng: game.rule(params, state, t, *seen, rng, p),
            "draw": lambda _, *more: game.draw(table, *more, *drawn),
            "delay": lambda _, *more: game.delay(game.delay_params, *more),
            "metrics_function": lambda _, t, *arm: game.metrics_function(metric_params, sums, t, *known, *arm),
            "there": game.there and (lambda _, t, rng: game.there(*there, t, rng)),
        }
        return [made[name] for name in self.takes]

    def play(self, run: int, selected_at: Any, reward_at: Any, sums_at: Any, watch: Any) -> None:
        """Play a run, and write what is recorded into three arrays; `watch` is that of `ArmsRun`."""
        given = {"selected_at": selected_at, "reward_at": reward_at, "sums_at": sums_at, "watch": watch}
        given |= {"recorded": self.recorded, "policy_rng": self._streams.policy_rng, "env_rng": self._streams.env_rng}
        while True:
            self._streams.begin(run)
            if self._used:
                self._clear()
            self._used = True
            this = self.kind(*self._blocks, **self._fields, **given)
            try:
                failed = self._play(this)  # all that it is given is of the right types
            except (IndexError, ZeroDivisionError, ValueError) as error:
                whose = f"the rule of {self.game.policy.name!r}, or a draw of your own,"
                raise broken_off(error, whose, f"round {watch[1]} of run {run}") from error
            if failed:
                raise self.game.fault(failed, run)
            if not watch[2]:
                return
            # More feedback was under way, or unread, than there was room for: the same run again, with more room.
            self._room, watch[2] = 8 * self._room, 0
            check_memory(8 * 10 * min(self._room, self._most), "feedback under way")
            self._set_up()

    def _clear(self) -> None:
        """Forget the last run."""
        for array in self._flat(self.cleared):
            array.fill(0)
        for array, start in self._starts:
            array[...] = start

    def _flat(self, names: Iterable[str]) -> list[Any]:
        """Return arrays by their names, those in a ridge regression or a past one by one, as argument blocks do."""
        found = [self.arrays[name] for name in names]
        return [part for each in found for part in (each if isinstance(each, tuple) else (each,))]


_FEEDBACK = {"arms": np.int64, "rewards": np.float64, "rounds": np.int64, "chances": np.float64}
_LAST = {f"feedback_{name}": kind for name, kind in _FEEDBACK.items()}


class ArmsRunner(Runner):
    """Plays the runs of a game on arms."""

    kind, loop = ArmsRun, staticmethod(play_rounds)
    takes: ClassVar = {
        "rule": ("params", "state", "selected", "observed", "total", "available", "cursors", *_FEEDBACK, "p"),
        "draw": ("table",),
        "delay": ("waits",),
        "metrics_function": ("metric_params", "sums", "p", "selected", "available"),
        "there": ("there_params", "selected", "available"),
    }
    cleared = "state", "selected", "observed", "total", "cursors", "sums"
    restored = ("available",)

    def own(self, room: int) -> dict[str, Any]:
        """Return counts and sums, and the feedback that is unread; room that is not written takes no memory."""
        game, k, unread = self.game, self.sizes["K"], room if self.game.policy.bound_rule.readers else 0
        feedback = {name: np.empty(unread, kind) for name, kind in _FEEDBACK.items()}
        fields = {"has_delay": game.has_delay, "plays": game.plays, "capacity": room, "waits": game.delay_params}
        fields |= {"there_params": game.there_params}
        counts = {"observed": np.zeros(k, np.int64), "total": np.zeros(k), "available": np.ones(k, np.int64)}
        return {**fields, **feedback, **counts}

    def seen(self) -> dict[str, Any]:
        """Return the counts and sums after the last run."""
        return {name: self.arrays[name].copy() for name in ("selected", "observed", "total")}


class ContextsRunner(Runner):
    """Plays the runs of a game with contexts."""

    kind, loop = ContextsRun, staticmethod(play_contexts)
    takes: ClassVar = {
        "rule": ("params", "state", "contexts", "groups", "ridge", "past", "cursors", *_LAST, "p"),
        "draw": ("table", "contexts", "groups", "means", "rewards"),
        "metrics_function": ("metric_params", "sums", "groups", "means", "p"),
    }
    cleared = "state", "selected", "contexts", "groups", "means", "rewards", "past", "cursors", *_LAST, "sums"
    restored = ("ridge",)

    def own(self, room: int) -> dict[str, Any]:
        """Return the round, the ridge regression, the past, and the feedback of the round before."""
        k, d = self.sizes["K"], self.sizes["d"]
        return {
            "n_groups": self.sizes["G"],
            "contexts": np.zeros((k, d)),
            "groups": np.zeros(k, np.int64),
            "means": np.zeros(k),
            "rewards": np.zeros(k),
            "ridge": fresh_ridge(self.game.policy.ridge, d),
            "past": fresh_past(int(self.recorded[-1]) if self.game.history else 0, k, d),
            **{name: np.zeros(1, kind) for name, kind in _LAST.items()},
        }

    def seen(self) -> dict[str, Any]:
        """Return the ridge regression after the last run."""
        return {name: array.copy() for name, array in self.arrays["ridge"]._asdict().items()}
