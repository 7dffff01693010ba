"""What a simulation returns: what it knows, how it is shown, saved, loaded, tabled, and sent elsewhere."""

import dataclasses
import itertools
import json
import math
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import zoo
from helpers import same

import fairlib as fl
from fairlib.pages.playground import Playground

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


# Files that are no results ------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    result = fl.simulate(fl.Bandit(SELLERS), fl.ucb1(), 60, runs=4, rounds=[10, 30, 60], seed=2)
    result.save(tmp_path / "result.npz")
    return tmp_path / "result.npz"


def with_heading(**changed: Any) -> Any:
    return lambda heading: json.dumps({**json.loads(heading), **changed})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (with_heading(fairlib=2), rf"in format 1: it is in format 2, which fairlib {fl.__version__} can't read"),
        (with_heading(of="this:d"), "hold a Result, not a d; load it with the class that it is of, this.d, once"),
        (with_heading(of=None), "hold a Result, not a None"),
        (with_heading(strange=1), "unexpected keyword argument 'strange'"),
        (lambda heading: "[", "be a file that fairlib has saved, whole, in format 1: "),
        (lambda heading: "{}", "be a file that fairlib has saved, whole, in format 1: 'fairlib'"),
    ],
    ids=itertools.count(),
)
def test_a_result_of_another_format_or_class_is_refused(changed, said, saved):
    with np.load(saved, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    np.savez(saved, **{**arrays, "heading": np.array(changed(str(arrays["heading"])))})
    with pytest.raises(ValueError, match=rf"{saved} must .*({said})"):
        fl.Result.load(saved)
    assert "this" not in sys.modules, "a file has imported what it names"
    del arrays["regret"]
    np.savez(saved, **arrays)
    with pytest.raises(ValueError, match=r"must hold a whole Result as it was saved: .*'regret'"):
        fl.Result.load(saved)


def test_a_file_that_is_no_result_is_refused_and_no_pickle_is_read(saved):
    with pytest.raises(ValueError, match="must hold a SharesResult, not a Result"):
        fl.shares.SharesResult.load(saved)
    whole = saved.read_bytes()
    for share in (0.0, 0.1, 0.5, 0.99):
        saved.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(ValueError, match=r"must be a file that fairlib has saved, whole"):
            fl.Result.load(saved)
    np.savez(saved, heading=np.array([{}], object))
    with pytest.raises(ValueError, match="Object arrays cannot be loaded when allow_pickle=False"):
        fl.Result.load(saved)
    with saved.open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(ValueError, match=r"must be a file that fairlib has saved, whole"):
        fl.Result.load(saved)
    with pytest.raises(FileNotFoundError):
        fl.Result.load(saved.with_name("nothing.npz"))


def test_each_class_of_results_is_loaded_in_a_fresh_process(tmp_path):
    games = [zoo.game(zoo.ZOO[name].games[0]) for name in zoo.ZOO]
    games.append(Playground(SELLERS, shares=[0.1] * 4, merit=fl.merit.exponential(2)))
    made = {type(each): each for each in (play(game) for game in games)}
    known = {each for each in fl.Result.__subclasses__() if each.__module__.startswith("fairlib.")}
    assert made.keys() == {fl.Result, *known}
    for name, each in enumerate(made.values()):
        each.save(tmp_path / str(name))
        code = "import sys, fairlib as fl\nprint(type(fl.Result.load(sys.argv[1])).__qualname__)"
        command = [sys.executable, "-c", code, str(tmp_path / str(name))]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        assert run.stdout.split() == [type(each).__qualname__]


def play(game: Any) -> Any:
    return fl.simulate(game, fl.linear.at_random() if hasattr(game, "world") else fl.uniform(game.plays), 20)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Mine(fl.Result):
    """A reader's own."""

    names: Any = None


def test_a_class_defined_elsewhere_is_loaded_once_it_is_known(tmp_path):
    one = np.ones((1, 1))
    Mine(np.array([1]), np.array([[[1, 0]]]), one, one, names=np.array(["a", "b"])).save(tmp_path / "mine.npz")
    for kind in (fl.Result, Mine):
        assert type(kind.load(tmp_path / "mine.npz")) is Mine
