"""Trials of bounds: each bound against play, in games where it is below the most that can happen (`bound_trials`).

`make test` plays one game of each bound, twenty runs (of Fair-Greedy one); `make test-full` plays them all, a thousand
runs.
"""

import inspect
import itertools
import os
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from bound_trials import COLUMNS, LINES, read, record, trial
from bound_trials.cases import NUMBER, QUICK, judge
from helpers import public

FULL = os.environ.get("TRIALS") == "full"
# Any one game, whatever other bounds there are; of the dear ones that at the sharp end, which is the shortest.
ONE = {name: crc32(name.encode()) % NUMBER if line.quick == QUICK else NUMBER - 1 for name, line in LINES.items()}
GAMES = [(name, i) for name in LINES for i in (range(NUMBER) if FULL else [ONE[name]])]
NAMED: Any = {"argnames": ("name", "number"), "argvalues": GAMES, "ids": [f"{n}-{i}" if FULL else n for n, i in GAMES]}


def test_every_bound_has_a_line():
    assert {name for name, each in public().items() if inspect.isfunction(each) and name.endswith("_bound")} <= {*LINES}


@pytest.mark.parametrize(**NAMED)
def test_a_bound_holds_where_it_bites(name, number):
    found = trial(name, number, LINES[name].runs if FULL else LINES[name].quick)
    if FULL:
        record(found)
    assert found["word"] in (("held",) if FULL else ("held", "open"))
    assert found["violations"] < found["runs"]  # a single run is too few to tell, but not to be looked at


# How far what the worst policy loses may be from `most`: a tenth of the tenth by which a bound has to be below it would
# do where `most` is exact, but some are means over contexts that are drawn.
OFF = 0.05


@pytest.mark.parametrize(**NAMED)
def test_the_most_that_can_happen_is_what_the_worst_policy_loses(name, number):
    """The maximum is attained, so that a bound below it can be broken: the worst policy is above it where it bites."""
    one = LINES[name].make(number)
    lost = np.asarray(one.worst()).mean(axis=0)
    if one.below:
        assert (lost <= one.most + 1e-9 * one.bound).all()
        assert (one.bound > lost).all()
        return
    assert lost[-1] == pytest.approx(np.broadcast_to(one.most, lost.shape)[-1], rel=OFF)
    bites = np.asarray(one.bound) < (1 - OFF) * np.asarray(one.most)
    assert bites[-1]
    assert (lost[bites] > one.bound[bites]).all()


def test_the_record_is_of_these_trials():
    """What the book shows: the last run of all, of these games and these bounds (`make test-full` stores it anew)."""
    rows = read()
    assert [(row["bound"], int(row["number"])) for row in rows] == [(n, i) for n in LINES for i in range(NUMBER)]
    assert {row["word"] for row in rows} <= {"held", "unplayed"}
    tried = [row for row in rows if row["word"] != "unplayed"]
    assert all(tuple(row) == COLUMNS and int(row["runs"]) == LINES[row["bound"]].runs for row in tried)
    for row in tried[:: NUMBER + 1]:
        one = LINES[row["bound"]].make(int(row["number"]))
        assert (row["game"], int(row["horizon"])) == (one.game, one.rounds[-1])
        assert float(row["limit"]) == pytest.approx(float(one.bound[-1]), rel=1e-5)


# What is wrong must be found to be wrong --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "number", "factor"),
    [
        ("ucb1_bound", 5, 0.1),  # on the mean
        ("fairx_ucb_width", 5, 0.4),  # with high probability
        ("linucb_radius", 5, 0.4),
        ("rank_error", 5, 0.5),
        ("price_probability", 3, 5.0),  # from below
        ("fairness_lower_bound", 0, 40.0),
    ],
)
def test_a_bound_with_a_wrong_constant_is_violated(name, number, factor):
    one = LINES[name].make(number)
    values: Any = one.play(100)
    how: dict[str, Any] = {"failure": one.failure, "below": one.below}
    assert judge(values, one.bound, one.most, **how).word in ("held", "open")
    assert judge(values, factor * one.bound, one.most, **how).word == "violated"


COUNTED, COINS, SURE = np.arange(1000.0)[:, None], np.tile([0.0, 2.0], 50)[:, None], np.ones((20, 2))
WORDS = ("held", "open", "open", "violated")
JUDGED: list[tuple[Any, Any, Any, float | None, bool, str]] = [
    # 150 violations in 1,000 runs are too many for 0.1, 105 leave it open, and 20 runs can't tell.
    (COUNTED, [849], 2000, 0.1, False, "violated"),
    (COUNTED, [894], 2000, 0.1, False, "open"),
    (COUNTED, [939], 2000, 0.1, False, "held"),
    (COUNTED[:20], [1999], 2000, 0.1, False, "open"),
    # A mean of 1, with a standard error of 0.1005: 4.5 of them either way are too few runs to tell.
    *((COINS, [bound], 9, None, False, word) for bound, word in zip((1.5, 1.2, 0.8, 0.5), WORDS, strict=True)),
    *((COINS, [bound], 0, None, True, word) for bound, word in zip((0.5, 0.8, 1.2, 1.5), WORDS, strict=True)),
    # What is above all that can happen is vacuous; and only the rounds in which it bites count.
    *((SURE, [5, 7], [5, 6], failure, False, "vacuous") for failure in (None, 0.1)),
    *((SURE, [-1, 0], 0, failure, True, "vacuous") for failure in (None, 0.1)),
    (SURE, [0.5, 2], [0.5, 3], None, False, "held"),
    (SURE, [0.5, 2], [0.6, 3], None, False, "violated"),
]


@pytest.mark.parametrize(("values", "bound", "most", "failure", "below", "word"), JUDGED, ids=itertools.count())
def test_a_verdict(values, bound, most, failure, below, word):
    assert judge(values, np.array(bound), np.array(most), failure, below=below).word == word
