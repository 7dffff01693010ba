"""Files of unknown origin: tampered with, packed to fill the memory, or of a rule that is another by now."""

import contextlib
import io
import itertools
import json
import os
import pathlib
import pkgutil
import random
import subprocess
import sys
import tracemalloc
import zipfile
from importlib import import_module
from typing import Any

import altered_players
import numpy as np
import pytest
import zoo
from helpers import same

import fairlib as fl
from fairlib import classic, delays, exposure, files, shares
from fairlib.book.playground import Playground
from fairlib.deploy import Player

# Players --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", altered_players.POLICIES)
def test_a_player_that_was_tampered_with_is_refused_or_plays_on(kind, tmp_path):
    """Each array and number of its file is altered, in a process of its own, which must not crash."""
    command = [sys.executable, "-W", "ignore", str(altered_players.__file__), kind, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    lines = run.stdout.splitlines()
    assert run.returncode == 0, f"ended by {run.returncode} after {lines[-1:]}: {run.stderr[-2000:]}"
    assert [each for each in lines if not each.endswith((": refused", ": played"))] == []
    assert lines[0] == "nothing: played"
    assert sum(each.endswith(": refused") for each in lines) > 300


def remembering() -> list[str]:
    """Name the policies that have memory, or whose learners have."""
    made = {name: entry.make(zoo.game(entry.games[0])) for name, entry in zoo.ZOO.items()}
    return [name for name, policy in made.items() if policy.bound_rule.length(dict.fromkeys("KdGT", 2)) > 0]


@pytest.mark.parametrize("name", remembering())
def test_no_rule_of_the_package_leaves_an_array_by_what_it_remembers(name):
    """In plain Python that is an IndexError. Compiled, only the rules of readers mind the ends of arrays."""
    game = zoo.game(zoo.ZOO[name].games[0])
    policy, rng = zoo.ZOO[name].make(game).replace(interpret=True), np.random.default_rng(8)
    policy.unit_rewards = False  # the sums below are of any rewards
    world = getattr(game, "world", None)
    sizes: dict[str, Any] = {"dimension": world.dimension, "groups": world.groups, "horizon": 30} if world else {}
    player = Player(policy, world.arms if world else game.arms.means.size, **sizes, rewards=(-9, 9))

    def choose() -> None:
        size = (player.arms, world.dimension) if world else None
        given = (rng.normal(size=size), rng.integers(0, world.groups, player.arms)) if world else ()
        choice = player.choose(*given)
        for arm in choice.arms:
            player.observe(choice.round, float(rng.random() < 0.5), arm)

    for _ in range(9):
        choose()
    honest = {name: array.copy() for name, array in player._kept().items()}
    size = player._agent.state.size
    for at in [slice(None), *rng.choice(size, min(size, 8), replace=False)]:
        for value in (-1e12, -2.0, 1e6, 1e12):
            player._t, player._waiting, player._agent.unread = 9, {}, [np.zeros(0)] * 4
            for name, array in player._kept().items():
                array[...] = honest[name]
            player._agent.state[at] = value
            with np.errstate(all="ignore"), contextlib.suppress(ValueError, ArithmeticError):
                choose()


def test_a_file_of_few_bytes_is_refused_before_memory_is_taken_for_what_it_says(tmp_path):
    policy, path = fl.ucb1(), tmp_path / "player"
    Player(policy, 3).save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    heading = json.loads(str(arrays["heading"])) | {"arms": 50_000_000}
    np.savez(tmp_path / "big.npz", **{**arrays, "heading": np.array(json.dumps(heading))})
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"big\.npz must be a player .*: total must be of shape \(50000000,\)"):
            Player.load(tmp_path / "big.npz", policy)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_so_many_arms_that_memory_is_too_small_are_refused_with_a_sentence():
    said = r"'UCB1' .*1,000,000,000,000 arms takes [\d,.]+ GiB of memory, and [\d,.]+ GiB are free: "
    with pytest.raises(MemoryError, match=said + "take fewer arms or rounds"):
        Player(fl.ucb1(), 10**12)
    with pytest.raises(MemoryError, match=said + "try it on fewer arms"):
        fl.check_policy(fl.ucb1(), arms=10**12)
    with pytest.raises(MemoryError, match=r"arms takes .* try it on fewer arms"):
        fl.check_policy(fl.linear.linucb(1.0), arms=10**12)


