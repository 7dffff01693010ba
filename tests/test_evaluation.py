"""Off-policy evaluation on logs whose truth is known: unbiased exactly, and intervals that cover."""

import itertools
import math
import time
from functools import cache

import numpy as np
import pandas as pd
import pytest

import fairlib as fl
from fairlib.baselines.linear import linucb
from fairlib.data import Log
from fairlib.merit import Merit, exponential, fair_policy
from fairlib.study.evaluate import Interval, evaluate

E = math.e
MEANS = np.array([0.7, 0.5, 0.4, 0.2])
MERIT = exponential(3)
TARGET = fair_policy(MERIT, MEANS)
OTHER = np.array([0.4, 0.3, 0.2, 0.1])
LOGS = 300
METHODS = ("ips", "snips", "dr")


def table(arm, reward, propensity, **more) -> pd.DataFrame:
    return pd.DataFrame({"arm": arm, "reward": reward, "propensity": propensity, **more})


# By hand ------------------------------------------------------------------------------------------------------------

HAND = table([0, 1, 0, 1], [2.0, 1.0, 0.0, 3.0], [0.5, 0.25, 0.5, 0.75])
Q = [0.25, 0.75]  # weights 1/2, 3, 1/2, 1


def test_ips_and_snips_by_hand():
    ips = evaluate(HAND, Q)
    assert ips.method == "ips"
    assert ips.reward.value == pytest.approx((1 + 3 + 0 + 3) / 4)
    assert ips.reward.error == pytest.approx(np.std([1, 3, 0, 3], ddof=1) / 2)
    assert [each.value for each in ips.arms] == pytest.approx([4 / 4, (4 + 4) / (4 + 4 / 3)])  # by SNIPS
    snips = evaluate(HAND, Q, method="snips")
    assert snips.reward.value == pytest.approx(7 / 5)
    left = np.array([0.5 * (2 - 1.4), 3 * (1 - 1.4), 0.5 * (0 - 1.4), 1 * (3 - 1.4)]) / 1.25
    assert snips.reward.error == pytest.approx(math.sqrt(left @ left / 3) / 2)
    long = evaluate(pd.concat(100 * [HAND]), Q, method="snips").reward
    assert long.high - long.value == pytest.approx(1.959964 * long.error)


def test_dr_by_hand():
    """The model is 0 at first, then the mean of all until an arm has been played, then its own."""
    terms = [0 + 0.5 * (2 - 0), 2 + 3 * (1 - 2), 0.25 * 2 + 0.75 * 1 + 0.5 * (0 - 2), 1 + 1 * (3 - 1)]
    found = evaluate(HAND, Q, method="dr")
    assert found.reward.value == pytest.approx(np.mean(terms))
    assert found.reward.error == pytest.approx(np.std(terms, ddof=1) / 2)


def test_dr_does_not_learn_from_its_own_visit():
    log = table([0, 0, 1, 0], [4.0, 2.0, 1.0, 3.0], 0.5, page=["a", "a", "b", "b"])
    terms = [4.0, 2.0, 3 + 1 * (1 - 3), 3.0 + 1 * (3 - 3)]
    found = evaluate(log, [0.5, 0.5], method="dr", by="page")
    assert found.reward.value == pytest.approx(np.mean(terms))
    left = np.array(terms) - np.mean(terms)
    assert found.reward.error == pytest.approx(math.sqrt(2 * ((left[0] + left[1]) ** 2 + (left[2] + left[3]) ** 2)) / 4)


def test_overlap_by_hand():
    overlap = evaluate(HAND, Q).overlap
    weights = np.array([0.5, 3, 0.5, 1])
    assert overlap.visits == 4
    assert overlap.weight == pytest.approx((1.25, weights.std(ddof=1) / 2))
    assert overlap.effective == pytest.approx(25 / 10.5)
    assert overlap.largest == 3
    assert overlap.rewards == pytest.approx(7**2 / (1 + 9 + 9))
    assert (overlap.unseen, overlap.repeated) == ((), 0)
    assert [each.mean for each in overlap.arms] == pytest.approx([4 / 4, (4 + 4 / 3) / 4])
    pages = evaluate(table([0, 1, 1], 1.0, 0.5, page=[1, 1, 2]), [0.5, 0.5], by="page").overlap
    assert pages.visits == 2
    assert pages.effective == pytest.approx(9 / 5)


