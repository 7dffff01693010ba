"""Trials of bounds: each bound against play, in games where it is below the most that can happen (`bound_trials`).

`make test` plays one game of each bound, twenty runs (of Fair-Greedy one); `make test-full` plays them all, a thousand
runs.
"""

import inspect
import os
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from bound_trials import COLUMNS, LINES, RECORD, read, record, trial
from bound_trials.cases import FEWER, NUMBER, QUICK, judge
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


def test_the_page_says_what_the_record_says_of_fair_greedy():
    page = " ".join((RECORD.parent / "results.md").read_text(encoding="utf-8").split())
    rows = [row for row in read() if row["policy"] == "Fair-Greedy"]
    assert f"its bounds bite from {min(int(row['horizon']) for row in rows):,} rounds on at the earliest" in page
    assert f"plays each game {FEWER} times" in page
    assert max(float(row["tightness"]) for row in rows) < 0.001
    assert "loses less than a thousandth of what they allow" in page


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


def test_shares_of_violations_are_judged_by_an_interval():
    """In 1,000 runs 150 violations are too many for 0.1, and 105 leave it open."""
    values = np.arange(1000)[:, None]
    for over, word in ((150, "violated"), (105, "open"), (60, "held")):
        found = judge(values, np.array([999.0 - over]), 2000.0, 0.1)
        assert (found.word, found.violations) == (word, over)
    none = judge(values, np.array([1999.0]), 2000.0, 0.1)
    assert none.low == 0.0
    assert none.high == pytest.approx(1 - 0.0005 ** (1 / 1000))
    assert judge(values[:20], np.array([1999.0]), 2000.0, 0.1).word == "open"  # twenty runs can't tell


def test_what_is_above_all_that_can_happen_is_vacuous_and_never_held():
    values = np.ones((20, 2))
    for failure in (None, 0.1):
        assert judge(values, np.array([5.0, 7.0]), np.array([5.0, 6.0]), failure).word == "vacuous"
        assert judge(values, np.array([-1.0, 0.0]), 0.0, failure, below=True).word == "vacuous"
    # Only the rounds in which it bites count.
    assert judge(values, np.array([0.5, 2.0]), np.array([0.5, 3.0]), None).word == "held"
    assert judge(values, np.array([0.5, 2.0]), np.array([0.6, 3.0]), None).word == "violated"


def test_a_mean_is_judged_by_its_standard_error():
    """4.5 of them either way, and the runs are too few to tell between."""
    values = np.tile([0.0, 2.0], 50)[:, None]  # a mean of 1 with a standard error of 0.1005
    for bound, word in ((1.5, "held"), (1.2, "open"), (0.8, "open"), (0.5, "violated")):
        assert judge(values, np.array([bound]), 9.0, None).word == word
    for bound, word in ((0.5, "held"), (0.8, "open"), (1.2, "open"), (1.5, "violated")):
        assert judge(values, np.array([bound]), 0.0, None, below=True).word == word
