"""What a policy on arms is: a rule with its settings."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Self

import numpy as np
from numba import float64, int64, types

from fairlib import checks
from fairlib.checks import Horizon, PositiveInt, checked
from fairlib.rules.argument_block import FLOATS, WHOLES
from fairlib.rules.bound_rule import BoundRule, RuleOwner, format_setting
from fairlib.rules.layout import Layout, Pluggable
from fairlib.rules.rule import Feedback, Learner, Rule, Seen
from fairlib.rules.signature import CallSignature

RULE = CallSignature(
    what="the rule of a policy on arms",
    flat="params, state, t, selected, observed, total, available, cursors, arms, rewards, rounds, chances, rng, p",
    gives={
        "seen": "Seen(t, selected, observed, total)",
        "available": "available",
        "feedback": "unread_feedback(cursors, arms, rewards, rounds, chances)",
        "rng": "rng",
        "p": "p",
    },
    signature=int64(
        *(FLOATS, float64[::1], int64, WHOLES, WHOLES, FLOATS, WHOLES),  # params to available
        *(int64[::1], WHOLES, FLOATS, WHOLES, FLOATS),  # cursors to chances
        *(types.npy_rng, float64[::1]),
    ),
    answer="as_action({})",
    tuples={"seen": Seen, "feedback": Feedback},
    sizes=("K", "T"),
)
"""How the engine calls a policy's rule on arms."""


class BasePolicy(RuleOwner):
    """What all policies have: a name, a rule and its settings. It is made as a `Policy` or a `ContextPolicy`."""

    form: CallSignature
    horizon: int | None
    interpret: bool
    arms: int | None
    plays: int = 1
    unit_rewards: bool = False
    """Whether it is made for rewards in [0, 1]."""
    _more: tuple[str, ...] = ()  # what else a kind of policy is made with, besides settings

    def __init__(self, name: str, rule: Any, interpret: bool, settings: Mapping[str, Any], **handed: Any) -> None:
        if not isinstance(rule, Rule):
            rule = Rule(rule)
        own = [each for each in ("name", "rule", "interpret", *self._more) if each not in (*self.form.gives, *handed)]
        for each in rule.arguments:
            if each in own and each not in rule.memory:
                raise TypeError(
                    f"{rule.__name__!r} has a setting {each!r}, which is what every {type(self).__name__} is made "
                    "with: call it something else"
                )
        self.name, self.rule = name, rule
        asked = [each for each in handed if each in rule.arguments and each not in rule.memory]
        self.bound_rule = BoundRule(
            rule, self.form, {**settings, **{each: handed[each] for each in asked if handed[each]}}
        )
        learners = [each for each in self.settings.values() if isinstance(each, BasePolicy)]
        self.interpret = bool(interpret) or any(each.interpret for each in learners)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings by name, not to be changed: `replace` makes a policy with others."""
        return MappingProxyType(self.bound_rule.settings)

    def check_game(self, sizes: Mapping[str, int], plays: int, rewards: tuple[float, float], horizon: Any) -> int:
        """Refuse a game that the policy is not made for, whatever asks it to play; return the number of rounds.

        It may be made for more rounds: fewer are the first of its game. Here is all that a policy may be made for.
        """
        given = {"arms": sizes["K"], "plays": plays, "dimension": sizes.get("d"), "groups": sizes.get("G")}
        for name, size in given.items():
            made = getattr(self, name, None)
            if size is not None and made not in (None, size):
                raise ValueError(f"policy {self.name!r} is made for {_MADE_FOR[name].format(made)}, not {size}")
        low, high = rewards
        if self.unit_rewards and not 0 <= low <= high <= 1:
            raise ValueError(
                f"policy {self.name!r} is made for rewards in [0, 1], not from {low:g} to {high:g}: map them to "
                "[0, 1], or use policy.replace(unit_rewards=False), which takes them as they are"
            )
        rounds = checks.integer("horizon", horizon, 1)
        if self.horizon is not None and rounds > self.horizon:
            raise ValueError(
                f"horizon must be at most {self.horizon}, the rounds that {self.name!r} is made for, not {rounds}"
            )
        return rounds

    def where_arms_come_and_go(self) -> BoundRule:
        """Return the rule for games in which they do; refuse if it, or a learner's, does not ask which are there."""
        if "available" not in self.rule.arguments:
            raise ValueError(
                f"policy {self.name!r} is made for games in which all arms are always there: where they come and go, "
                "its rule must ask for `available`, and play arms that are there"
            )
        for each in self.settings.values():
            if isinstance(each, BasePolicy):
                each.where_arms_come_and_go()
        return self.bound_rule.told_of_absences

    def check_endless(self) -> None:
        """Refuse play without a last round if the policy remembers every round."""
        if self.bound_rule.asks("past") or self.bound_rule.needs("T"):
            raise TypeError(f"horizon must be given, as policy {self.name!r} remembers every round")

    def replace(self, **changes: Any) -> Self:
        """Return the same policy with some of its arguments replaced.

        Parameters
        ----------
        **changes
            Any arguments that it could be made with, settings of the rule among them. The function that made the policy
            is not called again, so no range is checked.

        Returns
        -------
        Policy or ContextPolicy
            The other policy.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind, or a setting is of another kind than it was.

        Examples
        --------
        >>> import fairlib as fl
        >>> fl.epsilon_greedy(0.1).replace(epsilon=0.2)
        Policy('epsilon-greedy', epsilon=0.2)
        """
        now = {name: getattr(self, name) for name in ("name", "rule", "interpret", *self._more)}
        if not self.unit_rewards and any(isinstance(each, BasePolicy) for each in changes.values()):
            now.pop("unit_rewards", None)  # the new learner decides
        settings = {name: value for name, value in self.bound_rule.given.items() if name not in now}
        if "rule" in changes:  # another rule need not be set with the same
            asked = Rule(getattr(changes["rule"], "function", changes["rule"])).arguments
            settings = {name: value for name, value in settings.items() if name in asked}
        made = type(self)(**{**now, **settings, **changes})
        for name in changes.keys() & self.settings.keys() & made.settings.keys():
            if (before := _what(self.settings[name])) != _what(made.settings[name]):
                raise TypeError(f"{name} must be {before}, as it was, not {checks.shown(changes[name])}")
        return made

    def __repr__(self) -> str:
        own = {name: getattr(self, name) for name in self._more if getattr(self, name) is not None}
        more = [
            f"{name}={value!r}"
            for name, value in own.items()
            if name != "unit_rewards" and (name, value) != ("plays", 1)
        ]
        given = [
            f"{name}={format_setting(value)}"
            for name, value in self.bound_rule.settings.items()
            if name not in self._more
        ]
        return f"{type(self).__name__}({', '.join([repr(self.name), *more, *given])})"


