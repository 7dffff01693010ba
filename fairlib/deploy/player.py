"""A policy at work: it is asked for arms, and learns their rewards, whenever and in whatever order they arrive."""

import math
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks, files
from fairlib._version import __version__
from fairlib.checks import PositiveInt, checked
from fairlib.core.contexts import ContextPolicy
from fairlib.core.policy import Policy
from fairlib.engine.agent import Agent
from fairlib.engine.runner import check_memory
from fairlib.engine.seeding import AnySeed, root, streams
from fairlib.engine.stepping import AnyPolicy, GivenArms, GivenDimension, GivenHorizon
from fairlib.rules.rule import Seen

__all__ = ["Player", "Choice"]

RewardRange = tuple[float, float]
"""The smallest and the largest reward, which `_range` checks."""


class Choice(NamedTuple):
    """The arms that a `Player` has chosen.

    Parameters
    ----------
    round : int
        The round, 1, 2, 3, ..., which its feedback must name.
    arms : tuple of int
        The arms to play.
    chances : tuple of float
        The probability with which each was chosen.

    Examples
    --------
    >>> import fairlib as fl
    >>> fl.Player(fl.ucb1(), arms=3).choose()
    Choice(round=1, arms=(0,), chances=(1.0,))
    """

    round: int
    arms: tuple[int, ...]
    chances: tuple[float, ...]


@dataclass
class _Waiting:
    """A round whose rewards are still to come: the chance of each arm, and the contexts of all arms."""

    chances: dict[int, float]
    contexts: NDArray[np.float64] | None = None