def test_the_gamma_interval_is_that_of_a_poisson_count_where_weights_are_equal():
    """Of five events the exact ends are chi-squared quantiles: 1.623 and 11.668."""
    n = 100_000
    clicks = np.zeros(n)
    clicks[:5] = 1
    found = evaluate(table(np.arange(n) % 2, clicks, 0.5), [0.5, 0.5])
    assert found.interval == "gamma"
    assert (found.reward.low * n, found.reward.high * n) == pytest.approx((1.623486, 11.668332), rel=1e-5)
    assert found.reward.value * n == pytest.approx(5)
    assert not evaluate(table(np.arange(n) % 2, 0.0, 0.5), [0.5, 0.5]).reward.trusted  # of clicks, or of euros?


def test_the_gamma_interval_of_unequal_weights_by_hand():
    from scipy.stats import chi2

    n = 40
    log = table([0, 0, 1, 1] * 10, [1, 0, 1, 0] + 36 * [0], [0.2, 0.2, 0.8, 0.4] * 10)
    x = np.array([0.6 / 0.2, 0.4 / 0.8]) / n
    y, v, m = x.sum(), x @ x, 3 / n  # weights are 3, 3, 1/2 and 1, and 3 is the largest that there could be
    found = evaluate(log, [0.6, 0.4]).reward
    assert found.value == pytest.approx(y)
    assert found.low == pytest.approx(v / (2 * y) * chi2.ppf(0.025, 2 * y**2 / v))
    assert found.high == pytest.approx((v + m**2) / (2 * (y + m)) * chi2.ppf(0.975, 2 * (y + m) ** 2 / (v + m**2)))
    assert evaluate(log[:4], [0.6, 0.4]).reward.high == 1  # a mean of clicks is at most that


def test_an_arm_that_was_never_played_is_named_and_nothing_is_said_of_it():
    log = table(np.array(["tea", "milk"])[np.arange(300) % 2], (np.arange(300) % 3 == 0) * 1, 0.5)
    found = evaluate(Log(log, arms=["milk", "tea", "cocoa"]), [0.5, 0.25, 0.25])
    assert found.overlap.unseen == ("cocoa",)
    assert not found.arms[2].trusted
    assert math.isnan(found.arms[2].value)
    assert found.frame().loc["cocoa", ["mean", "low", "high"]].isna().all()
    assert math.isnan(found.fairness(MERIT).value)
    low, high = found.fairness(MERIT)[2:]
    assert 0 <= low < high <= 2
    assert "so what they earn is unknown: cocoa" in found.warnings[-1]
    assert evaluate(Log(log, arms=["milk", "tea", "cocoa"]), [0.5, 0.5, 0.0]).overlap.unseen == ()


def test_exposure_needs_no_weights():
    target = np.array([[1.0, 0.0], [0.5, 0.5], [0.5, 0.5], [0.0, 1.0]])
    assert evaluate(HAND, target).exposure.tolist() == [0.5, 0.5]
    assert evaluate(HAND, Q).exposure.tolist() == Q
    # A target row by row is weighted row by row: 2, 2, 1 and 4/3.
    assert evaluate(HAND, target).overlap.weight.mean == pytest.approx((2 + 2 + 1 + 4 / 3) / 4)


def test_fairness_by_hand():
    """Two arms: the least and the largest fair share of the first are at corners of the box."""
    rng = np.random.default_rng(0)
    arm = rng.integers(2, size=2000)
    log = table(arm, rng.normal([0.8, 0.3], 0.2, (2000, 2))[np.arange(2000), arm], 0.5)
    found = evaluate(log, [0.6, 0.4])
    one, two = found.arms
    first = [
        math.exp(3 * x) / (math.exp(3 * x) + math.exp(3 * y)) for x, y in ((one.low, two.high), (one.high, two.low))
    ]
    middle = math.exp(3 * one.value) / (math.exp(3 * one.value) + math.exp(3 * two.value))
    assert first[0] > 0.6
    assert found.fairness(MERIT)[2:] == pytest.approx((2 * (first[0] - 0.6), 2 * (first[1] - 0.6)))
    assert found.fairness(MERIT).value == pytest.approx(2 * (middle - 0.6))
    # A target between the ends may be the fair policy; and one by rows is judged in each visit.
    assert evaluate(log, [middle, 1 - middle]).fairness(MERIT).low == 0
    in_turns = evaluate(log, np.tile(np.eye(2), (1000, 1))).fairness(MERIT)
    assert in_turns.value == pytest.approx(1.0, abs=1e-9)  # (2 * (1 - p) + 2 * p) / 2


