"""Saved results, and what tells one rule from another."""

import itertools
import json
import pathlib
import pkgutil
import subprocess
import sys
import zipfile
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import fairlib as fl
from fairlib import delays, exposure, shares
from fairlib.pages.playground import Playground


def test_so_many_arms_that_memory_is_too_small_are_refused_with_a_sentence():
    said = r"'UCB1' .*1,000,000,000,000 arms takes [\d,.]+ GiB of memory, and [\d,.]+ GiB are free: "
    with pytest.raises(MemoryError, match="Unable to allocate"):
        fl.Player(fl.ucb1(), 10**12)
    with pytest.raises(MemoryError, match=said + "try it on fewer arms"):
        fl.check_policy(fl.ucb1(), arms=10**12)
    with pytest.raises(MemoryError, match=r"arms takes .* try it on fewer arms"):
        fl.check_policy(fl.linear.linucb(1.0), arms=10**12)


# Results --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def result(tmp_path):
    made = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.8, 0.5])), fl.ucb1(), 60, runs=4, rounds=[10, 30, 60], seed=2)
    made.save(tmp_path / "result.npz")
    return made


def members(path: pathlib.Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def npy(shape: str) -> bytes:
    text = b"{'descr': '|O', 'fortran_order': False, 'shape': " + shape.encode() + b", }\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"x" * 8


def with_heading(**changed: Any) -> Any:
    return lambda heading: json.dumps({**json.loads(heading), **changed})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (with_heading(fairlib=2), rf"in format 1: it is in format 2, which fairlib {fl.__version__} can't read"),
        (with_heading(of="os:path"), "hold a Result, not a path"),
        (with_heading(of=None), "hold a Result, not a None"),
        (with_heading(strange=1), "unexpected keyword argument 'strange'"),
        (lambda heading: "[", "be a file that fairlib has saved, whole, in format 1: "),
        (lambda heading: "{}", "be a file that fairlib has saved, whole, in format 1: 'fairlib'"),
    ],
    ids=itertools.count(),
)
def test_a_result_of_another_format_or_class_is_refused(changed, said, result, tmp_path):
    arrays = members(tmp_path / "result.npz")
    np.savez(tmp_path / "odd.npz", **{**arrays, "heading": np.array(changed(str(arrays["heading"])))})
    with pytest.raises(ValueError, match=rf"{tmp_path}/odd\.npz must .*({said})"):
        fl.Result.load(tmp_path / "odd.npz")


def test_a_file_that_is_no_result_is_refused_and_no_pickle_is_read(result, tmp_path):
    odd = tmp_path / "odd.npz"
    for share in (0.0, 0.1, 0.5, 0.99):
        whole = (tmp_path / "result.npz").read_bytes()
        odd.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(ValueError, match=r"odd\.npz must be a file that fairlib has saved, whole"):
            fl.Result.load(odd)
    with zipfile.ZipFile(tmp_path / "result.npz") as old, zipfile.ZipFile(odd, "w") as new:
        for each in old.namelist():
            new.writestr(each, npy("(1,)") if each == "reward.npy" else old.read(each))
    with pytest.raises(ValueError, match="Object arrays cannot be loaded when allow_pickle=False"):
        fl.Result.load(odd)
    with odd.open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(ValueError, match=r"odd\.npz must be a file that fairlib has saved, whole"):
        fl.Result.load(odd)
    with pytest.raises(FileNotFoundError):
        fl.Result.load(tmp_path / "nothing.npz")


def test_an_array_that_is_missing_is_named(result, tmp_path):
    arrays = members(tmp_path / "result.npz")
    del arrays["regret"]
    np.savez(tmp_path / "odd.npz", **arrays)
    with pytest.raises(ValueError, match=r"must hold a whole Result as it was saved: .*'regret'"):
        fl.Result.load(tmp_path / "odd.npz")


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
