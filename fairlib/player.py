"""A policy put to work: asked for arms, and told what they paid, when and in whatever order that comes to be known."""

import os
import threading
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from fairlib import checks, saved
from fairlib.contexts import ContextPolicy
from fairlib.policy import Policy
from fairlib.rules import Seen
from fairlib.stepping import Seat, absorber, fresh_past, fresh_ridge, root, streams

__all__ = ["Player", "Choice"]


class Choice(NamedTuple):
    """What a `Player` has chosen.

    Parameters
    ----------
    round : int
        The round, 1, 2, 3, ...: what the news of it is told by.
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
    """A round of which rewards are still to come: the chance of each arm, and the contexts of them all."""

    chances: dict[int, float]
    contexts: NDArray[np.float64] | None = None


class Player:
    """A policy at work: `choose` says what to play, `observe` takes what it paid, late or never.

    It plays as `simulate` does: with the same seed, and told of each reward when the game would show it, it plays run 0
    to the last bit. Several threads may use one player.

    Parameters
    ----------
    policy : Policy or ContextPolicy
        Who plays.
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
        The smallest and the largest reward that there can be.
    seed : int or numpy.random.SeedSequence
        Where the policy's chance comes from.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range, is missing, or does not fit the policy.

    See Also
    --------
    simulate : lets a policy play a game of which all is known.

    Examples
    --------
    >>> import fairlib as fl
    >>> player = fl.Player(fl.ucb1(), arms=2)
    >>> first, second = player.choose(), player.choose()
    >>> player.observe(second.round, 1.0)  # the news of the second round is there before that of the first
    >>> player.observe(first.round, 0.0)
    >>> player.choose().arms
    (1,)
    """

    def __init__(
        self,
        policy: Policy | ContextPolicy,
        arms: int | None = None,
        *,
        dimension: int | None = None,
        groups: int = 1,
        horizon: int | None = None,
        rewards: tuple[float, float] = (0.0, 1.0),
        seed: int | SeedSequence = 0,
    ) -> None:
        self.policy = _policy(policy)
        self.arms = _made_for("arms", arms, getattr(policy, "arms", None), policy)
        self.plays = getattr(policy, "plays", 1)
        checks.whole("arms", self.arms, self.plays)
        self.horizon = policy.horizon if horizon is None else policy.check_horizon(horizon)
        self.rewards = _range(rewards)
        sizes = {"K": self.arms}
        self._contextual = isinstance(policy, ContextPolicy)
        number = checks.whole("groups", groups, 1)
        if self._contextual:
            sizes |= {"d": _made_for("dimension", dimension, getattr(policy, "dimension", None), policy)}
            sizes |= {"G": number}
        elif dimension is not None or number != 1:
            raise TypeError(f"dimension and groups must be left out, as policy {policy.name!r} takes no contexts")
        history = policy.bound.asks("past")
        if self.horizon is not None:
            sizes |= {"T": self.horizon}
        elif history or policy.bound.needs("T"):
            raise TypeError(f"horizon must be given, as policy {policy.name!r} remembers every round")
        rule = policy.bound.interpreted if policy.interpret else policy.bound.ready(f"the rule of {policy.name!r}", 2)
        self._seat, self._sizes = Seat(policy, rule, sizes), sizes
        self._own, _ = streams(root(seed), 0)
        self._t = 0
        self._selected, self._observed = np.zeros(self.arms, np.int64), np.zeros(self.arms, np.int64)
        self._total = np.zeros(self.arms)
        if isinstance(policy, ContextPolicy):
            self._ridge = fresh_ridge(policy.ridge, sizes["d"])
            self._past = fresh_past(sizes["T"] if history else 0, self.arms, sizes["d"])
        self._history = history
        self._waiting: dict[int, _Waiting] = {}
        self._lock = threading.RLock()

    def choose(self, contexts: ArrayLike | None = None, groups: ArrayLike | None = None) -> Choice:
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
            and has not been told of the last, or its rule gives no probabilities; then nothing has changed.

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
            shown = None
            if self._contextual:
                shown, member = self._seen_contexts(contexts), self._members(groups)
                if self._history and self._waiting:
                    raise ValueError(
                        f"policy {self.policy.name!r} remembers every round, so round {t - 1} must be observed before "
                        f"round {t} is chosen"
                    )
                given: tuple[Any, ...] = (t, shown, member, self._ridge, self._past)
            elif contexts is not None or groups is not None:
                raise TypeError(f"contexts and groups must be left out: policy {self.policy.name!r} takes none")
            else:
                given = (t, self._selected, self._observed, self._total)
            seat, luck = self._seat.copy(), self._own.bit_generator.state
            try:
                chosen = self._seat.choose(given, self._own, self.plays)
                if chosen is None:
                    raise ValueError(
                        f"the rule of {self.policy.name!r} must return probabilities in [0, 1] that sum to "
                        f"{self.plays}, or an arm that there is; in round {t} it did not"
                    )
            except BaseException:
                self._seat, self._own.bit_generator.state = seat, luck
                raise
            self._t = t
            arms, p = tuple(chosen.tolist()), self._seat.p.tolist()
            chances = tuple([p[arm] for arm in arms])
            for arm in arms:
                self._selected[arm] += 1
            self._waiting[t] = _Waiting(dict(zip(arms, chances, strict=True)), shown)
            if self._history:
                self._past.contexts[t - 1], self._past.groups[t - 1], self._past.played[t - 1] = shown, member, arms[0]
            return Choice(t, arms, chances)

    def observe(self, round: int, reward: float, arm: int | None = None) -> None:
        """Take what an arm paid in a round.

        The order in which news is told is the order in which the policy learns of it.

        Parameters
        ----------
        round : int
            The round, as `choose` named it.
        reward : float
            What the arm paid, in `rewards`.
        arm : int, optional
            The arm; may be left out while one arm of that round is yet to be told.

        Raises
        ------
        TypeError, ValueError
            If the round has not been played, the arm was not chosen in it or has been told, or the reward is not in the
            range; then nothing has changed.

        Examples
        --------
        >>> import fairlib as fl
        >>> player = fl.Player(fl.ucb1(), arms=2)
        >>> player.observe(1, 0.5)
        Traceback (most recent call last):
        ValueError: round must be one that has been played, and none has; not 1
        """
        with self._lock:
            if checks.whole("round", round, 1) > self._t:
                last = f"the last was {self._t}" if self._t else "none has"
                raise ValueError(f"round must be one that has been played, and {last}; not {checks.said(round)}")
            waiting = self._waiting.get(int(round))
            if waiting is None:
                raise ValueError(f"round must be one that waits for news: {round} has been told, or forgotten")
            low, high = self.rewards
            value = checks.real("reward", reward, low, high)
            if arm is None and len(waiting.chances) > 1:
                left = ", ".join(map(str, waiting.chances))
                raise ValueError(f"arm must be given, as several of round {round} wait for news: {left}")
            which = next(iter(waiting.chances)) if arm is None else checks.whole("arm", arm, 0, self.arms - 1)
            if which not in waiting.chances:
                left = ", ".join(map(str, waiting.chances))
                raise ValueError(f"arm must be one of round {round} that waits for news ({left}), not {arm}")
            chance = waiting.chances.pop(which)
            if not waiting.chances:
                del self._waiting[int(round)]
            self._observed[which] += 1
            self._total[which] += value
            if waiting.contexts is not None and self._ridge.mean.size:
                absorber()(self._ridge.mean, self._ridge.root, waiting.contexts[which], value)
            if self._history:
                self._past.rewards[int(round) - 1] = value
            self._seat.hear(which, value, int(round), chance)

    def forget(self, before: int) -> int:
        """Give up waiting for news of early rounds, which is kept in memory until it comes.

        Parameters
        ----------
        before : int
            The first round that is still waited for.

        Returns
        -------
        int
            Of how many rounds news is no longer waited for.

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
        first = checks.whole("before", before, 1)
        with self._lock:
            if self._history:
                raise ValueError(f"policy {self.policy.name!r} remembers every round: each must be observed")
            gone = [each for each in self._waiting if each < first]
            for each in gone:
                del self._waiting[each]
        return len(gone)

    @property
    def waiting(self) -> dict[int, tuple[int, ...]]:
        """The rounds of which news is waited for, and their arms."""
        with self._lock:
            return {t: tuple(each.chances) for t, each in self._waiting.items()}

    @property
    def seen(self) -> Seen:
        """What has been chosen and observed so far; `t` is the round that is next."""
        with self._lock:
            return Seen(self._t + 1, self._selected.copy(), self._observed.copy(), self._total.copy())

    def __repr__(self) -> str:
        return f"Player({self.policy!r}, arms={self.arms}), {self._t} rounds played, {len(self._waiting)} waiting"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save all that the player knows to a file of NumPy's (``.npz``), whole or not at all.

        Parameters
        ----------
        path : path-like
            Where; an older file of this name is replaced.

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
                **_signature(self.policy),
                "arms": self.arms,
                "dimension": self._sizes.get("d"),
                "groups": self._sizes.get("G", 1),
                "horizon": self.horizon,
                "rewards": list(self.rewards),
                "t": self._t,
                "own": self._own.bit_generator.state,
            }
            rows = [(t, arm, chance) for t, each in self._waiting.items() for arm, chance in each.chances.items()]
            arrays = {
                **self._kept(),
                "waiting_rounds": np.array([row[0] for row in rows], np.int64),
                "waiting_arms": np.array([row[1] for row in rows], np.int64),
                "waiting_chances": np.array([row[2] for row in rows], np.float64),
                **dict(
                    zip(("news_arms", "news_rewards", "news_rounds", "news_chances"), self._seat.unread, strict=True)
                ),
            }
            if self._contextual:
                arrays["waiting_contexts"] = np.array([self._waiting[row[0]].contexts for row in rows])
            saved.write(path, "player", heading, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], policy: Policy | ContextPolicy) -> Self:
        """Go on where a player was when it was saved: it will choose what that one would have chosen.

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
        TypeError, ValueError
            If the file holds no player, not a whole one, that of another policy, or of another version of fairlib.
        """
        heading, arrays = saved.read(path, "player")
        own = _signature(policy)
        try:
            found = {name: heading[name] for name in own}
            if found != own:
                raise ValueError(
                    f"{path} must be of the same policy and version, {own['policy']} in fairlib {own['version']}, "
                    f"not {found['policy']} in fairlib {found['version']}"
                    + (", whose rule was another" if found == {**own, "mark": found["mark"]} else "")
                )
            made = {name: heading[name] for name in ("arms", "dimension", "groups", "horizon", "rewards")}
            player = cls(policy, **made)
            player._t, player._own.bit_generator.state = heading["t"], heading["own"]
            for name, array in player._kept().items():
                array[...] = arrays[name]
            waiting = arrays["waiting_rounds"], arrays["waiting_arms"], arrays["waiting_chances"]
            for i, (t, arm, chance) in enumerate(zip(*(each.tolist() for each in waiting), strict=True)):
                shown = arrays["waiting_contexts"][i] if player._contextual else None
                player._waiting.setdefault(t, _Waiting({}, shown)).chances[arm] = chance
            player._seat.unread = [arrays[f"news_{name}"] for name in ("arms", "rewards", "rounds", "chances")]
        except (KeyError, IndexError) as error:
            raise ValueError(f"{path} must be a whole player; it lacks {error}") from error
        return player

    def _kept(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that change as it plays, by name."""
        kept = {"state": self._seat.state, "posts": self._seat.posts}
        kept |= {"selected": self._selected, "observed": self._observed, "total": self._total}
        if self._contextual:
            kept |= {f"ridge_{name}": each for name, each in self._ridge._asdict().items()}
            kept |= {f"past_{name}": each for name, each in self._past._asdict().items()}
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
            raise TypeError(f"groups must be whole numbers from 0 to {number - 1}, not {checks.said(groups)}")
        if given.shape != (self.arms,) or given.min() < 0 or given.max() >= number:
            raise ValueError(
                f"groups must be {self.arms} whole numbers from 0 to {number - 1}, not {checks.said(groups)}"
            )
        return given.astype(np.int64)


def _policy(policy: Any) -> Policy | ContextPolicy:
    found: Policy | ContextPolicy = checks.instance(
        "policy", policy, Policy | ContextPolicy, "a Policy or a ContextPolicy, such as ucb1()"
    )
    return found


def _signature(policy: Any) -> dict[str, str]:
    """Return what a file must agree with."""
    import fairlib

    return {"version": fairlib.__version__, "policy": repr(_policy(policy)), "mark": policy.bound.mark}


def _made_for(name: str, given: int | None, known: int | None, policy: Any) -> int:
    """Return a size that is given, or that the policy is made for."""
    if given is None and known is None:
        raise TypeError(f"{name} must be given, as policy {policy.name!r} is made for any number")
    size = known if given is None else checks.whole(name, given, 1)
    if known not in (None, size):
        raise ValueError(f"{name} must be {known}, as policy {policy.name!r} is made for, not {given}")
    return int(size)  # type: ignore[arg-type]


def _range(rewards: Any) -> tuple[float, float]:
    """Take the range of the rewards; it may be infinite."""
    allowed = "the smallest and the largest reward, such as (0, 1)"
    ends = checks.floats("rewards", checks.pair("rewards", rewards, allowed), allowed)
    if ends.ndim != 1 or not ends[0] < ends[1]:
        raise ValueError(f"rewards must be {allowed}, not {checks.said(rewards)}")
    return float(ends[0]), float(ends[1])