# Rules that are others by now -----------------------------------------------------------------------------------------

RULE = """
import numpy as np
import fairlib as fl
{above}

def helper(t, K):
    return t * K{more}

@fl.rule
def mine(seen, p):
    return helper(seen.t, LIMIT) % p.size

policy = fl.Policy("mine", mine)
"""
BEGIN = "import sys; sys.path.insert(0, sys.argv[1]); import mine, fairlib as fl; "
SAVE = BEGIN + "fl.Player(mine.policy, 3).save(sys.argv[2])"
LOAD = BEGIN + "fl.Player.load(sys.argv[2], mine.policy)"


@pytest.mark.parametrize(
    ("above", "more", "fits"),
    [
        ("LIMIT = 3", "", True),
        ("# said otherwise\nLIMIT = 3", "", True),
        ("LIMIT = 3", " + 1", False),
        ("LIMIT = 4", "", False),
        ("LIMIT = 3.0", "", False),
    ],
)
def test_a_player_is_not_loaded_with_a_rule_whose_helper_or_number_has_changed(above, more, fits, tmp_path):
    def run(code, seed):
        command = [sys.executable, "-W", "ignore", "-B", "-c", code, str(tmp_path), str(tmp_path / "player")]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONHASHSEED": seed}
        )

    (tmp_path / "mine.py").write_text(RULE.format(above="LIMIT = 3", more=""), encoding="utf-8")
    assert run(SAVE, "1").returncode == 0
    (tmp_path / "mine.py").write_text(RULE.format(above=above, more=more), encoding="utf-8")
    loaded = run(LOAD, "2")
    assert (loaded.returncode == 0) == fits, loaded.stderr
    assert fits or "must be of the same policy and rule" in loaded.stderr
    assert fits or "whose rule was another" in loaded.stderr


def test_a_change_of_the_package_itself_changes_the_mark(monkeypatch):
    before = fl.ucb1().bound_rule.mark
    assert fl.ucb1().bound_rule.mark == before

    def largest(p):
        return 0

    monkeypatch.setattr(classic, "largest", largest)
    assert fl.ucb1().bound_rule.mark != before


def test_all_that_a_rule_finds_beside_it_is_in_its_mark():
    def mark(beside: Any) -> str:
        def rule(seen, p):
            return beside(seen.t) % p.size

        return fl.Policy("mine", rule, interpret=True).bound_rule.mark

    def table(values: Any) -> Any:
        return lambda t: values[t]

    class Odd:
        def __init__(self, step: int) -> None:
            self.step = step

        def __call__(self, t: int) -> int:
            return t + self.step

    alike: list[Any] = [lambda: table((1, 2)), lambda: table([1, {2: "x"}]), lambda: table(np.arange(3.0))]
    alike += [
        lambda: table({3, 1}),
        lambda: Odd(1),
        lambda: Odd(2),
        lambda: Odd(1).__call__,
        lambda: table(np.arange(3)),
    ]
    alike += [lambda: table((1, 2.0)), lambda: table([1, {2: "y"}]), lambda: abs, lambda: max, lambda: np.sqrt]
    marks = [mark(make()) for make in alike]
    assert marks == [mark(make()) for make in alike]
    assert len(set(marks)) == len(marks)