class Player:
    """A policy at work: `choose` says what to play, and `observe` takes the reward, which may come late or never.

    It plays as `simulate` does: with the same seed, and with each reward given when the game would show it, it plays
    run 0 to the last bit. Several threads may use one player.

    Parameters
    ----------
    policy : Policy or ContextPolicy
        The policy.
    arms : int, optional
        Number of arms K; needed unless the policy is made for some number.
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

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range, is missing, or does not fit the policy.

    See Also
    --------
    simulate : lets a policy play a game that is known.

    Examples
    --------
    >>> import fairlib as fl
    >>> player = fl.Player(fl.ucb1(), arms=2)
    >>> first, second = player.choose(), player.choose()
    >>> player.observe(second.round, 1.0)  # the feedback of the second round is there before that of the first
    >>> player.observe(first.round, 0.0)
    >>> player.choose().arms
    (1,)
    """

    def __init__(
        self,
        policy: AnyPolicy,
        arms: GivenArms | None = None,
        *,
        dimension: GivenDimension | None = None,
        groups: int = 1,
        horizon: GivenHorizon | None = None,
        rewards: RewardRange = (0.0, 1.0),
        seed: AnySeed = 0,
    ) -> None:
        self.policy, self.plays = _policy(policy), getattr(policy, "plays", 1)
        self._sizes = sizes = _sizes(policy, arms, dimension, groups, horizon)
        self.arms, self.horizon, self.rewards = sizes["K"], sizes.get("T"), _range(rewards)
        policy.check_rewards(*self.rewards, "rewards=({:g}, {:g})".format(*self.rewards))
        room = sum(math.prod(shape) for shape, _ in _room(policy, sizes).values())
        check_memory(8 * room, f"what {policy.name!r} remembers of {self.arms:,} arms", "take fewer arms or rounds")
        rule = (
            policy.bound_rule.interpreted
            if policy.interpret
            else policy.bound_rule.ready(f"the rule of {policy.name!r}", 2)
        )
        self._agent = Agent(policy, rule, sizes)
        self._rng, _ = streams(root(seed), 0)
        self._t = 0
        self._waiting: dict[int, _Waiting] = {}
        self._lock = threading.RLock()
        self._file: str | None = None  # that it was loaded from

    def choose(
        self,
        contexts: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Choice:
        """Choose the arms of the next round.

        Parameters
        ----------
        contexts : array_like, shape (K, d), optional
            The context of each arm, where arms have contexts.
        groups : array_like of int, shape (K,), optional
            The group of each arm, 0, 1, ...; all in group 0 if left out.

        Returns
        -------
        Choice
            The round, the arms and their probabilities.

        Raises
        ------
        TypeError, ValueError
            If the contexts are missing, not wanted or don't fit, the horizon is over, the policy remembers every round
            and has not observed the last one, or its rule gives no probabilities. A loaded player raises it also if its
            rule fails at what it remembers; the message names the file. In each case nothing has changed.

        Examples
        --------
        >>> import fairlib as fl
        >>> player = fl.Player(fl.linear.linucb(1.0), arms=2, dimension=2)
        >>> choice = player.choose([[1.0, 0.0], [0.0, 1.0]])
        >>> player.observe(choice.round, 1.0)
        >>> player.choose([[0.0, 1.0], [1.0, 0.0]]).arms
        (1,)
        """
        with self._lock:
            t = self._t + 1
            if self.horizon is not None and t > self.horizon:
                raise ValueError(f"the horizon must not be exceeded: all {self.horizon} rounds have been played")
            shown = member = None
            if self._agent.contextual:
                shown, member = self._seen_contexts(contexts), self._members(groups)
                if self._agent.history and self._waiting:
                    raise ValueError(
                        f"policy {self.policy.name!r} remembers every round, so round {t - 1} must be observed before "
                        f"round {t} is chosen"
                    )
            elif contexts is not None or groups is not None:
                raise TypeError(f"contexts and groups must be left out: policy {self.policy.name!r} takes none")
            before, state = self._agent.copy(), self._rng.bit_generator.state
            try:
                chosen = self._agent.choose(t, self._rng, shown, member)
            except BaseException as error:
                self._agent, self._rng.bit_generator.state = before, state
                if self._file is not None and isinstance(error, _OF_NUMBERS):
                    raise ValueError(
                        f"{self._file} may have been altered: in round {t} the rule of {self.policy.name!r} failed at "
                        f"what it remembers from there ({error})"
                    ) from error
                raise
            self._t = t
            self._agent.record(t, chosen, shown, member)
            arms, p = tuple(chosen.tolist()), self._agent.p.tolist()
            chances = tuple([p[arm] for arm in arms])
            self._waiting[t] = _Waiting(dict(zip(arms, chances, strict=True)), shown)
            return Choice(t, arms, chances)

    def observe(
        self,
        round: int,
        reward: float,
        arm: int | None = None,
    ) -> None:
        """Take the reward of an arm in a round.

        The policy learns from feedback in the order in which it is given.

        Parameters
        ----------
        round : int
            The round, as `choose` named it.
        reward : float
            The reward of the arm, in the range `rewards`.
        arm : int, optional
            The arm; it may be left out while one arm of that round waits for feedback.

        Raises
        ------
        TypeError, ValueError
            If the round has not been played, the arm was not chosen in it or has been observed, or the reward is not in
            the range; then nothing has changed.

        Examples
        --------
        >>> import fairlib as fl
        >>> player = fl.Player(fl.ucb1(), arms=2)
        >>> player.observe(1, 0.5)
        Traceback (most recent call last):
        ValueError: round must be one that has been played, and none has; not 1
        """
        with self._lock:
            if checks.integer("round", round, 1) > self._t:
                last = f"the last was {self._t}" if self._t else "none has"
                raise ValueError(f"round must be one that has been played, and {last}; not {checks.shown(round)}")
            waiting = self._waiting.get(int(round))
            if waiting is None:
                raise ValueError(f"round must be one that waits for feedback: {round} has been observed, or forgotten")
            low, high = self.rewards
            value = checks.real("reward", reward, low, high)
            if arm is None and len(waiting.chances) > 1:
                left = ", ".join(map(str, waiting.chances))
                raise ValueError(f"arm must be given, as several of round {round} wait for feedback: {left}")
            which = next(iter(waiting.chances)) if arm is None else checks.integer("arm", arm, 0, self.arms - 1)
            if which not in waiting.chances:
                left = ", ".join(map(str, waiting.chances))
                raise ValueError(f"arm must be one of round {round} that waits for feedback ({left}), not {arm}")
            chance = waiting.chances.pop(which)
            if not waiting.chances:
                del self._waiting[int(round)]
            context = None if waiting.contexts is None else waiting.contexts[which]
            self._agent.observe(int(round), which, value, chance, context)

    @checked
    def forget(self, before: PositiveInt) -> int:
        """Give up waiting for feedback of early rounds, which is kept in memory until it comes.

        Parameters
        ----------
        before : int
            The first round that is still waited for.

        Returns
        -------
        int
            The number of rounds whose feedback is no longer waited for.

        Raises
        ------
        TypeError, ValueError
            If `before` is not a whole number of at least 1, or the policy remembers every round.

        Examples
        --------
        >>> import fairlib as fl
        >>> player = fl.Player(fl.ucb1(), arms=2)
        >>> for _ in range(3):
        ...     choice = player.choose()
        >>> player.forget(before=3), player.waiting
        (2, {3: (0,)})
        """
        with self._lock:
            if self._agent.history:
                raise ValueError(f"policy {self.policy.name!r} remembers every round: each must be observed")
            gone = [each for each in self._waiting if each < before]
            for each in gone:
                del self._waiting[each]
        return len(gone)

    @property
    def waiting(self) -> dict[int, tuple[int, ...]]:
        """The rounds that wait for feedback, and their arms."""
        with self._lock:
            return {t: tuple(each.chances) for t, each in self._waiting.items()}

    @property
    def seen(self) -> Seen:
        """All that has been chosen and observed so far; `t` is the next round."""
        with self._lock:
            return Seen(self._t + 1, self._agent.selected.copy(), self._agent.observed.copy(), self._agent.total.copy())

    def __repr__(self) -> str:
        return f"Player({self.policy!r}, arms={self.arms}), {self._t} rounds played, {len(self._waiting)} waiting"

    def save(self, path: files.GivenPath) -> None:
        """Save all that the player knows to a NumPy file (``.npz``), whole or not at all.

        Parameters
        ----------
        path : path-like
            The path; an older file of this name is replaced.

        Raises
        ------
        OSError
            If the file can't be written.

        Examples
        --------
        >>> import tempfile
        >>> import fairlib as fl
        >>> path = tempfile.mkdtemp() + "/player.npz"
        >>> player = fl.Player(fl.thompson_beta(), arms=5, seed=3)
        >>> for _ in range(10):
        ...     player.observe(player.choose().round, 1.0)
        >>> player.save(path)
        >>> fl.Player.load(path, fl.thompson_beta()).choose() == player.choose()
        True
        """
        with self._lock:
            heading = {
                "version": __version__,
                **_signature(self.policy),
                "arms": self.arms,
                "dimension": self._sizes.get("d"),
                "groups": self._sizes.get("G", 1),
                "horizon": self.horizon,
                "rewards": list(self.rewards),
                "t": self._t,
                "rng": self._rng.bit_generator.state,
            }
            rows = [(t, arm, chance) for t, each in self._waiting.items() for arm, chance in each.chances.items()]
            lists = [*(zip(*rows, strict=True) if rows else ([], [], [])), *self._agent.unread]
            arrays = self._kept()
            arrays |= {name: np.array(each, _LISTS[name]) for name, each in zip(_LISTS, lists, strict=True)}
            if self._agent.contextual:
                shown = [self._waiting[row[0]].contexts for row in rows]
                arrays["waiting_contexts"] = np.array(shown).reshape(-1, self.arms, self._sizes["d"])
            files.save_npz(path, "player", heading, arrays)

    @classmethod
    def load(cls, path: files.GivenPath, policy: AnyPolicy) -> Self:
        """Load a saved player: it will choose the arms that the saved one would have chosen.

        All that the file says is checked against the policy, except the numbers in the rule's own memory, whose meaning
        only the rule knows. If they were altered, the rule may play something else, fail, or take longer; it can't read
        or write beyond its arrays.

        Parameters
        ----------
        path : path-like
            A file that `save` wrote; nothing in it is executed.
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
        TypeError
            If `path` is no path, or `policy` no policy.
        ValueError
            If the file holds no player, one of a newer format, an incomplete one, numbers that no player has, or a
            player of another policy or with another rule (the functions and numbers that it uses count, too); the
            message names the path.
        """
        own = _signature(policy)
        names = {*_room(policy, dict.fromkeys("KdGT", 1)), *_LISTS}
        names |= {"waiting_contexts"} if isinstance(policy, ContextPolicy) else set()

        def wanted(heading: Mapping[str, Any]) -> Any:
            found = {name: heading.get(name) for name in own}
            if found != own:
                raise ValueError(
                    f"{path} must be of the same policy and rule, {own['policy']} in fairlib {__version__}, not "
                    f"{str(found['policy'])[:1000]} in fairlib {str(heading.get('version'))[:100]}"
                    + (", whose rule was another" if found["policy"] == own["policy"] else "")
                )
            return names

        heading, arrays = files.load_npz(path, "player", wanted)
        try:
            made = {name: heading[name] for name in ("arms", "dimension", "groups", "horizon")}
            sizes = _sizes(policy, **made)
            for name, (shape, kind) in _room(policy, sizes).items():  # before any memory is taken for such a player
                if arrays[name].shape != shape or arrays[name].dtype != kind:
                    raise ValueError(f"{name} must be of shape {shape} and type {np.dtype(kind)}")
            for name, kind in _LISTS.items():
                if arrays[name].ndim != 1 or arrays[name].dtype != kind:
                    raise ValueError(f"{name} must be a list of type {np.dtype(kind)}")
            player = cls(policy, **made, rewards=heading["rewards"])
            player._take(heading, arrays)
        except (TypeError, ValueError, LookupError, ArithmeticError, MemoryError) as error:
            said = f"it lacks {error}" if isinstance(error, KeyError) else error
            raise ValueError(f"{path} must be a player as fairlib has saved it, unaltered: {said}") from error
        player._file = str(path)
        return player

    def _take(self, heading: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take the state from a file, if it is possible; the arrays are of the right types and shapes by now."""
        self._t = checks.integer("t", heading["t"], 0, self.horizon or checks._LARGEST)
        self._rng.bit_generator.state = _state(heading["rng"])
        for name, array in self._kept().items():
            array[...] = arrays[name]
        waiting, feedback = (
            [arrays[name] for name in _LISTS if name.startswith(each)] for each in ("waiting", "feedback")
        )
        for holds, must in self._musts(waiting, feedback, arrays.get("waiting_contexts")):
            if not holds:
                raise ValueError(must)
        for i, (t, arm, chance) in enumerate(zip(*(each.tolist() for each in waiting), strict=True)):
            shown = np.ascontiguousarray(arrays["waiting_contexts"][i]) if self._agent.contextual else None
            self._waiting.setdefault(t, _Waiting({}, shown)).chances[arm] = chance
        self._agent.unread = feedback

    def _musts(self, waiting: list[Any], feedback: list[Any], contexts: Any) -> Iterator[tuple[bool, str]]:
        """Yield whether each condition on a player holds, and its text; the caller must stop at the first failure."""
        t, k, sent, seen = self._t, self.arms, self._agent.selected, self._agent.observed
        low, high = self.rewards
        yield _within(sent, 0, t), f"selected must be numbers of rounds, from 0 to the {t} that were played"
        yield sum(sent.tolist()) == t * self.plays, f"selected must sum to {self.plays} x {t}, the plays of all rounds"
        yield bool(((seen >= 0) & (seen <= sent)).all()), "observed must be from 0 to what was selected"
        yield (
            _sums(self._agent.total, seen, low, high),
            f"total must be sums of so many rewards from {low:g} to {high:g}",
        )

        rounds, arms, chances = waiting
        yield len({each.size for each in waiting}) == 1, "waiting_rounds, _arms and _chances must be of one length"
        yield _within(rounds, 1, t) and bool((np.diff(rounds) >= 0).all()), f"waiting_rounds must rise from 1 to {t}"
        yield _within(arms, 0, k - 1) and _within(chances, 0, 1), "what waits must be arms and their probabilities"
        pairs = set(zip(rounds.tolist(), arms.tolist(), strict=True))
        yield len(pairs) == rounds.size, "no arm may wait twice for one round"
        left = sent - seen - np.bincount(arms, minlength=k)
        yield left.min() >= 0, "no arm may wait for more feedback than it has been selected and not observed"
        many = np.unique(rounds, return_counts=True)[1]
        yield bool((many <= self.plays).all()), f"no more than {self.plays} arms may wait for a round"

        arms, rewards, told, chances = feedback
        yield (
            len({each.size for each in feedback}) == 1,
            "feedback_arms, _rewards, _rounds and _chances must be of one length",
        )
        yield _within(told, 1, t) and _within(arms, 0, k - 1), "feedback must be of arms and rounds that were played"
        yield _within(rewards, low, high) and _within(chances, 0, 1), "feedback must have rewards and chances in range"
        heard = set(zip(told.tolist(), arms.tolist(), strict=True))
        yield len(heard) == told.size and not heard & pairs, "no play may be twice in the feedback, or still wait"
        yield bool((np.bincount(arms, minlength=k) <= seen).all()), "there must not be more feedback than was observed"
        cursors, size = self._agent.cursors.reshape(-1, 2), told.size
        fits = _within(cursors, 0, size) and bool((cursors[:, 1] == size).all())
        unread = size == 0 or bool((cursors[:, 0] < size).any())
        yield fits and unread, f"cursors must say which of the {size} pieces of feedback each reader has yet to read"

        if self._agent.contextual:
            fits = contexts.shape == (rounds.size, k, self._sizes["d"]) and contexts.dtype == np.float64
            yield fits, "waiting_contexts must be those of each round that waits"
            shown = (contexts, *self._agent.ridge, self._agent.past.contexts)
            yield all(map(_finite, shown)), "contexts and the ridge regression must be finite numbers"
        if self._agent.history:
            past, last = self._agent.past, t - rounds.size
            yield left.max() == 0 and rounds.tolist() == [t] * rounds.size, "all rounds but the last must be observed"
            fits = _within(past.groups, 0, self._sizes["G"] - 1) and _within(past.played, 0, k - 1)
            yield fits and _finite(past.rewards), "past must have groups and arms that there are, and finite rewards"
            counted = np.bincount(past.played[:t], minlength=k)
            yield bool((counted == sent).all()), "past_played must be what was selected"
            yield _within(past.rewards[:last], low, high), f"past_rewards must be from {low:g} to {high:g}"
            yield bool((past.played[last:t] == waiting[1]).all()), "the arm that waits must be the last that was played"

    def _kept(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that change as it plays, by name."""
        kept = {"state": self._agent.state, "cursors": self._agent.cursors}
        kept |= {"selected": self._agent.selected, "observed": self._agent.observed, "total": self._agent.total}
        if self._agent.contextual:
            kept |= {f"ridge_{name}": each for name, each in self._agent.ridge._asdict().items()}
            kept |= {f"past_{name}": each for name, each in self._agent.past._asdict().items()}
        return kept

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
        given, number = checks.array("groups", groups, 1), self._sizes["G"]
        if np.asarray(groups).dtype.kind not in "iu":
            raise TypeError(f"groups must be whole numbers from 0 to {number - 1}, not {checks.shown(groups)}")
        if given.shape != (self.arms,) or given.min() < 0 or given.max() >= number:
            raise ValueError(
                f"groups must be {self.arms} whole numbers from 0 to {number - 1}, not {checks.shown(groups)}"
            )
        return given.astype(np.int64)


def _policy(policy: Any) -> Policy | ContextPolicy:
    found: Policy | ContextPolicy = checks.instance(
        "policy", policy, Policy | ContextPolicy, "a Policy or a ContextPolicy, such as ucb1()"
    )
    return found


def _signature(policy: Any) -> dict[str, str]:
    """Return what a file must agree with."""
    return {"policy": repr(_policy(policy)), "mark": policy.bound_rule.mark}


# The errors that numbers can cause which a rule does not expect.
_OF_NUMBERS = ArithmeticError, LookupError, MemoryError, ValueError

# The lists of a saved player, of any length; their order is that in which they are read.
_LISTS: dict[str, Any] = {"waiting_rounds": np.int64, "waiting_arms": np.int64, "waiting_chances": np.float64}
_LISTS |= {
    "feedback_arms": np.int64,
    "feedback_rewards": np.float64,
    "feedback_rounds": np.int64,
    "feedback_chances": np.float64,
}


def _sizes(policy: Any, arms: Any, dimension: Any, groups: Any, horizon: Any) -> dict[str, int]:
    """Take the sizes of a game: K, with contexts d and G, and T if the number of rounds is limited."""
    sizes = {"K": _made_for("arms", arms, getattr(policy, "arms", None), policy)}
    checks.integer("arms", sizes["K"], getattr(policy, "plays", 1))
    last = policy.horizon if horizon is None else policy.check_horizon(horizon)
    number = checks.integer("groups", groups, 1)
    if isinstance(policy, ContextPolicy):
        sizes["d"] = _made_for("dimension", dimension, getattr(policy, "dimension", None), policy)
        sizes["G"] = number
    elif dimension is not None or number != 1:
        raise TypeError(f"dimension and groups must be left out, as policy {policy.name!r} takes no contexts")
    if last is not None:
        sizes["T"] = last
    elif policy.bound_rule.asks("past") or policy.bound_rule.needs("T"):
        raise TypeError(f"horizon must be given, as policy {policy.name!r} remembers every round")
    return sizes


def _room(policy: Any, sizes: Mapping[str, int]) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Return the shapes and types of the arrays that change as a player plays."""
    k, d = sizes["K"], sizes.get("d", 0)
    room: dict[str, tuple[tuple[int, ...], Any]] = {"state": ((policy.bound_rule.length(sizes),), np.float64)}
    room |= {"cursors": ((2 * policy.bound_rule.readers,), np.int64), "total": ((k,), np.float64)}
    room |= {"selected": ((k,), np.int64), "observed": ((k,), np.int64)}
    if isinstance(policy, ContextPolicy):
        size, rows = d if policy.ridge else 0, sizes["T"] if policy.bound_rule.asks("past") else 0
        room |= {"ridge_mean": ((size,), np.float64), "ridge_root": ((size, size), np.float64)}
        room |= {"past_contexts": ((rows, k, d), np.float64), "past_groups": ((rows, k), np.int64)}
        room |= {"past_played": ((rows,), np.int64), "past_rewards": ((rows,), np.float64)}
    return room


def _state(rng: Any) -> dict[str, Any]:
    """Take the state of a generator; with an even increment, or numbers that are too large, it would be none."""
    number, step, kept, half = rng["state"]["state"], rng["state"]["inc"], rng["uinteger"], rng["has_uint32"]
    state = {"bit_generator": "PCG64", "state": {"state": number, "inc": step}, "has_uint32": half, "uinteger": kept}
    for each, bits in ((number, 128), (step, 128), (kept, 32), (half, 1)):
        if type(each) is not int or not 0 <= each < 2**bits:
            raise ValueError(f"rng must be the state of a generator, with a number of {bits} bits for {each!r:.50}")
    if rng != state or step % 2 == 0:
        raise ValueError("rng must be the state of a PCG64 generator")
    return state


def _within(array: NDArray[Any], low: float, high: float) -> bool:
    """Say whether all numbers are finite and in a range."""
    return _finite(array) and bool(((array >= low) & (array <= high)).all())


def _finite(array: NDArray[Any]) -> bool:
    return bool(np.isfinite(array).all())


def _sums(total: NDArray[np.float64], count: NDArray[np.int64], low: float, high: float) -> bool:
    """Return whether each total can be a sum of that many numbers in a range, up to rounding."""
    n = count.astype(np.float64)
    with np.errstate(invalid="ignore"):  # none of an infinite range
        off = n * n * np.finfo(float).eps * max(abs(low), abs(high))
        fits = (total >= n * low - off) & (total <= n * high + off)
    return _finite(total) and bool(np.where(count > 0, fits, total == 0).all())


def _made_for(name: str, given: int | None, known: int | None, policy: Any) -> int:
    """Return a size that is given, or that the policy is made for."""
    if given is None and known is None:
        raise TypeError(f"{name} must be given, as policy {policy.name!r} is made for any number")
    size = known if given is None else checks.integer(name, given, 1)
    if known not in (None, size):
        raise ValueError(f"{name} must be {known}, as policy {policy.name!r} is made for, not {given}")
    return int(size)  # type: ignore[arg-type]


def _range(rewards: Any) -> tuple[float, float]:
    """Take the range of the rewards; its ends may be infinite."""
    allowed = "the smallest and the largest reward, such as (0, 1)"
    ends = checks.floats("rewards", checks.pair("rewards", rewards, allowed), allowed)
    if ends.ndim != 1 or not ends[0] < ends[1]:
        raise ValueError(f"rewards must be {allowed}, not {checks.shown(rewards)}")
    for end in ends[np.isfinite(ends)]:
        checks.real("rewards", end)
    return float(ends[0]), float(ends[1])