def test_how_it_reads():
    found = evaluate(HAND, Q)
    lines = repr(found).splitlines()
    assert lines[0] == "Evaluation of 4 visits by ips"
    assert lines[1] == "overlap: mean weight 1.250 ± 0.595, effective visits 2, largest weight 3"
    assert lines[2:-1] == [f"warning: {each}" for each in found.warnings]
    assert lines[-1] == "reward: too few, gamma interval at level 0.95"
    assert f"{Interval(1.0, 0.5, 0.0, 2.0):.1f}" == "1.0 (0.0 to 2.0)"


def test_what_is_warned_of():
    rng = np.random.default_rng(2)
    arm = rng.integers(2, size=1000)
    good = table(arm, rng.integers(2, size=1000), 0.5)
    assert evaluate(good, [0.75, 0.25]).warnings == ()
    assert "below 100 effective visits" in " ".join(evaluate(good[:90], [0.75, 0.25]).warnings)
    wrong, arms = evaluate(good.assign(propensity=0.4), [0.75, 0.25]).warnings
    assert "the mean weight is more than three errors from 1" in wrong
    assert arms.endswith("plays are as of 0 in 125.0% of the visits, 1 in 125.0% of the visits")
    rare = good.assign(reward=(np.arange(1000) < 30).astype(int))
    found = evaluate(rare, [0.75, 0.25], method="snips")
    assert f"{found.reward:.3f}" == "too few"
    assert 'effective rewards other than 0; method="ips" needs fewer' in found.warnings[0]
    assert evaluate(rare, [0.75, 0.25]).warnings == ()


@pytest.mark.parametrize("method", METHODS)
def test_an_arm_that_joins_half_way_is_judged_by_the_visits_in_which_it_was_there(method):
    rng, late = np.random.default_rng(0), np.arange(20_000) >= 10_000
    arm = (late & (rng.random(late.size) < 0.5)).astype(int)
    log = table(arm, (rng.random(late.size) < np.array([0.12, 0.1])[arm]).astype(int), np.where(late, 0.5, 1.0))
    found = evaluate(log, np.where(late[:, None], [0.5, 0.5], [1.0, 0.0]), method=method)
    assert covers(found.arms[1], 0.1)
    assert found.arms[1].low > 0.07
    assert found.frame().loc[1, "drawable"] == pytest.approx(0.5, abs=0.03)
    assert found.warnings == (found.warnings[0],)
    assert found.warnings[0].endswith("; plays are as of 1 in 49.4% of the visits")


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_printed_that_lies_outside_its_interval_or_the_range_of_rewards(method):
    """A target that always plays an arm of propensity .001, of which the log has one play, a sale."""
    log = table([0, *([1, 2] * 250)], [1, *([0, 1, 0, 0] * 125)], [0.001, *([0.5] * 500)])
    found = evaluate(log, [1, 0, 0], method=method)
    assert repr(found).splitlines()[-1].startswith("reward: too few")


def test_a_log_that_was_delivered_twice_is_noticed():
    rng = np.random.default_rng(1)
    once = table(rng.integers(2, size=500), rng.integers(2, size=500), 0.5, request=[f"r{i}" for i in range(500)])
    twice = pd.concat([once, once])
    assert "rows are there twice or more (500)" in evaluate(twice, Q).warnings[0]
    assert evaluate(twice, Q, by="request").reward.low == pytest.approx(evaluate(once, Q).reward.low, rel=0.02)
    for other in (once, once.assign(request=7), twice[["arm", "reward", "propensity"]]):  # these may be alike
        assert evaluate(other, Q).overlap.repeated == 0


def test_arms_have_names_and_rows_that_were_left_out_are_told():
    rows = HAND.assign(arm=["coffee", "tea", "coffee", "tea"]).to_dict("records")
    log = Log([*rows, {"arm": "tea", "reward": None, "propensity": 0.5}], missing="drop")
    found = evaluate(log, {"tea": 0.75, "coffee": 0.25})
    assert found.reward == evaluate(HAND, Q).reward
    assert found.frame().loc["coffee", "exposure"] == 0.25
    assert (found.frame().index.tolist(), log.arms) == (["coffee", "tea"], ("coffee", "tea"))
    assert found.warnings[0] == "rows of the log were left out (1), and the others may be unlike them"


# Unbiased -----------------------------------------------------------------------------------------------------------


