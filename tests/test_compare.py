"""Several policies in several games, and what is said of the runs."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from arena_record import front
from scipy import stats

import fairlib as fl
from fairlib.baselines import linear
from fairlib.core.contexts import sphere
from fairlib.shares import SharedBandit, fair_ucb, t_fair_ucb
from fairlib.study.compare import Comparison

OWED = SharedBandit(fl.bernoulli([0.4, 0.5, 0.8]), shares=[0.2, 0.3, 0.0])
PLAIN = fl.Bandit(fl.bernoulli([0.5, 0.6]))
POLICIES: dict[str, Any] = {
    "chance": fl.uniform(),
    "UCB1": fl.ucb1(),
    "again": fl.ucb1(),
    "FAIR-UCB": lambda game, horizon: fair_ucb(game.shares),
}


@pytest.fixture(scope="module")
def made() -> Comparison:
    return fl.compare(POLICIES, {"owed": OWED, "plain": PLAIN}, 500, runs=40, seed=3)


def of_runs(**losses: list[float]) -> Comparison:
    """Return the comparison of policies whose regrets these are."""
    results = {}
    for name, regret in losses.items():
        runs = len(regret)
        column = np.reshape(regret, (runs, 1)).astype(float)
        results["game", name] = fl.Result(np.array([10]), np.full((runs, 1, 2), 5), 10 - column, column)
    return Comparison(10, results, {})


def test_each_pair_is_what_simulate_plays(made):
    for name, policy in (("chance", fl.uniform()), ("FAIR-UCB", fair_ucb([0.2, 0.3, 0.0]))):
        alone = fl.simulate(OWED, policy, 500, runs=40, seed=3, rounds=[500])
        for measure in made.measures("owed"):
            assert (made.values("owed", measure)[name] == getattr(alone, measure)[:, 0]).all()


def test_the_frame_has_what_the_runs_say(made):
    frame = made.frame()
    assert set(frame.index.get_level_values("game")) == {"owed", "plain"}
    runs = made.values("owed", "deficit")["UCB1"]
    said = frame.loc["owed", "deficit", "UCB1"]
    assert said.tolist() == [*fl.estimate(runs), np.median(runs), max(runs)]
    assert frame.loc["plain", "reward", "chance"]["worst"] == made.values("plain", "reward")["chance"].min()


def test_who_does_not_fit_is_left_out_with_the_reason():
    policies: dict[str, Any] = {
        **POLICIES,
        "short": t_fair_ucb([0.2, 0.3, 0.0], 100),
        "of the horizon": lambda game, horizon: t_fair_ucb(game.shares, horizon),
        "two arms": fair_ucb([0.1, 0.1]),
        "contexts": linear.at_random(),
    }
    games: dict[str, Any] = {"owed": OWED, "contexts": fl.ContextBandit(sphere(3, [0.6, 0.8]))}
    found = fl.compare(policies, games, 200, runs=20)
    assert {name for game, name in found.unfit if game == "owed"} == {"short", "two arms", "contexts"}
    assert "at most 100" in found.unfit["owed", "short"]
    assert {name for game, name in found.results if game == "contexts"} == {"contexts"}
    assert "of the horizon" in found.values("owed", "regret")
    for why in found.unfit.values():
        assert why in repr(found)


def test_ranks_are_those_of_holm(made):
    names = list(POLICIES)
    runs = made.values("owed", "r_regret")
    pairs = [(one, other) for i, one in enumerate(names) for other in names[i + 1 :]]
    p = [
        stats.ttest_rel(runs[one], runs[other]).pvalue if (runs[one] != runs[other]).any() else 1.0
        for one, other in pairs
    ]
    for level in (1e-6, 0.05, 0.5):
        adjusted = [max((len(p) - i) * each for i, each in enumerate(sorted(p)) if each <= own) for own in p]
        apart = [each <= level for each in adjusted]
        better = [
            pair if runs[pair[0]].mean() < runs[pair[1]].mean() else pair[::-1]
            for pair, told in zip(pairs, apart, strict=True)
            if told
        ]
        ranks = made.ranks("owed", "r_regret", level)
        assert better
        for name in names:
            assert ranks.loc[name, "best"] == 1 + sum(name == worse for _, worse in better)
            assert ranks.loc[name, "worst"] == len(names) - sum(name == first for first, _ in better)


def test_equals_are_told_apart_as_rarely_as_is_said():
    """Eight equal policies, 400 times: an error in at most one comparison of twenty."""
    draw, errors = np.random.default_rng(20), 0
    for _ in range(400):
        made = of_runs(**{f"policy {i}": list(draw.normal(size=20)) for i in range(8)})
        ranks = made.ranks("game", "regret")
        errors += bool((ranks["best"] > 1).any())
    assert errors / 400 < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)
    assert errors > 0


def test_a_disaster_that_no_run_has_seen_is_not_known_of_and_a_comparison_says_so():
    """Of equal means the steady one loses as often as 20 runs have no disaster, two times of three, not one of 20."""
    draw, fooled = np.random.default_rng(21), 0
    for _ in range(300):
        rare = np.where(draw.random(20) < 0.02, 1010.0, 10.0) + draw.normal(size=20)
        made = of_runs(steady=list(draw.normal(30, 1, 20)), gambler=list(rare))
        fooled += made.ranks("game", "regret").loc["gambler", "worst"] == 1
    assert fooled / 300 == pytest.approx(0.98**20, abs=0.08)
    assert "fewer than 13.9% of runs may not be among them" in repr(made)


def test_more_reward_is_better_and_less_of_all_else(made):
    assert made.ranks("plain", "reward").index[0] == made.ranks("plain", "regret").index[0]


def test_sums_in_another_order_are_a_tie():
    alike = of_runs(one=[1000.0] * 20, other=[1000.0 + 1e-12] * 20)
    assert alike.ranks("game", "regret")[["best", "worst"]].to_numpy().tolist() == [[1, 2], [1, 2]]
    assert len(front(alike, "game", "regret", "regret")) == 2
    assert alike.table("regret")["game"].tolist() == ["1,000", "1,000"]


def test_the_front_and_how_surely(made):
    steady = of_runs(good=[1.0, 1.1] * 10, bad=[2.0, 2.1] * 10, same=[1.1, 1.0] * 10)
    found = front(steady, "game", "regret", "regret")
    assert found.keys() == {"good", "same"}
    assert 0.4 < found["good"] < 0.75  # as often as `same` has no smaller mean in a resample
    assert front(made, "owed", "regret", "deficit") == {"UCB1": 1, "again": 1, "FAIR-UCB": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": fl.ucb1()}, "policies must be a dict or a list of policies"),
        ({"policies": [fl.ucb1(), fl.ucb1()]}, "policies must have different names, not 'UCB1' twice: give a dict"),
        ({"policies": []}, "policies must be one or more, not none"),
        ({"policies": [fl.ucb1]}, r"policies\[0\] must be a policy, such as ucb1\(\)"),
        ({"policies": {"mine": lambda game: fl.ucb1()}}, r"policies\['mine'\] must be a policy or a function of game"),
        ({"policies": {"mine": lambda game, horizon: 3}}, r"policies\['mine'\] must return a policy for 'game', not 3"),
        ({"policies": {"mine": fair_ucb([0.1] * 5)}}, "policies must fit a game, and none does: "),
        ({"games": {}}, "games must be one or more, not none"),
        ({"games": [PLAIN]}, r"games\['game'\] must be a Bandit or a ContextBandit"),
        ({"runs": 19}, "runs must be a whole number of at least 20, not 19"),
    ],
)
def test_what_is_wrong_is_refused_by_name_before_anything_is_played(monkeypatch, change, message):
    monkeypatch.setattr("fairlib.study.compare.simulate", None)
    given = {"policies": [fl.ucb1()], "games": PLAIN, "runs": 20} | change
    with pytest.raises((TypeError, ValueError), match=message):
        fl.compare(given.pop("policies"), given.pop("games"), 100, **given)


def test_unknown_games_and_measures_are_refused_by_name(made):
    with pytest.raises(ValueError, match="game must be one of 'owed', 'plain', not 'else'"):
        made.measures("else")
    with pytest.raises(ValueError, match="measure must be one of 'plain', reward, regret, not 'deficit'"):
        made.values("plain", "deficit")
    with pytest.raises(
        ValueError, match="measure must be one of reward, regret, r_regret, violation, deficit, not 'no'"
    ):
        made.table("no")


def test_a_measure_that_some_games_lack_has_no_column_for_them(made):
    assert made.table("deficit").columns.tolist() == ["owed"]
    assert made.table("regret").loc["FAIR-UCB", "plain"] == ""
    assert isinstance(made.frame(), pd.DataFrame)
