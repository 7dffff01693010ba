"""Widgets for a reader's own hands: attack a promise, and guess before looking."""

import html
import re
import warnings
from string import Template
from typing import Annotated, Any

import numpy as np

from fairlib import checks
from fairlib.checks import NonNegative, Positive, checked
from fairlib.core import Number, Policy, bernoulli, rule
from fairlib.pages.scripts import asset, numbers, script, script_json
from fairlib.shares import SharedBandit, fair_learn
from fairlib.shares.game import Shares

__all__ = ["Attack", "Guess", "reader_rule"]


# They are dressed as explorers are, also on a page that has none.
_STYLE = re.findall(r"<style>.*?</style>", asset("explorers.html"), re.DOTALL)[0]


def _filled(name: str, **parts: Any) -> str:
    return Template(asset(name)).substitute(style=_STYLE, **parts)


@rule
def reader_rule(choice: int, asked: Number, p: Any, available: Any = None) -> Any:
    """Play the reader's choice, and count how often the reader is asked."""
    asked[0] += 1
    return choice


class Attack:
    """A game in which the reader is the learner of FAIR-LEARN, or sends arms away, and tries to break its promise.

    Parameters
    ----------
    shares : array_like, shape (K,)
        Share that each arm is owed, at least 0 and below 1/K, from two to ten arms.
    tolerance : float
        How far behind an arm may be before FAIR-LEARN steps in, at least 0.
    moves : list of (list of int, int), optional
        What *Show me* plays: in each round the arms that are there, and the arm that the learner says. With it the
        reader can send arms away.

    Attributes
    ----------
    limits : ndarray, shape (K,)
        The furthest that each arm can be behind: the tolerance and K - 1 times its share; where arms can be away, the
        tolerance, its share and K - 2 times the largest share.

    Raises
    ------
    TypeError, ValueError
        If the shares or the tolerance are out of range.

    Examples
    --------
    >>> Attack([0.1875] * 5, 0.75).limits
    array([1.5, 1.5, 1.5, 1.5, 1.5])
    """

    @checked
    def __init__(self, shares: Shares, tolerance: NonNegative, moves: Any = None) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the reader is to find out that the tolerance alone is not kept
            policy = fair_learn(Policy("the reader", reader_rule, choice=0), shares, tolerance)
        self.shares, self.tolerance = np.asarray(policy.settings["shares"]), float(policy.settings["tolerance"])
        if not 2 <= self.shares.size <= 10:
            raise ValueError(f"shares must have two to ten numbers, one an arm, not {self.shares.size}")
        arms, owed, self.moves = self.shares.size, self.shares, moves
        self.limits = self.tolerance + ((arms - 1) * owed if moves is None else owed + (arms - 2) * owed.max())
        there = None if moves is None else [[1] * arms]
        game = SharedBandit(bernoulli(np.full(arms, 0.5)), shares=owed, available=there)
        self._script, self._numbers = script(game, policy), numbers(game, policy, 1)

    def __repr__(self) -> str:
        return f"Attack({self.shares.tolist()}, tolerance={self.tolerance:g})"

    def _repr_html_(self) -> str:
        reach = 1.2 * self.limits.max()  # half the width of a lane
        switch = "" if self.moves is None else '<label><input type="checkbox" checked> there</label>'
        arms = []
        for a, limit in enumerate(self.limits):
            marks = "".join(f'<b style="left:{50 + 50 * x / reach:.2f}%"></b>' for x in (self.tolerance, limit))
            arms.append(
                f'<li><button type="button">Play arm {a + 1}</button>{switch}<span class="lane"><i></i>{marks}</span>'
                f'<output aria-label="arm {a + 1} is behind by"></output></li>'
            )
        data = {
            "game": self._numbers,
            "script": self._script,
            "shares": self.shares.tolist(),
            "reach": reach,
            "limits": self.limits.tolist(),
            "moves": self.moves,
            "choice": self._numbers["places"]["params"]["learner.choice"][0][0],
        }
        limits = " and ".join(f"{x:g}" for x in sorted(set(self.limits.tolist())))
        stored = (
            f"In the built page you are the learner here, of {self.shares.size} arms, and FAIR-LEARN answers. However "
            f"you play, no arm is ever more than {limits} plays behind."
        )
        return _filled("attack.html", arms="\n".join(arms), data=script_json(data), stored=stored)


class Guess:
    """A question with a number for an answer, which the reader guesses before seeing it.

    Parameters
    ----------
    question : str
        The question.
    answer : str
        The answer, a sentence with the number in it.
    low, high : float
        The range of the guesses.
    step : float
        How fine a guess is, above 0.
    unit : str
        The text after the number, such as ``" rounds"``.

    Raises
    ------
    TypeError, ValueError
        If a text is missing or empty, or the range or the step is empty.

    Examples
    --------
    >>> Guess("How many of 100 rounds go to the better of two arms?", "It gets 87 rounds.", 0, 100, unit=" rounds")
    Guess('How many of 100 rounds go to the better of two arms?')
    """

    @checked
    def __init__(
        self,
        question: Annotated[str, checks.Text(empty=False)],
        answer: Annotated[str, checks.Text(empty=False)],
        low: Annotated[float, checks.Real()],
        high: float,
        step: Positive = 1.0,
        unit: Annotated[str, checks.Text()] = "",
    ) -> None:
        self.question, self.answer, self.unit = question, answer, unit
        self.low, self.step = low, step
        self.high = checks.real("high", high, above=self.low)

    def __repr__(self) -> str:
        return f"Guess({self.question!r})"

    def _repr_html_(self) -> str:
        middle = self.low + self.step * round((self.high - self.low) / 2 / self.step)
        ends = {"low": f"{self.low:g}", "high": f"{self.high:g}", "step": f"{self.step:g}", "middle": f"{middle:g}"}
        return _filled(
            "guess.html",
            question=html.escape(self.question),
            answer=html.escape(self.answer),
            said=script_json(self.answer),
            unit=script_json(self.unit),
            **ends,
        )
