"""Compiled code is loaded from disk, and never when anything that it was made of has changed."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import zoo

import fairlib
from fairlib import exposure, pages, shares
from fairlib.engine import loops
from fairlib.engine.session import make_session
from fairlib.rules import jit
from fairlib.rules.jit import is_package_function

PACKAGE = pathlib.Path(fairlib.__file__).parent
PLAY = """
import fairlib as fl
from fairlib.engine import loops
policy = fl.ucb1()
result = fl.simulate(fl.Bandit(fl.bernoulli([0.2, 0.8])), policy, 1000, rounds=[1000])
made = loops.compiled_loop(loops.ArmsRun, 4), policy.bound_rule.compiled()
loaded = [sum(each.stats.cache_hits.values()) for each in made]
print(result.selected[0, 0].tolist(), *loaded)
"""


def run(code, folder, *paths):
    """Run code in a fresh process, which finds the package in the first of these places that has it."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (folder, *paths)))}
    env["PYTHONDONTWRITEBYTECODE"] = "1"  # Python itself overlooks an edit within a second that leaves the size alone
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def play(folder):
    counts, *hits = run(PLAY, folder).rsplit(" ", 2)
    return counts, list(map(int, hits))


@pytest.mark.parametrize("name", zoo.ZOO)
def test_all_that_the_package_plays_with_can_be_kept_on_disk(name):
    """Rules with their merits and learners, draws, delays, and what games sum."""
    entry = zoo.ZOO[name]
    for game in map(zoo.game, entry.games):
        policy = entry.make(game)
        assert all(map(is_package_function, policy.bound_rule.layout().functions.values()))
        drawn = [game.world.draw] if hasattr(game, "world") else [game.arms.draw]
        late = [game.delay.draw] if getattr(game, "delay", None) else []
        own = ("beta, own delay", "gaussian, uneven delay")  # as a reader would write them
        for bound in [game.metrics, *drawn, *(late if not any(game is zoo.game(each) for each in own) else [])]:
            assert all(map(is_package_function, bound.layout().functions.values()))


FIRST = ["UCB1", "FairX-UCB, exponential", "FAIR-UCB", "FCUCB-D, steep", "FairX-LinUCB, power", "Fair-Greedy"]


def test_a_fresh_process_compiles_nothing_of_the_package_and_imports_nothing_heavy():
    """What took its time on the way to a first result: compilation, and imports that nothing asks for."""
    for name in FIRST:
        entry = zoo.ZOO[name]
        make_session(zoo.game(entry.games[0]), entry.make(zoo.game(entry.games[0])), 1)  # keeps the code on disk
    for kind, called in ((loops.ArmsRun, 4), (loops.ContextsRun, 3)):
        loops.compiled_loop(kind, called)
    said = run(
        f"""
import sys
import fairlib as fl
from fairlib.rules import jit
asked = []
inner = jit.compiled
def compiled(*given):
    asked.append(inner(*given))
    return asked[-1]
for module in list(sys.modules.values()):
    if getattr(module, "compiled", None) is inner:
        module.compiled = compiled
import zoo
for name in {FIRST!r}:
    entry = zoo.ZOO[name]
    fl.simulate(zoo.game(entry.games[0]), entry.make(zoo.game(entry.games[0])), 10)
print(len(asked), sum(sum(each.stats.cache_misses.values()) for each in asked))
""",
        PACKAGE.parent,
        pathlib.Path(__file__).parent,
    )
    asked, missed = map(int, said.split())
    assert asked > 12
    assert missed == 0, "compiled although it was on disk"

    heavy = ["scipy", "matplotlib", "IPython", "tqdm", "ipywidgets", "pandas", "unittest", "numba.cuda.cudadrv.driver"]
    said = run(
        f"""
import sys, numba
before = set(sys.modules)
import fairlib as fl
fl.simulate(fl.Bandit(fl.bernoulli([0.2, 0.8])), fl.ucb1(), 10)
merit = fl.merit.power(2, 4)
game = fl.exposure.ExposureBandit(fl.bernoulli([0.2, 0.8]), merit=merit)
fl.simulate(game, fl.exposure.fairx_ucb(merit, 0.1), 10)
print([name for name in {heavy!r} if name in set(sys.modules) - before])
""",
        PACKAGE.parent,
    )
    assert said == "[]"