def test_a_mark_is_the_same_in_each_process():
    code = "import sys; sys.path.insert(0, sys.argv[1]); import zoo; print(*("
    code += "entry.make(zoo.game(entry.games[0])).bound_rule.mark for entry in zoo.ZOO.values()))"
    here = [entry.make(zoo.game(entry.games[0])).bound_rule.mark for entry in zoo.ZOO.values()]
    command = [sys.executable, "-c", code, str(pathlib.Path(__file__).parent)]
    there = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": "77"}
    )
    assert there.stdout.split() == here


# Results --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def result(tmp_path):
    made = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.8, 0.5])), fl.ucb1(), 60, runs=4, rounds=[10, 30, 60], seed=2)
    made.save(tmp_path / "result.npz")
    return made


def members(path: pathlib.Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("selected", lambda x: x.astype(str), "selected must be numbers with 3 axes"),
        ("selected", lambda x: x.astype(float), "selected must be numbers with 3 axes"),
        ("selected", lambda x: x[0], "selected must be numbers with 3 axes"),
        ("selected", lambda x: -x, "selected must be numbers of rounds"),
        ("selected", lambda x: x + np.array([1, 0, 0]), "selected must sum to the plays"),
        ("selected", lambda x: x[:3], "selected must be of 4 runs and 3 rounds"),
        ("selected", lambda x: x[:, ::-1], "selected must be numbers of rounds"),
        ("rounds", lambda x: x[:0], "rounds must be numbers with 1 axes, none empty"),
        ("rounds", lambda x: x[::-1], "rounds must increase"),
        ("rounds", lambda x: x - 10, "rounds must increase"),
        ("rounds", lambda x: x + 1, "rounds must increase, from 1 or more to the horizon, 60"),
        ("rounds", lambda x: x.astype(np.uint64), "rounds must be numbers with 1 axes"),
        ("rounds", lambda x: x[:2], "reward must be of 2 rounds"),
        ("reward", lambda x: x * np.nan, "reward must be finite"),
        ("reward", lambda x: x[:3], "regret must be of 3 runs|selected must be of 3 runs"),
        ("regret", lambda x: x[:, :2], "regret must be of 4 runs and 3 rounds"),
        ("regret", lambda x: x.astype(complex), "regret must be numbers with 2 axes"),
        ("regret", lambda x: np.where(x > 0, np.inf, x), "regret must be finite"),
        ("regret", None, "it lacks regret"),
        ("more", lambda x: np.zeros(3), "it has more too many"),
        ("horizon", "x", "horizon and seed must be whole numbers"),
        ("horizon", -1, "horizon and seed must be whole numbers"),
        ("horizon", 59, "rounds must increase"),
        ("seed", [], "horizon and seed must be whole numbers"),
        ("game", 3, "game, policy and versions must be texts"),
        ("versions", [], "versions must be a dict"),
        ("versions", {"numpy": {}}, "game, policy and versions must be texts"),
        ("of", {}, "hold a Result, not a "),
        ("of", "os:path", "hold a Result, not a path"),
        ("of", None, "hold a Result, not a None"),
        ("strange", 1, "unexpected keyword argument 'strange'"),
        ("fairlib", 2, rf"it is of format 2, and fairlib {fl.__version__} reads format 1"),
        ("kind", [], r"it is a \[\]"),
    ],
    ids=itertools.count(),
)
def test_a_result_that_cannot_be_is_refused(name, change, said, result, tmp_path):
    arrays = members(tmp_path / "result.npz")
    if name in ("selected", "rounds", "reward", "regret", "more"):
        arrays[name] = change and change(arrays.get(name))
    else:
        arrays["heading"] = np.array(json.dumps({**json.loads(str(arrays["heading"])), name: change}))
    np.savez(tmp_path / "odd.npz", **{key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(ValueError, match=rf"{tmp_path}/odd\.npz must .*({said})"):
        fl.Result.load(tmp_path / "odd.npz")


def npy(header: str, content: bytes = b"") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


PLAIN = "{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}"
CRAFTED = {
    "a shape of 10^30": npy(PLAIN.format(10**30), b"x" * 8),
    "a negative shape": npy(PLAIN.format(-1), b"x" * 8),
    "an item of 2^30 bytes": npy("{'descr': '|V1073741824', 'fortran_order': False, 'shape': (1,), }", b"x" * 8),
    "objects": npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b"x" * 8),
    "a deep header": npy(PLAIN.format("-" * 9000 + "1"), b"x" * 8),
    "no header": b"garbage",
    "nothing": b"",
    "version 2": b"\x93NUMPY\x02\x00" + b"\0" * 200,
}


@pytest.mark.parametrize("member", ["heading", "reward"])
@pytest.mark.parametrize("what", CRAFTED)
def test_a_crafted_array_is_refused(what, member, result, tmp_path):
    with zipfile.ZipFile(tmp_path / "result.npz") as old, zipfile.ZipFile(tmp_path / "odd.npz", "w") as new:
        for each in old.namelist():
            new.writestr(each, CRAFTED[what] if each == f"{member}.npy" else old.read(each))
    with pytest.raises(
        ValueError, match=r"odd\.npz must be a result that fairlib has saved, whole; it can't be read: "
    ):
        fl.Result.load(tmp_path / "odd.npz")


@pytest.mark.parametrize(
    "heading",
    ["[" * 100_000, "3", '{"fairlib": 1}', '{"kind": "result"}', "null", '"x"', '{"fairlib": 1, "kind": 1e999}'],
)
def test_a_crafted_heading_is_refused(heading, result, tmp_path):
    np.savez(tmp_path / "odd.npz", **{**members(tmp_path / "result.npz"), "heading": np.array(heading)})
    with pytest.raises(ValueError, match=r"odd\.npz must be a result that fairlib has saved, whole"):
        fl.Result.load(tmp_path / "odd.npz")


@pytest.mark.parametrize("load", [fl.Result.load, lambda path: Player.load(path, fl.ucb1())], ids=["result", "player"])
@pytest.mark.parametrize("name", ["reward", "more", "heading"])
def test_a_file_that_unpacks_to_much_is_refused_before(name, load, result, tmp_path):
    path, parts = tmp_path / "bomb.npz", members(tmp_path / "result.npz")
    with zipfile.ZipFile(path, "w") as archive:
        for each, array in parts.items():
            if each != name:
                written = io.BytesIO()
                np.save(written, array)
                archive.writestr(f"{each}.npy", written.getvalue())
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        zeros = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (25000000,), }") + bytes(200_000_000)
        archive.writestr(f"{name}.npy", zeros)
    del zeros
    assert path.stat().st_size < 300_000
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=rf"bomb\.npz must be a .*{name} is packed or encrypted"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()


