"""Runners: they play the runs of a game one after another, compiled or round by round, in memory set up once."""

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.random import SeedSequence

from fairlib.engine.agent import fresh_past, fresh_ridge
from fairlib.engine.loops import ArmsRun, ContextsRun, compiled_loop
from fairlib.engine.seeding import Streams, streams
from fairlib.engine.stepping import ArmsSession, Session
from fairlib.rules.argument_block import code_address, pack_arrays
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


def make_runner(game: Session, horizon: int, recorded: Any, chance: SeedSequence) -> "Runner":
    """Return a runner, which plays the runs of a game, one at a time.

    Parameters
    ----------
    game : Session
        The prepared game.
    horizon : int
        Number of rounds that a policy that asks for the horizon is given.
    recorded : ndarray of int, shape (R,)
        The rounds to record, increasing; the last one ends a run.
    chance : numpy.random.SeedSequence
        The seed of all draws.

    Returns
    -------
    Runner
        A compiled one if all that the game calls is compiled.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.engine.seeding import root
    >>> from fairlib.engine.stepping import make_session
    >>> game = make_session(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.ucb1())
    >>> runner = make_runner(game, 10, np.array([10]), root(0))
    >>> selected, reward, sums = np.zeros((1, 2), np.int64), np.zeros(1), np.zeros((1, 1))
    >>> runner.play(0, selected, reward, sums, np.zeros(16, np.int64))
    >>> int(selected.sum()), int(runner.seen()["observed"].sum())
    (10, 10)
    """
    if game.interpreted:
        return _SteppedRunner(game, horizon, recorded, chance)
    return (_ArmsRunner if isinstance(game, ArmsSession) else _ContextsRunner)(game, horizon, recorded, chance)


class Runner(ABC):
    """It plays the runs of a game; its memory is that of one run, so each thread has its own; see `make_runner`."""

    def __init__(self, game: Any, horizon: int, recorded: Any, chance: SeedSequence) -> None:
        self.game, self.horizon, self.recorded, self.chance = game, horizon, recorded, chance
        self.sizes = {**game.sizes, "T": horizon}

    @abstractmethod
    def play(self, run: int, selected_at: Any, reward_at: Any, sums_at: Any, watch: Any) -> None:
        """Play a run.

        Parameters
        ----------
        run : int
            Which one.
        selected_at, reward_at, sums_at : ndarray, shapes (R, K), (R,) and (R, S)
            What is recorded is written here.
        watch : ndarray of int
            As in `ArmsRun`: a number other than 0 in place 0 stops the run, and place 1 is the round.

        Raises
        ------
        ValueError
            If the rule or the environment is at fault.
        """

    @abstractmethod
    def seen(self) -> dict[str, Any]:
        """Return what the rule would be given after the last run: counts and sums, or the ridge regression."""


class _SteppedRunner(Runner):
    """Plays the runs round by round, in plain Python where a function is not compiled."""

    _step: Any

    def play(self, run: int, selected_at: Any, reward_at: Any, sums_at: Any, watch: Any) -> None:
        """Play a run."""
        metrics = self.game.metrics
        metric_params, sums = metrics.numbers(self.sizes), metrics.state(self.sizes)
        collected, at = 0.0, 0
        for step in self.game.rounds(self.horizon, *streams(self.chance, run), run):
            for reward in step.rewards:
                collected += reward
            self.game.accumulate(metric_params, sums, step)
            self._step = step
            watch[1] = step.t
            if watch[0]:
                return
            if step.t == self.recorded[at]:
                selected_at[at], reward_at[at], sums_at[at] = step.selected, collected, sums
                at += 1
                if at == self.recorded.size:
                    break

    def seen(self) -> dict[str, Any]:
        """Return what the rule would be given after the last run: arrays that change once the round has been shown."""
        if isinstance(self.game, ArmsSession):
            seen = self._step.seen
            return {"selected": seen.selected, "observed": seen.observed, "total": seen.total}
        return dict(self._step.ridge._asdict())


class _CompiledRunner(Runner):
    """Plays the runs in a compiled loop: what is prepared here once for all of them takes longer than a short run."""

    _kind: Any
    _called: tuple[str, ...]
    _given: dict[str, Any]
    _held: Any
    _cleared: tuple[Any, ...]
    _restored: list[tuple[Any, Any]]
    _used: bool

    def __init__(self, game: Any, horizon: int, recorded: Any, chance: SeedSequence) -> None:
        super().__init__(game, horizon, recorded, chance)
        self._streams = Streams(chance)
        self._loop = entry_point(compiled_loop(self._kind))
        self._functions = tuple(code_address(getattr(game, name).compiled) for name in self._called)
        self._most, self._room = int(recorded[-1]) * game.plays, _ROOM
        self._set_up()

    @abstractmethod
    def _prepare(self, room: int) -> None:
        """Make the arrays of a run, with room for so much feedback."""

    def play(self, run: int, selected_at: Any, reward_at: Any, sums_at: Any, watch: Any) -> None:
        """Play a run."""
        given = {"selected_at": selected_at, "reward_at": reward_at, "sums_at": sums_at, "watch": watch}
        given |= {"recorded": self.recorded, "policy_rng": self._streams.policy_rng, "env_rng": self._streams.env_rng}
        while True:
            self._streams.begin(run)
            if self._used:
                self._clear()
            self._used = True
            this = self._kind(**self._given, **given)
            try:
                failed = self._loop(self._functions, this)  # all that it is given is of the right types
            except IndexError as error:
                whose = f"the rule of {self.game.policy.name!r}, or a draw of your own,"
                raise IndexError(f"{whose} broke off in round {watch[1]} of run {run}: {error}") from error
            if failed:
                raise self.game.fault(failed, run)
            if not watch[2]:
                return
            # More feedback was under way, or unread, than there was room for: the same run again, with more room.
            self._room, watch[2] = 8 * self._room, 0
            check_memory(8 * 10 * min(self._room, self._most), "feedback under way")
            self._set_up()

    def _set_up(self) -> None:
        self._prepare(min(self._room, self._most))
        self._used = False  # memory that is never written takes none: for the first run nothing is cleared

    def _clear(self) -> None:
        """Forget the last run."""
        for array in self._cleared:
            array.fill(0)
        for array, start in self._restored:
            array[...] = start


