"""Measure what a round costs in a page against the compiled engine, and how much its script weighs.

``.venv/bin/python benchmarks/page.py`` plays the same games in a worker of a page in Chromium and here, by turns, and
prints the medians of the nanoseconds a round, their ratio, and the size of runtime and game, compressed.
"""

import gzip
import json
import shutil
import statistics
import time
from typing import Any

import numpy as np
from selenium import webdriver

import fairlib as fl
from fairlib.delays import SemiBandit, fcts_d, geometric
from fairlib.exposure import ExposureBandit, fairx_ts, fairx_ucb
from fairlib.merit import exponential, power
from fairlib.page.games import numbers, runtime, script
from fairlib.shares import SharedBandit, fair_ucb

ROUNDS, TURNS = 100_000, 20
SIX = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
FOURTEEN = ExposureBandit(fl.bernoulli(np.linspace(0.9, 0.1, 14)), merit=exponential(4))
SEVEN = SemiBandit(
    fl.bernoulli([0.3, 0.5, 0.7, 0.9, 0.8, 0.6, 0.4]), plays=3, delay=geometric([0.05] * 7), merit=power(2, 4)
)
GAMES: dict[str, Any] = {
    "UCB1, K = 6": (fl.Bandit(fl.bernoulli(SIX)), fl.ucb1()),
    "FAIR-UCB, K = 6": (SharedBandit(fl.bernoulli(SIX), shares=[0.1] * 6), fair_ucb([0.1] * 6)),
    "FairX-TS, K = 14": (FOURTEEN, fairx_ts(FOURTEEN.merit)),
    "FCTS-D, K = 7, L = 3": (SEVEN, fcts_d(SEVEN.merit, 7, 3)),
    "FairX-UCB, K = 14": (FOURTEEN, fairx_ucb(FOURTEEN.merit, 0.3)),
}
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


def browser() -> webdriver.Chrome:
    """Start Chromium on an empty page."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in ("--headless", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    started.set_script_timeout(60)
    started.get("about:blank")
    return started


def main() -> None:
    """Measure and print."""
    chromium = browser()
    for name, (problem, policy) in GAMES.items():
        text = f"{runtime()}\n{script(problem, policy)}\nconst game = {json.dumps(numbers(problem, policy, ROUNDS))};\n"
        chromium.execute_script(START, text + WORKER)
        fl.simulate(problem, policy, ROUNDS)
        here, there = [], []
        for run in range(TURNS):
            there.append(chromium.execute_async_script(TURN, run) * 1e6 / ROUNDS)
            began = time.perf_counter()
            fl.simulate(problem, policy, ROUNDS, seed=run, rounds=[ROUNDS])
            here.append((time.perf_counter() - began) * 1e9 / ROUNDS)
        ratio = statistics.median(x / y for x, y in zip(there, here, strict=True))
        print(
            f"{name:22s} compiled {statistics.median(here):6.0f} ns, page {statistics.median(there):6.0f} ns a round, "
            f"ratio {ratio:.2f}; {len(gzip.compress(text.encode())) / 1000:.1f} kB"
        )
    chromium.quit()


if __name__ == "__main__":
    main()