def test_members_that_are_the_same_bytes_take_no_more_room_than_the_file(tmp_path):
    """One array may not be named a thousand times: the directory would say more bytes than there are."""
    np.savez(tmp_path / "x.npz", heading=np.zeros(1000))
    with zipfile.ZipFile(tmp_path / "x.npz", "a") as archive:
        for i in range(20):
            copy = zipfile.ZipInfo(f"copy{i}.npy")
            first = archive.filelist[0]
            copy.header_offset, copy.file_size, copy.compress_size = 0, first.file_size, first.file_size
            copy.CRC, copy.compress_type = first.CRC, zipfile.ZIP_STORED
            archive.filelist.append(copy)
            archive.NameToInfo[copy.filename] = copy
        archive._didModify = True  # type: ignore[attr-defined]
    with pytest.raises(
        ValueError, match=r"x\.npz must be a test .*; it can't be read: its arrays would take more room"
    ):
        files.load_npz(tmp_path / "x.npz", "test", lambda heading: ["x"])


def test_a_bit_that_is_flipped_is_seen_or_changes_nothing(result, tmp_path):
    path, chance = tmp_path / "result.npz", random.Random(6)
    whole, said = path.read_bytes(), []
    for _ in range(1500):
        at = chance.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << chance.randrange(8)]) + whole[at + 1 :])
        try:
            assert same(fl.Result.load(path), result)
        except ValueError as error:
            said.append(str(error))
    assert len(said) > 1000
    assert all(str(path) in each for each in said)


