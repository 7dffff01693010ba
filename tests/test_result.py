"""What a simulation returns: what it knows, how it is shown, saved, loaded, tabled, and sent elsewhere."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
import zoo
from helpers import same

import fairlib as fl

SELLERS = fl.bernoulli([0.9, 0.8, 0.5, 0.2])


def test_a_result_knows_what_made_it():
    game = fl.Bandit(SELLERS)
    result = fl.simulate(game, fl.epsilon_greedy(0.2), 100, runs=2, seed=7)
    assert result.policy == "Policy('epsilon-greedy', epsilon=0.2)"
    assert result.game == repr(game)
    assert result.game.startswith("Bandit(bernoulli(mean=[")
    assert (result.horizon, result.seed) == (100, 7)
    assert result.versions["fairlib"] == fl.__version__
    assert result.versions["numpy"] == np.__version__
    root = np.random.SeedSequence(5, spawn_key=(1, 2))
    said = fl.simulate(game, fl.ucb1(), 10, seed=root).seed
    assert said == "SeedSequence(5, spawn_key=(1, 2))"
    assert fl.simulate(game, fl.ucb1(), 10, seed=np.random.SeedSequence(5)).seed == 5


def test_a_result_says_itself_in_a_few_lines():
    result = fl.simulate(fl.Bandit(SELLERS), fl.uniform(), 100, runs=50)
    text = repr(result)
    assert "50 runs of 100 rounds, seed 0" in text
    shares = ", ".join(f"{share:.3g}" for share in result.selected[:, -1].sum(axis=0) / 5000)
    assert f"after round 100: share of the arms {shares}\n" in text
    mean, error = result.regret[:, -1].mean(), result.regret[:, -1].std(ddof=1) / math.sqrt(50)
    assert f"regret {mean:.4g} ± {error:.2g}" in text
    assert text.count("\n") < 8
    assert "±" not in repr(fl.simulate(fl.Bandit(SELLERS), fl.uniform(), 100))


@pytest.mark.parametrize("name", [name for name in zoo.ZOO if len(name) < 14])
def test_a_result_is_saved_and_loaded_whole(name, tmp_path):
    entry = zoo.ZOO[name]
    game = zoo.game(entry.games[0])
    result = fl.simulate(game, entry.make(game), 30, runs=2, seed=2)
    result.save(tmp_path / "result.npz")
    loaded = fl.Result.load(tmp_path / "result.npz")
    assert same(result, loaded)
    assert type(loaded) is type(result)
    assert repr(loaded) == repr(result)
    assert (loaded.game, loaded.seed, loaded.versions) == (result.game, result.seed, result.versions)
    with np.load(tmp_path / "result.npz", allow_pickle=False) as file:
        assert set(file.files) >= {"rounds", "selected", "reward", "regret"}


def test_a_result_of_another_kind_or_cut_short_is_refused(tmp_path):
    result = fl.simulate(fl.Bandit(SELLERS), fl.ucb1(), 30)
    result.save(tmp_path / "result")
    with pytest.raises(ValueError, match="must hold a SharesResult, not a Result"):
        fl.shares.SharesResult.load(tmp_path / "result")
    whole = (tmp_path / "result").read_bytes()
    (tmp_path / "result").write_bytes(whole[:700])
    with pytest.raises(ValueError, match="must be a file that fairlib has saved, whole"):
        fl.Result.load(tmp_path / "result")
    with pytest.raises(FileNotFoundError):
        fl.Result.load(tmp_path / "nothing")


def test_a_result_as_a_table_holds_every_number():
    game = fl.shares.SharedBandit(SELLERS, shares=[0.1] * SELLERS.means.size)
    result: Any = fl.simulate(game, fl.ucb1(), 60, runs=3, rounds=[7, 60])
    frame = result.frame()
    assert frame.index.names == ["run", "round"]
    assert frame.shape[0] == 6
    assert frame.loc[(2, 7), "violation"] == result.violation[2, 0]
    assert frame.loc[(1, 60), "selected 0"] == result.selected[1, 1, 0]
    assert {"reward", "regret", "r_regret", "violation", "deficit"} <= set(frame.columns)


@pytest.mark.parametrize("name", zoo.ZOO)
def test_games_and_policies_travel_to_other_processes(name):
    entry = zoo.ZOO[name]
    for game in map(zoo.game, entry.games):
        policy = entry.make(game)
        there_game, there_policy = pickle.loads(pickle.dumps((game, policy)))
        assert repr(there_game) == repr(game)
        assert repr(there_policy) == repr(policy)
        assert there_policy.bound_rule.text == policy.bound_rule.text