def test_a_reader_s_own_code_is_kept_nowhere():
    """An edit of it is never served stale: it is compiled in each process."""

    def rule(p):
        return 0

    def value(x):
        return 1.0 + x

    def pays(mean, rng):
        return mean

    own = fairlib.Policy("own", rule)
    mine = fairlib.Merit("mine", value, low=0, high=1, minimum=1, lipschitz=1, log_lipschitz=1)
    arms = fairlib.Arms([0.5], pays, mean=[0.5])
    made = [own, shares.fair_learn(own, [0.1, 0.1]), exposure.fairx_eg(mine, 0.1)]
    for bound in [*(policy.bound_rule for policy in made), arms.draw]:
        assert bound.compiled().stats.cache_path is None


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Return a copy of the package that has played UCB1, and its counts."""
    folder = tmp_path_factory.mktemp("played")
    shutil.copytree(PACKAGE, folder / "fairlib", ignore=shutil.ignore_patterns("__pycache__"))
    return folder, play(folder)[0]


@pytest.mark.parametrize(
    ("file", "hits"),
    [
        ("pages/figures.py", [1, 1]),
        ("study/sweep.py", [1, 1]),
        ("checks.py", [1, 1]),
        ("core/steps.py", [0, 0]),
        ("shares/policies.py", [0, 0]),
        ("rules/layout.py", [0, 0]),
    ],
)
def test_an_edit_compiles_again_what_is_compiled_and_nothing_else(played, file, hits, tmp_path):
    """Nor does a move of the whole folder."""
    folder, counts = played
    shutil.copytree(folder, tmp_path / "moved")
    with (tmp_path / "moved" / "fairlib" / file).open("a", encoding="utf-8") as source:
        source.write("\n# said\n")
    assert play(tmp_path / "moved") == (counts, hits)


def test_all_that_is_kept_on_disk_is_in_the_stamp():
    def package(module):
        return module.removeprefix("fairlib.").partition(".")[0]

    helpers = {package(each.__module__) for each in jit.HELPERS if str(each.__module__).startswith("fairlib.")}
    texts = [(path.parent.name, path.read_text(encoding="utf-8")) for path in PACKAGE.glob("*/*.py")]
    loops = {name for name, text in texts if " compiled(" in text}
    assert {"core", "shares"} <= helpers <= jit._COMPILED
    assert {"engine"} <= loops <= jit._COMPILED
    assert not is_package_function(pages.widgets.reader_rule.function)


@pytest.mark.parametrize("home", [True, False], ids=["a home", "none, as in a container"])
def test_a_folder_that_cannot_be_written_is_not_used(home, tmp_path, monkeypatch):
    blocked = tmp_path / "a-file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setattr(jit, "PACKAGE", blocked)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if not home:
        monkeypatch.setattr(os.path, "expanduser", str)
    assert jit.cache_folder.__wrapped__().is_relative_to(tmp_path / "home") == home


def test_where_numba_is_switched_off_python_plays_the_same():
    code = """
import os
os.environ["NUMBA_DISABLE_JIT"] = "1"
import fairlib as fl
from fairlib import delays, ranks
game = fl.Bandit(fl.bernoulli([0.2, 0.8]), delay=delays.geometric([0.5, 0.5]))
own = fl.Policy("own", lambda seen, p: int(seen.t % 2))
seen = fl.ContextBandit(fl.contexts.sphere(3, [0.6, 0.8]))
greedy = ranks.section_6(), ranks.fair_greedy()
for one, policy in ((game, fl.ucb1()), (game, own), (seen, fl.linear.linucb(1.0)), greedy):
    print(fl.simulate(one, policy, 60, runs=2, rounds=[60]).selected.tolist(), end=" ")
player = fl.Player(fl.ucb1(), 3)
player.observe(player.choose().round, 1.0)
print(player.choose())
"""
    there = run(code, PACKAGE.parent)
    assert there == run(code.replace('"1"', '"0"'), PACKAGE.parent)
    assert there.count("[[[") == 4


def test_a_folder_of_one_process_alone_is_gone_with_it(tmp_path):
    code = """
from fairlib.rules import jit
jit._folders = lambda: iter(())
print(jit.cache_folder(), jit.cache_folder().is_dir())
"""
    folder, was_there = run(code, tmp_path, PACKAGE.parent).split()
    assert pathlib.Path(folder).name.startswith("fairlib-")
    assert was_there == "True"
    assert not pathlib.Path(folder).exists()
    # Who tidies up may have been there before.
    run(f"{code}\nimport shutil\nshutil.rmtree(jit.cache_folder())", tmp_path, PACKAGE.parent)


def test_machine_code_of_the_last_sources_is_kept_and_that_of_older_ones_removed(tmp_path):
    for age in range(9):
        (tmp_path / f"{age}" / "made").mkdir(parents=True)
        os.utime(tmp_path / f"{age}", (1e9 - age, 1e9 - age))
    (tmp_path / jit._STAMP).mkdir()
    os.utime(tmp_path / jit._STAMP, (1e8, 1e8))  # used long ago, and now
    jit._tidy(tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {"0", "1", "2", jit._STAMP}


DAMAGE = """
import pathlib
from numba import float64
from fairlib.rules import jit
from fairlib.core import dot
folder = pathlib.Path({folder!r})
jit.cache_folder = lambda: folder
import numpy as np
made = jit.compiled(dot, float64(float64[::1], float64[::1]))
assert made(np.array([1.0, 2.0]), np.array([3.0, 4.0])) == 11.0
print(sum(made.stats.cache_hits.values()))
"""


@pytest.mark.parametrize("ending", [".nbc", ".nbi"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_damaged_file_of_the_cache_is_made_anew(tmp_path, ending, share):
    code = DAMAGE.format(folder=str(tmp_path))
    assert [run(code, tmp_path, PACKAGE.parent) for _ in range(2)] == ["0", "1"]
    (file,) = tmp_path.rglob(f"*{ending}")
    whole = file.read_bytes()
    file.write_bytes(whole[: int(share * len(whole))])
    assert [run(code, tmp_path, PACKAGE.parent) for _ in range(2)] == ["0", "1"]


def test_a_disk_that_is_full_costs_time_and_no_more(tmp_path):
    code = DAMAGE.format(folder=str(tmp_path))
    full = """
from numba.core.caching import IndexDataCacheFile
def full(*_):
    raise OSError(28, "No space left on device")
IndexDataCacheFile._save_index = IndexDataCacheFile._save_data = full
"""
    assert run(full + code, tmp_path, PACKAGE.parent) == "0"
