"""Trials of bounds: each bound against play, in games where it is below the most that can happen (`bound_trials`).

`make test` plays one game of each bound, twenty runs (of Fair-Greedy one); `make test-full` plays them all, a thousand
runs.
"""

import inspect
import math
import os
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from bound_trials import COLUMNS, LINES, RECORD, read, record, trial
from bound_trials.cases import FEWER, NUMBER, QUICK, RUNS, judge, played
from bound_trials.shares import shared
from helpers import public

from fairlib import shares as sh

FULL = os.environ.get("TRIALS") == "full"
# Any one game, whatever other bounds there are; of the dear ones that at the sharp end, which is the shortest.
ONE = {name: crc32(name.encode()) % NUMBER if line.quick == QUICK else NUMBER - 1 for name, line in LINES.items()}
GAMES = [(name, i) for name in LINES for i in (range(NUMBER) if FULL else [ONE[name]])]
NAMED: Any = {"argnames": ("name", "number"), "argvalues": GAMES, "ids": [f"{n}-{i}" if FULL else n for n, i in GAMES]}
VACUOUS: set[tuple[str, int]] = set()
"""Games in which a bound is above all that can happen. Add one only if no search finds a game in which it is not."""

# What a theory has besides bounds.
NO_BOUND = {
    "best_quantile": "chooses a bound's quantile",
    "calibrated_shares": "is what it says, exactly",
    "clash": "is what it says, exactly",
    "constants": "is what it says, exactly",
}
# Steps of bounds that are checked, exactly or in play, by a test of their own.
ELSEWHERE = {
    "counted_from": "test_ranks_bounds.py::test_every_group_is_counted",
    "estimate_radius": "test_ranks_bounds.py::test_the_estimate_is_within_its_radius_and_the_regret_within_lemma_5_2",
    "price_of_merit": "test_price_of_merit.py::test_the_price_of_a_merit_function",
    "least_exploration": "test_ranks_bounds.py::test_the_bathtub_is_the_worst_case",
    # It holds for all contexts there can be. So nothing that can happen is above it, and no trial of it could fail.
    "total_width": "test_exposure_contexts.py::test_the_worst_contexts_come_near_the_bound_on_the_total_width",
}


def theory() -> set[str]:
    """Return every public function that is a bound by its name, or is in the theory of a paper."""
    functions = {name: each.__module__ for name, each in public().items() if inspect.isfunction(each)}
    return {name for name, module in functions.items() if name.endswith("_bound") or module.endswith(".theory")}


def test_every_bound_has_a_line():
    assert theory() == {*LINES, *NO_BOUND, *ELSEWHERE}
    assert len({*LINES, *NO_BOUND, *ELSEWHERE}) == len(LINES) + len(NO_BOUND) + len(ELSEWHERE)
    for test in ELSEWHERE.values():
        file, name = test.split("::")
        assert f"\ndef {name}(" in (Path(__file__).parent / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(**NAMED)
def test_a_bound_holds_where_it_bites(name, number):
    found = trial(name, number, LINES[name].runs if FULL else LINES[name].quick)
    if FULL:
        record(found)
    assert (found["word"] == "vacuous") is ((name, number) in VACUOUS)
    assert found["word"] in (("held", "vacuous") if FULL else ("held", "open", "vacuous"))
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


def test_a_maximum_that_nobody_reaches_is_found():
    """Ranks of two candidates are a third apart on average: the worst policy doesn't lose a round in a round."""
    one = LINES["fair_greedy_bound"].make(NUMBER - 1)
    lost = one.worst().mean()
    assert lost == pytest.approx(one.rounds[-1] / 3, rel=0.01)
    assert lost < (1 - OFF) * one.rounds[-1]


def test_the_record_is_of_these_trials():
    """What the book shows: the last run of all, of these games and these bounds (`make test-full` stores it anew)."""
    rows = read()
    assert [(row["bound"], int(row["number"])) for row in rows] == [(n, i) for n in LINES for i in range(NUMBER)]
    assert {row["word"] for row in rows} <= {"held", "vacuous", "unplayed"}
    tried = [row for row in rows if row["word"] != "unplayed"]
    assert all(tuple(row) == COLUMNS and int(row["runs"]) == LINES[row["bound"]].runs for row in tried)
    found = {(row["bound"], int(row["number"])): row["word"] == "vacuous" for row in tried}
    assert found == {game: game in VACUOUS for game in found}
    for row in tried[:: NUMBER + 1]:
        one = LINES[row["bound"]].make(int(row["number"]))
        assert (row["game"], int(row["horizon"])) == (one.game, one.rounds[-1])
        assert float(row["limit"]) == pytest.approx(float(one.bound[-1]), rel=1e-5)


def test_the_page_says_what_the_record_says_of_fair_greedy():
    page = " ".join((RECORD.parent / "results.md").read_text(encoding="utf-8").split())
    rows = [row for row in read() if row["policy"] == "Fair-Greedy"]
    assert {row["runs"] for row in rows} == {str(FEWER)}
    assert f"its bounds bite from {min(int(row['horizon']) for row in rows):,} rounds on at the earliest" in page
    assert f"plays each game {FEWER} times, which is just enough" in page
    fewest = next(n for n in range(1, RUNS) if judge(np.zeros((n, 1)), np.ones(1), 2.0, 0.5).word == "held")
    assert fewest == FEWER or fewest + 1 == FEWER
    assert max(float(row["tightness"]) for row in rows) < 0.001
    assert "loses less than a thousandth of what they allow" in page


# What is wrong must be found to be wrong --------------------------------------------------------------------------


def test_a_bound_on_the_mean_that_a_paper_misprinted_is_violated():
    """Theorem 4 of Patil et al. as printed sums over the wrong arms (erratum E-P1)."""
    game, t = shared(NUMBER - 1), np.array([10_000])
    regret = played(game, sh.fair_ucb(game.shares), "regret", 20, t)
    most = 10_000 * np.ptp(game.arms.means)
    printed = np.ptp(game.arms.means) * (1 + math.pi**2 / 3)
    assert printed == pytest.approx(3.43, abs=0.005)
    assert judge(regret, np.array([printed]), most, None).word == "violated"
    right = judge(regret, sh.fair_ucb_regret_bound(game, t), most, None)
    assert right.word == "held"
    assert right.tightness > 0.99  # and hardly anything less would do
    assert judge(regret, 0.99 * sh.fair_ucb_regret_bound(game, t), most, None).word == "violated"


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