def expectations(learns: bool, target, paid=(0.0, 1.0), visits: int = 4) -> dict[str, float]:
    """Sum over all logs of a game with two arms, whose maker may have played what paid last with probability 0.8."""
    means, found = (0.7, 0.4), dict.fromkeys(METHODS, 0.0)
    for arms in itertools.product((0, 1), repeat=visits):
        for lucky in itertools.product((False, True), repeat=visits):
            chance, rows, favourite = 1.0, [], 0
            for arm, luck in zip(arms, lucky, strict=True):
                propensity = 0.8 if arm == favourite else 0.2
                chance *= propensity * (means[arm] if luck else 1 - means[arm])
                rows.append({"arm": arm, "reward": paid[luck], "propensity": propensity})
                if learns:
                    favourite = arm if luck else 1 - arm
            for method in METHODS:
                found[method] += chance * evaluate(rows, target, method=method).reward.value
    return found


@pytest.mark.parametrize("learns", [False, True])
def test_ips_and_dr_are_unbiased_exactly(learns):
    target = np.array([0.3, 0.7])
    truth = 0.3 * 0.7 + 0.7 * 0.4
    found = expectations(learns, target)
    assert found["ips"] == pytest.approx(truth, abs=1e-12)
    assert found["dr"] == pytest.approx(truth, abs=1e-12)
    assert abs(found["snips"] - truth) > 0.005  # a ratio is not


# Intervals cover ----------------------------------------------------------------------------------------------------


@cache
def logs(learns: bool, clicks: bool, visits: int = 1500) -> list[pd.DataFrame]:
    """Draw 300 logs side by side, with fixed propensities or by a policy whose favourite is what has paid best."""
    rng = np.random.default_rng((learns, clicks, 5))
    paid, shown, rows = np.zeros((LOGS, 4)), np.ones((LOGS, 4)), np.arange(LOGS)
    arm = np.empty((visits, LOGS), np.int64)
    reward, propensity = np.empty((2, visits, LOGS))
    for t in range(visits):
        p = np.full((LOGS, 4), 0.15) if learns else np.tile([0.1, 0.2, 0.3, 0.4], (LOGS, 1))
        if learns:
            p[rows, np.argmax(paid / shown, axis=1)] = 0.55
        chances = p.cumsum(axis=1)
        drawn = arm[t] = np.minimum((rng.random((LOGS, 1)) >= chances).sum(axis=1), 3)
        mean = MEANS[drawn]
        reward[t] = rng.random(LOGS) < mean if clicks else 2 * mean * rng.random(LOGS)
        propensity[t] = p[rows, drawn]
        paid[rows, drawn] += reward[t]
        shown[rows, drawn] += 1
    return [table(arm[:, i], reward[:, i], propensity[:, i]) for i in range(LOGS)]


def covers(interval: Interval, truth: float) -> bool:
    return bool(interval.low <= truth <= interval.high)


def error(share: float, runs: int = LOGS) -> float:
    return math.sqrt(share * (1 - share) / runs)


def share_covered(name: str, covered: list[bool]) -> float:
    share = float(np.mean(covered))
    print(f"{name}: covered in {share:.3f} of {len(covered)} logs")
    return share


@pytest.mark.parametrize("clicks", [True, False], ids=["clicks", "amounts"])
@pytest.mark.parametrize("learns", [False, True], ids=["fixed", "learner"])
@pytest.mark.parametrize("method", METHODS)
def test_intervals_cover(method, learns, clicks):
    """Of the reward as often as they say, those of all arms at once at least as often, and so the box of fairness."""
    found = [evaluate(each, OTHER, method=method) for each in logs(learns, clicks)]
    apart = float(np.abs(TARGET - OTHER).sum())
    share = share_covered("reward", [covers(each.reward, OTHER @ MEANS) for each in found])
    least = 0.95 - 3 * error(0.95)
    assert share >= least
    assert np.mean([each.reward.trusted for each in found]) > 0.9
    if found[0].interval == "normal":
        assert share <= 0.95 + 3 * error(0.95)
    together = {
        "arms": [all(map(covers, each.arms, MEANS)) for each in found],
        "fairness": [covers(each.fairness(MERIT), apart) for each in found],
        "weight": [abs(each.overlap.weight.mean - 1) <= 3 * each.overlap.weight.error for each in found],
    }
    for name, covered in together.items():
        assert share_covered(name, covered) >= least
    # They are of use: shorter than what is known beforehand.
    assert np.median([each.arms[3].high for each in found]) < 0.5
    assert np.mean([each.fairness(MERIT).high for each in found]) < 1


