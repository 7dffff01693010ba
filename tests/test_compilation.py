"""Compiled code is loaded from disk, and never when any source of the package has changed."""

import pathlib
import shutil
import subprocess
import sys

import pytest

import fairlib
from fairlib import classic, compilation, delays, exposure, linear, ranks, shares
from fairlib.contexts import CONTEXT_RULE

PACKAGE = pathlib.Path(fairlib.__file__).parent
PLAY = """
import fairlib as fl
from fairlib import engine
result = fl.simulate(fl.Bandit(fl.bernoulli([0.2, 0.8])), fl.ucb1(), 1000, rounds=[1000])
print(result.selected[0, 0].tolist(), sum(engine._compiled_engine().stats.cache_hits.values()))
"""


def play(folder):
    done = subprocess.run([sys.executable, "-c", PLAY], cwd=folder, capture_output=True, text=True, check=True)
    counts, hits = done.stdout.strip().rsplit(" ", 1)
    return counts, int(hits)


def test_a_helper_edited_under_a_warm_cache_is_not_served_stale(tmp_path):
    """The helper stands in policy.py, its caller in classic.py, which is not touched."""
    shutil.copytree(PACKAGE, tmp_path / "fairlib", ignore=shutil.ignore_patterns("__pycache__"))
    first, _ = play(tmp_path)
    again, hits = play(tmp_path)
    assert again == first
    assert hits == 1, "the second process should have loaded the engine from disk"
    source = tmp_path / "fairlib" / "policy.py"
    text = source.read_text()
    assert text.count("if p[a] > p[best]:") == 1
    source.write_text(text.replace("if p[a] > p[best]:", "if p[a] < p[best]:"))
    edited, _ = play(tmp_path)
    assert edited != first


@pytest.mark.parametrize(
    ("rule", "signature"),
    [
        (classic.ucb1_rule, compilation.RULE),
        (linear.greedy_rule, CONTEXT_RULE),
        (shares.lfg_rule, compilation.RULE),
        (exposure.fairx_ucb_gradient_rule, compilation.RULE),
        (ranks.reward_optimal_rule, CONTEXT_RULE),
        (delays.cucb_d_rule, compilation.RULE),
    ],
    ids=["classic", "linear", "shares", "exposure", "ranks", "delays"],
)
def test_rules_are_kept_on_disk_however_deep_in_the_package_they_stand(rule, signature):
    kept = compilation.compiled(rule, signature).stats.cache_path
    assert kept is not None, "compiled anew in every process"
    assert pathlib.Path(kept).is_relative_to(compilation.cache_folder())


def test_a_reader_s_own_rule_is_not_kept_with_the_package_s():
    def rule(params, state, t, selected, observed, total, rng, p):
        p[0] = 1.0

    assert compilation.compiled(rule, compilation.RULE).stats.cache_path is None


def test_the_fingerprint_sees_every_source(tmp_path):
    (tmp_path / "one.py").write_text("x = 1\n")
    before = compilation.fingerprint(tmp_path)
    (tmp_path / "two.py").write_text("")
    with_two = compilation.fingerprint(tmp_path)
    (tmp_path / "one.py").write_text("x = 2\n")
    assert len({before, with_two, compilation.fingerprint(tmp_path)}) == 3


def test_nobody_else_s_cache_is_moved():
    import numba

    before = numba.config.CACHE_DIR
    fairlib.simulate(fairlib.Bandit(fairlib.bernoulli([0.5])), fairlib.ucb1(), 5)
    assert before == numba.config.CACHE_DIR


def test_a_folder_that_cannot_be_written_is_not_used(tmp_path, monkeypatch):
    blocked = tmp_path / "a-file"
    blocked.write_text("")
    monkeypatch.setattr(compilation, "_PACKAGE", blocked)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    compilation.cache_folder.cache_clear()
    try:
        assert compilation.cache_folder().is_relative_to(tmp_path / "home")
        monkeypatch.setenv("HOME", str(blocked))
        compilation.cache_folder.cache_clear()
        assert compilation.cache_folder().is_dir()
    finally:
        compilation.cache_folder.cache_clear()