class _ArmsRunner(_CompiledRunner):
    """Plays the runs of a game on arms."""

    _kind, _called = ArmsRun, ("rule", "draw", "delay", "metrics_function")

    def _prepare(self, room: int) -> None:
        game, bound, k = self.game, self.game.policy.bound_rule, self.sizes["K"]
        params, state, p = bound.numbers(self.sizes), bound.state(self.sizes), np.zeros(k)
        selected, observed, total = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k)
        # Feedback that has arrived and that the rule has not read is from cursors[0] to cursors[1]; each learner that
        # reads it has two such numbers more. Empty for a rule that does not ask for it; unwritten room takes no memory.
        cursors, waits = np.zeros(2 * bound.readers, np.int64), room if bound.readers else 0
        arms, rewards = np.empty(waits, np.int64), np.empty(waits)
        rounds, chances = np.empty(waits, np.int64), np.empty(waits)
        metric_params, sums = game.metrics.numbers(self.sizes), game.metrics.state(self.sizes)
        blocks = {
            "rule_block": pack_arrays(
                params, state, selected, observed, total, cursors, arms, rewards, rounds, chances, p
            ),
            "draw_block": pack_arrays(game.table),
            "delay_block": pack_arrays(game.delay_params),
            "metrics_block": pack_arrays(metric_params, sums, p, selected),
        }
        self._held = blocks  # what is given are addresses
        self._cleared = state, selected, observed, total, cursors, sums
        self._restored = [(each, each.copy()) for each in (params, metric_params)]  # a rule may write to its settings
        self._given = dict(
            **{name: block.ctypes.data for name, block in blocks.items()},
            has_delay=game.has_delay,
            plays=game.plays,
            capacity=room,
            p=p,
            selected=selected,
            observed=observed,
            total=total,
            cursors=cursors,
            arms=arms,
            rewards=rewards,
            rounds=rounds,
            chances=chances,
            sums=sums,
        )

    def seen(self) -> dict[str, Any]:
        """Return the counts and sums after the last run."""
        return {name: self._given[name].copy() for name in ("selected", "observed", "total")}


class _ContextsRunner(_CompiledRunner):
    """Plays the runs of a game with contexts."""

    _kind, _called = ContextsRun, ("rule", "draw", "metrics_function")

    def _prepare(self, room: int) -> None:
        game, bound, k, d = self.game, self.game.policy.bound_rule, self.sizes["K"], self.sizes["d"]
        params, state = bound.numbers(self.sizes), bound.state(self.sizes)
        p, selected, contexts, groups = np.zeros(k), np.zeros(k, np.int64), np.zeros((k, d)), np.zeros(k, np.int64)
        means, rewards, cursors = np.zeros(k), np.zeros(k), np.zeros(2 * bound.readers, np.int64)
        ridge = fresh_ridge(game.policy.ridge, d)
        past = fresh_past(int(self.recorded[-1]) if game.history else 0, k, d)
        feedback = np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.int64), np.zeros(1)  # the last round's
        metric_params, sums = game.metrics.numbers(self.sizes), game.metrics.state(self.sizes)
        blocks = {
            "rule_block": pack_arrays(params, state, contexts, groups, *ridge, *past, cursors, *feedback, p),
            "draw_block": pack_arrays(game.table, contexts, groups, means, rewards),
            "metrics_block": pack_arrays(metric_params, sums, groups, means, p),
        }
        self._held = blocks
        self._cleared = state, selected, contexts, groups, means, rewards, *past, cursors, *feedback, sums
        self._restored = [(each, each.copy()) for each in (params, metric_params, *ridge)]
        names = "feedback_arms", "feedback_rewards", "feedback_rounds", "feedback_chances"
        self._given = dict(
            **{name: block.ctypes.data for name, block in blocks.items()},
            **dict(zip(names, feedback, strict=True)),
            n_groups=self.sizes["G"],
            p=p,
            selected=selected,
            contexts=contexts,
            groups=groups,
            means=means,
            rewards=rewards,
            ridge=ridge,
            past=past,
            cursors=cursors,
            sums=sums,
        )

    def seen(self) -> dict[str, Any]:
        """Return the ridge regression after the last run."""
        return {name: array.copy() for name, array in self._given["ridge"]._asdict().items()}