LAWS = {
    "clicks": (lambda rng, means: (rng.random(means.size) < means / 100).astype(int), 0.01),
    "spend": (
        lambda rng, means: (rng.random(means.size) < means / 50) * rng.lognormal(0, 1, means.size),
        0.02 * E**0.5,
    ),
    "log-normal": (lambda rng, means: means * rng.lognormal(0, 1.5, means.size), E**1.125),
}


@pytest.mark.parametrize("visits", [200, 1000, 5000])
@pytest.mark.parametrize("law", LAWS)
def test_intervals_of_skewed_rewards_cover_or_are_too_few(law, visits):
    """In 100 logs; over 500 the least share was .96 of the printed ones."""
    rng, (draw, scale) = np.random.default_rng(49), LAWS[law]
    means, chances, target = np.array([1.0, 0.8, 1.2]), np.array([0.1, 0.3, 0.6]), np.array([0.4, 0.3, 0.3])
    reward, arms = [], []
    for _ in range(100):
        arm = rng.choice(3, visits, p=chances)
        found = evaluate(table(arm, draw(rng, means[arm]), chances[arm]), target)
        reward.append(covers(found.reward, target @ means * scale))
        arms.append(all(map(covers, found.arms, means * scale)))
        normal = evaluate(found.log, target, method="snips").reward
        assert not normal.trusted or visits == 5000
    least = 0.95 - 3 * error(0.95, 100)
    assert min(share_covered("reward", reward), share_covered("arms", arms)) >= least
    assert found.reward.trusted or (law, visits) in {("spend", 200), ("spend", 1000), ("log-normal", 200)}


def test_rows_of_one_visit_are_told_from_independent_ones():
    """Three places a visit, and visitors who click all or nothing: without `by` the interval is too short."""
    rng, truth, covered = np.random.default_rng(3), 0.5 * 0.8 + 0.5 * 0.4 - 1, []
    for _ in range(LOGS):
        arm = rng.integers(2, size=(300, 3))
        clicks = (rng.random((300, 1)) < 0.5) * np.array([1.6, 0.8])[arm] - 1  # normal intervals, as some are below 0
        log = table(arm.ravel(), clicks.ravel(), 0.5, visit=np.repeat(np.arange(300), 3))
        covered.append([covers(evaluate(log, [0.5, 0.5], by=by).reward, truth) for by in ("visit", None)])
    together, apart = (share_covered(name, [each[i] for each in covered]) for i, name in enumerate(("by", "not")))
    assert abs(together - 0.95) <= 3 * error(0.95)
    assert apart < 0.95 - 3 * error(0.95)


def test_clusters_of_clicks_have_a_gamma_interval_that_covers():
    rng, truth, covered = np.random.default_rng(4), 0.02, []
    for _ in range(LOGS):
        arm = rng.integers(2, size=(500, 3))
        clicks = np.repeat(rng.random(500) < 0.02, 3)  # a visitor clicks all three places, or none
        log = table(arm.ravel(), clicks.astype(int), 0.5, visit=np.repeat(np.arange(500), 3))
        covered.append([covers(evaluate(log, [0.9, 0.1], method="ips", by=by).reward, truth) for by in ("visit", None)])
    together, apart = (share_covered(name, [each[i] for each in covered]) for i, name in enumerate(("by", "not")))
    assert together >= 0.95 - 3 * error(0.95)
    assert apart < together


def test_a_merit_that_may_fall_is_refused():
    falling = Merit("falling", lambda x: 2.0 - x, low=0, high=1, minimum=1, lipschitz=1, log_lipschitz=1)
    with pytest.raises(ValueError, match=r"merit must be rising, as exponential\(2\) is, which 'falling' is not said"):
        evaluate(HAND, Q).fairness(falling)


# Bad input ----------------------------------------------------------------------------------------------------------

GOOD = table([0, 1, 0, 1], [1.0, 0.0, 2.0, 1.0], 0.5)
NAMED = Log(GOOD.assign(arm=["tea", "coffee", "tea", "coffee"]))