_MADE_FOR = {"arms": "{} arms", "plays": "plays={}", "dimension": "contexts of length {}", "groups": "{} groups"}


def _what(setting: Any) -> str:
    if isinstance(setting, Pluggable):
        return f"a {type(setting).__name__}"
    return f"an array with {np.ndim(setting)} axes" if np.ndim(setting) else "a number"


class Policy(BasePolicy, Pluggable):
    """A policy for games on arms: a rule with its settings, which is all that a learner is.

    Parameters
    ----------
    name : str
        Its name in figures.
    rule : Rule or callable
        What it plays, round by round; see `rule` for what a rule may ask for and how it answers.
    plays : int
        How many different arms it plays each round. A rule that asks for `plays` is given it.
    arms : int, optional
        How many arms it is made for, if its settings fix that; by default as many as its learners are made for, or any
        number.
    horizon : int, optional
        How many rounds it is made for, if its settings fix that; by default as many as its learners are made for, or
        any number. A longer game is refused, a shorter one is not. A rule that asks for `horizon` is given it.
    unit_rewards : bool, optional
        Whether it is made for rewards in [0, 1]; by default if one of its learners is. Then it is refused where other
        rewards are known to be paid; ``replace(unit_rewards=False)`` takes them as they are.
    interpret : bool
        Leave the rule to Python, to print from it or to step through it.
    **settings
        The rule's settings, by the names of its arguments: numbers, arrays of numbers, a `Merit`, or a `Policy` for the
        rule to `ask`.

    Raises
    ------
    TypeError, ValueError
        If the rule asks for something that is not available, or a setting is missing or unknown.

    See Also
    --------
    rule : marks a function as a rule.
    check_policy : says what a rule does wrong.

    Examples
    --------
    A rule that takes turns:

    >>> def take_turns(step: int, seen, p):
    ...     return step * seen.t % p.size
    >>> Policy("taking turns", take_turns, step=1)
    Policy('taking turns', step=1.0)
    """

    form = RULE
    described_as = "a Policy, such as ucb1()"
    _more = ("plays", "arms", "horizon", "unit_rewards")

    @checked
    def __init__(
        self,
        name: Annotated[str, checks.Text()],
        rule: Rule | Callable[..., Any],
        *,
        plays: PositiveInt = 1,
        arms: int | None = None,
        horizon: Horizon | None = None,
        unit_rewards: Annotated[bool, checks.Flag()] | None = None,
        interpret: Annotated[bool, checks.Flag()] = False,
        **settings: Any,
    ) -> None:
        self.plays = plays
        self.arms = arms if arms is None else checks.integer("arms", arms, self.plays)
        self.horizon = horizon
        super().__init__(name, rule, interpret, settings, plays=self.plays, horizon=self.horizon)
        for each in self.settings.values():
            made_for = each.arms if isinstance(each, Policy) else None
            if made_for is not None and self.arms not in (None, made_for):
                raise ValueError(f"arms must be {made_for}, as {each.name!r} is made for, not {self.arms}")
            self.arms = made_for or self.arms
        learners = [each for each in self.settings.values() if isinstance(each, Policy)]
        if unit_rewards is None:
            unit_rewards = any(each.unit_rewards for each in learners)
        self.unit_rewards = unit_rewards
        if horizon is None:  # a rule that asks a learner in some of its rounds only says how many those are
            self.horizon = min((each.horizon for each in learners if each.horizon is not None), default=None)

    def lay_out(self, layout: Layout, prefix: str) -> str:
        """Write the policy into another's text, as a learner that it may `ask`."""
        inner = self.bound_rule.layout(prefix, layout.absences)
        layout.take(inner)
        layout.functions["Learner"] = Learner
        state = layout.block(prefix.rstrip("_"), lambda sizes: (inner.length(sizes),))
        cursors, first = "cursors", 2 * layout.readers
        if inner.readers:  # each reader has its own two numbers, from where to where feedback waits for it
            layout.readers += inner.readers
            cursors = f"cursors[{first} : {2 * layout.readers}]"
        engine = f"t, selected, observed, total, available, {cursors}, arms, rewards, rounds, chances, rng"
        return f"Learner({prefix}flat, {layout.array(inner)}, {state}, {engine})"


@checked
def of_one_play(learner: Policy) -> None:
    """Refuse a learner that plays several arms a round, for rules that ask for one.

    Parameters
    ----------
    learner : Policy
        The learner.

    Examples
    --------
    >>> import fairlib as fl
    >>> of_one_play(fl.uniform(plays=2))
    Traceback (most recent call last):
    ValueError: learner must play one arm a round, not 2
    """
    if learner.plays != 1:
        raise ValueError(f"learner must play one arm a round, not {learner.plays}")
