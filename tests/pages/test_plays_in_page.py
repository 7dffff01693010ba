"""Every policy in each browser: in a worker of a page from a disk it plays what it plays here."""

import json
from typing import Any

import js_engine
import numpy as np
import pytest
import zoo
from engines import in_every_browser, is_chromium
from selenium import webdriver

import fairlib as fl
from fairlib.pages.scripts import runtime

RUNS, ROUNDS = 20, 2000
FEW = 2  # runs in the other browsers

PLAY = """
onmessage = ({ data: [runs, seed] }) => postMessage(JSON.stringify([...Array(runs).keys()].map((run) => {
  const { fault, selected, reward, sums } = $play(game, seed, run);
  return [fault, selected.map((row) => [...row]), [...reward], sums.map((row) => [...row])];
})));
"""
ASK = """
const [script, runs, seed, done] = arguments;
const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
worker.onmessage = ({ data }) => { worker.terminate(); done(data); };
worker.onerror = (event) => done(JSON.stringify(event.message));
worker.postMessage([runs, seed]);
"""


@pytest.fixture(scope="module")
def page(browser: webdriver.Remote, tmp_path_factory: pytest.TempPathFactory) -> webdriver.Remote:
    """Open an empty page from a disk."""
    empty = tmp_path_factory.mktemp("page") / "empty.html"
    empty.write_text("<!doctype html><title>Empty</title>", encoding="utf-8")
    browser.get(empty.as_uri())
    browser.set_script_timeout(120)
    return browser


@in_every_browser
@pytest.mark.parametrize("name", zoo.ZOO)
def test_every_policy_plays_the_same_in_the_browser(
    page: webdriver.Remote, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, runs = zoo.ZOO[name], RUNS if is_chromium(page) else FEW
    problem = zoo.game(entry.games[0])
    policy = entry.make(problem)
    said = js_engine.games(problem, policy, ROUNDS)
    made: Any = json.loads(page.execute_async_script(ASK, f"{runtime()}\n{said}\n{PLAY}", runs, 1))
    assert isinstance(made, list), made
    with monkeypatch.context() as patch:
        patch.setattr(type(problem), "result", lambda self, *given: given)
        kept: Any = fl.simulate(problem, policy, ROUNDS, runs=runs, seed=1)
    _, selected, reward, sums = kept
    there = js_engine.recorded(made, sums)
    np.testing.assert_array_equal(there["selected"], selected)
    np.testing.assert_array_equal(there["reward"], reward)
    # A browser may have other last bits of exp, log and powers than the compiler: plays are the same all the same.
    # An ellipsoid's search makes up to 2e-6 of them in the sums of Chromium and Firefox, which equal each other.
    # The sums of WebKitGTK equal the compiler's.
    close = 1e-6 if name == "FairX-LinUCB, ellipsoid" and page.name != "MiniBrowser" else 1e-9
    for block, value in sums.items():
        np.testing.assert_allclose(there[block], value, rtol=close, atol=close, err_msg=block)