@pytest.mark.parametrize(
    ("log", "how", "message"),
    [
        (GOOD[:1], {}, "log must have two visits or more, not 1"),
        (GOOD.assign(arm=[0, 1, 2, 0]), {}, "target must have 3 probabilities, one for each arm of the log"),
        (NAMED, {"target": [0.2, 0.3, 0.5]}, "target must have 2 probabilities, .*, not 3"),
        (NAMED, {"target": {"tea": 1.0}}, r"target must have the arms of the log, .*, not \['tea'\]"),
        (GOOD, {"target": {"tea": 1.0}}, r"target must have the arms of the log, None, not \['tea'\]"),
        (GOOD.assign(timestamp=[1, 2, 4, 3]), {}, "timestamp of log must not fall, .* in row 3"),
        (GOOD.assign(timestamp=[pd.NaT, *pd.date_range("2024", periods=3)]), {}, "must be there .* in row 0"),
        (GOOD.assign(timestamp=["soon", object(), 1, 2]), {}, "timestamp of log must be numbers or times, not"),
        (
            GOOD.assign(timestamp=["2024-01-02", "2024-01-03T00:00:01.5+00:00", "2024-01-03", "2024-01-05"]),
            {},
            "timestamp of log must not fall, .* in row 2",
        ),
        (GOOD.assign(round=[1, 3, 2, 4]), {}, "round of log must not fall, .* in row 2"),
        (GOOD.assign(round=[1, 2, 2, 3]), {}, 'one reward, or by="round" be given .*; a second one is in row 2'),
        (
            GOOD.assign(round=[1, 2, 2, 2]),
            {"by": "round"},
            "round of log must have one reward; a second one is in row 3",
        ),
        (GOOD, {"by": "page"}, "by must be a column of log, not 'page'"),
        (GOOD.assign(page=1), {"by": "page"}, "log must have two visits or more, not 1"),
        (GOOD.assign(page=[[1], [2], [3], [4]]), {"by": "page"}, "page of log must be numbers, times or texts"),
        (GOOD, {"target": [0.5, 0.6]}, "target must be probabilities that sum to 1, not to 1.1"),
        (GOOD, {"target": [[0.5, 0.5]] * 3 + [[0.5, 0.25]]}, r"sum to 1, not to 0.75 \(row 3\)"),
        (GOOD, {"target": [[0.5, 0.5]] * 3}, "target must have 4 rows, one for each of the log, not 3"),
        (GOOD, {"target": [1.5, -0.5]}, r"target must be finite numbers in \[0, 1\], not 1.5"),
        (GOOD, {"target": [math.nan, 0.5]}, "target must be finite numbers"),
        (GOOD, {"target": 1.0}, r"target must be of shape \(K,\) or \(n, K\), not \(\)"),
        (GOOD, {"target": [0, 0, 1.0]}, "target must play some arm that the log played in that visit"),
        (GOOD, {"target": fl.ucb1()}, "not the policy 'UCB1', which learns: replay it with fairlib.study.replay"),
        (GOOD, {"target": linucb(1.0)}, "not the policy 'LinUCB', which learns: replay it with"),
        (GOOD, {"method": "dm"}, "method must be 'ips' or 'snips' or 'dr', not 'dm'"),
        (GOOD, {"level": 1.0}, r"level must be a number in \(0, 1\), not 1.0"),
    ],
    ids=itertools.count(),
)
def test_bad_input_is_refused_by_name(log, how, message):
    evaluate(GOOD, [0.5, 0.5])  # what is altered is good
    with pytest.raises((TypeError, ValueError), match=message):
        evaluate(log, **{"target": [0.5, 0.5], "method": "dr", **how})


def test_order_matters_only_where_the_past_is_used():
    """IPS and SNIPS of a shuffled log are those of the log."""
    log = HAND.assign(timestamp=pd.date_range("2024", periods=4, tz="UTC"))
    shuffled = log.iloc[[2, 0, 3, 1]]
    for method in ("ips", "snips"):
        one, two = (evaluate(each, Q, method=method).reward for each in (log, shuffled))
        assert one == pytest.approx(two)
    assert evaluate(log, Q, method="dr").reward == evaluate(HAND, Q, method="dr").reward
    with pytest.raises(ValueError, match="timestamp of log must not fall"):
        evaluate(shuffled, Q, method="dr")


def test_the_time_is_not_rows_times_arms():
    def seconds(arms: int) -> float:
        rng = np.random.default_rng(1)
        log = table(rng.integers(arms, size=20_000), rng.random(20_000), 1 / arms)
        start = time.process_time()
        evaluate(log, np.full(arms, 1 / arms))
        return time.process_time() - start

    seconds(2)
    assert seconds(3000) < 20 * seconds(300)
