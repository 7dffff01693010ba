"""What a round costs in a page of the book, in a worker of Chromium, against the compiled engine."""

import json
import shutil
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from effort import Effort
from games import setting
from selenium import webdriver
from turns import play, take_turns

from fairlib.pages.scripts import numbers, runtime, script

WORKER = """
$play(game, 9, 0);
onmessage = ({ data: run }) => {
  const began = performance.now();
  $play(game, 1, run);
  postMessage(performance.now() - began);
};
"""
START = """
window.worker?.terminate();
window.worker = new Worker(URL.createObjectURL(new Blob([arguments[0]], { type: "text/javascript" })));
"""
TURN = "worker.onmessage = ({ data }) => arguments[1](data); worker.postMessage(arguments[0]);"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Start Chromium on an empty page."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    if not options.binary_location:
        pytest.skip("there is no Chromium")
    for argument in ("--headless", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    browser.set_script_timeout(60)
    browser.get("about:blank")
    yield browser
    browser.quit()


@pytest.mark.benchmark(group="page")
@pytest.mark.parametrize("name", ["UCB1", "FAIR-UCB", "FairX-TS", "FairX-UCB, exponential", "FCTS-D"])
def test_page(name: str, benchmark: Any, chromium: Any, effort: Effort) -> None:
    """The script is what a reader's browser is given."""
    rounds = 1000 if effort.tiny else 100_000
    game, policy = setting(name)
    made = f"{runtime()}\n{script(game, policy)}\nconst game = {json.dumps(numbers(game, policy, rounds))};\n"
    chromium.execute_script(START, made + WORKER)
    play(game, policy, 3)
    there = {"page": lambda: chromium.execute_async_script(TURN, 1) / 1000}
    take_turns(benchmark, partial(play, game, policy, rounds), there, effort.turns)
    benchmark.extra_info |= {"policy": name, "rounds": rounds}