def test_a_large_honest_result_is_loaded(tmp_path):
    """Eighty megabytes; the limits are those that the file's own size sets."""
    rounds = np.arange(1, 2_000_001)
    selected = np.stack([rounds[None] - rounds[None] // 3, rounds[None] // 3], axis=2)
    large = fl.Result(
        rounds=rounds, selected=selected, reward=np.ones((1, rounds.size)), regret=np.ones((1, rounds.size))
    )
    large.save(tmp_path / "large")
    assert same(fl.Result.load(tmp_path / "large"), large)


def results() -> list[Any]:
    """One of each class of results in the package, found by looking at all modules."""
    arms, merit = fl.bernoulli([0.6, 0.5, 0.4]), fl.merit.exponential(2)
    games: list[Any] = [fl.Bandit(arms), shares.SharedBandit(arms, shares=[0.1] * 3)]
    games += [exposure.ExposureBandit(arms, merit=merit), fl.ranks.section_6(), delays.SemiBandit(arms, merit=merit)]
    games += [Playground(arms, shares=[0.1] * 3, merit=merit)]
    made = [fl.simulate(game, fl.linear.at_random() if hasattr(game, "world") else fl.uniform(), 20) for game in games]
    for each in pkgutil.walk_packages(fl.__path__, "fairlib."):
        if "__pycache__" not in each.name:
            import_module(each.name)
    known, stack = {fl.Result}, [fl.Result]
    while stack:
        under = stack.pop().__subclasses__()
        known.update(under)
        stack += under
    assert {type(each) for each in made} == {each for each in known if each.__module__.startswith("fairlib")}
    return made


def test_each_class_of_results_is_loaded_in_a_fresh_process(tmp_path):
    made = results()
    for i, each in enumerate(made):
        each.save(tmp_path / str(i))
    code = "import sys, fairlib as fl\nfor path in sys.argv[1:]:\n    print(type(fl.Result.load(path)).__qualname__)"
    for i, each in enumerate(made):
        command = [sys.executable, "-c", code, str(tmp_path / str(i))]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        assert run.stdout.split() == [type(each).__qualname__]


def test_a_class_defined_elsewhere_is_loaded_once_it_is_known_and_no_file_imports_it(tmp_path):
    (tmp_path / "elsewhere.py").write_text(
        "import dataclasses, fairlib as fl\n\n\n@dataclasses.dataclass(frozen=True, eq=False, repr=False)\n"
        "class Mine(fl.Result):\n    names: object = None\n",
        encoding="utf-8",
    )
    code = """
import sys, fairlib as fl
sys.path.insert(0, sys.argv[1])
path = sys.argv[1] + "/mine.npz"
if sys.argv[2] == "save":
    import elsewhere, numpy as np
    one = np.ones((1, 1))
    elsewhere.Mine(np.array([1]), np.array([[[1, 0]]]), one, one, names=np.array(["a", "b"])).save(path)
elif sys.argv[2] == "load":
    import elsewhere
    print(type(fl.Result.load(path)) is elsewhere.Mine is type(elsewhere.Mine.load(path)))
else:
    try:
        fl.Result.load(path)
    except ValueError as error:
        print("elsewhere" in sys.modules, error)
"""

    def run(what: str) -> str:
        command = [sys.executable, "-B", "-c", code, str(tmp_path), what]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    run("save")
    assert run("load").strip() == "True"
    said = run("not known")
    assert said.startswith("False ")
    assert "mine.npz must hold a Result, not a Mine; load it with the class that it is of, elsewhere.Mine, once" in said
