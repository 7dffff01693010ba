"""The examples of the errata, calculated, and a solution for each exercise."""

import itertools
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHAPTERS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "chapters").glob("*.md"))}
ENTRIES = re.findall(r"^\((e-[a-z0-9-]+)\)=\n(.*?)(?=^\(e-|^## |\Z)", CHAPTERS["errata"], re.MULTILINE | re.DOTALL)

# ---------------------------------------------------------------------------------------------------------------------
# Errata


def test_what_the_package_and_the_tests_call_an_erratum_is_one():
    known = {label.upper() for label, _ in ENTRIES}
    for path in [*ROOT.glob("fairlib/**/*.py"), *ROOT.glob("tests/**/*.py")]:
        for name in re.findall(r"\bE-[A-Z]\d+[a-z]?\b", path.read_text(encoding="utf-8")):
            assert name.upper() in known, f"{path.name}: {name}"


def furthest_behind(r: list[Fraction], rounds: int) -> tuple[int, set[tuple[int, ...]]]:
    """Return the most whole plays that FAIR-LEARN with tolerance 0 leaves an arm behind, and the plays that do it."""
    most = 0
    found: set[tuple[int, ...]] = set()
    for free in itertools.product(range(len(r)), repeat=rounds):  # what a learner would play if it were asked
        plays, played = [0] * len(r), []
        for t in range(rounds):
            behind = [share * t - n for share, n in zip(r, plays, strict=True)]
            arm = behind.index(max(behind)) if max(behind) > 0 else free[t]
            plays[arm] += 1
            played.append(arm + 1)
            owed = max(math.floor(share * (t + 1)) - n for share, n in zip(r, plays, strict=True))
            if owed >= most:
                found = ({*found} if owed == most else set()) | {tuple(played)}
                most = owed
    return most, found


def test_shares_that_only_sum_to_less_than_one_can_leave_an_arm_a_play_behind():
    """E-P5, by trying every learner."""
    r = [Fraction(3, 4), Fraction(1, 8), Fraction(1, 16)]
    assert sum(r) < 1
    most, plays = furthest_behind(r, 4)
    assert (most, plays) == (1, {(3, 1, 1, 2)})
    assert furthest_behind([Fraction(1, 3)] * 3, 5)[0] == 0


def test_a_run_can_be_good_and_the_index_too_low():
    """E-P13b, Theorem 7: UCB1 takes turns while nothing is paid; in round 15 the best index is below its mean."""
    plays = [1, 1]
    for t in range(3, 15):
        index = [math.sqrt(2 * math.log(t) / n) for n in plays]
        plays[index.index(max(index))] += 1
    assert plays == [7, 7]
    assert round(math.sqrt(2 * math.log(15) / 7), 2) == 0.88 < 0.9
    for n in range(1, 8):  # in each of these rounds the event allows a mean of 0
        assert math.sqrt(2 * math.log(10**6) / n) > 0.9
    assert round(math.sqrt(2 * math.log(10**6) / 7), 2) == 1.99


def test_two_games_in_which_nothing_is_paid_cost_a_third_of_the_rounds():
    """E-F2: the identity as merit, means theta and 2 theta against 2 theta and theta."""
    costs = []
    for percent in range(101):
        first = percent / 100
        costs.append(max(2 * abs(first - share) for share in (1 / 3, 2 / 3)))
    assert min(costs) == pytest.approx(1 / 3)


def test_no_merit_gives_the_chance_of_the_larger_coin():
    """E-F17: what the ratio of two merits would have to be."""

    def larger(x: float, y: float) -> float:
        return x * (1 - y) + (x * y + (1 - x) * (1 - y)) / 2

    assert larger(0.7, 0.4) == pytest.approx((1 + 0.7 - 0.4) / 2)
    ratios = [larger(x, y) / larger(y, x) for x, y in ((0.5, 0), (1, 0.5))]
    assert ratios == pytest.approx([3, 3])
    assert larger(0, 1) == 0
