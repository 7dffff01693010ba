"""What a live explorer shows while its worker is slow, fails or says nothing: never an old picture without a sign."""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure
from selenium import webdriver

from fairlib.core import Number
from fairlib.pages import Live, Slider, explore, moving, scripts

# A clock, a worker and an observer of our own; they do what chance says. A picture is right if its text and its alt
# text have the number of the slider, once as the page knows it and once as the worker does. `$live` is the script.
MODEL = """
const played = (seed, html) => {
  const chance = () => { // mulberry32
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const one = (list) => list[Math.floor(chance() * list.length)];
  let now = 0, tasks = [], ids = 0, sent = null;
  const later = (deed, wait) => { tasks.push({ at: now + wait, id: ++ids, deed }); return ids; };
  const pace = one([[3, 40], [3, 40, 900], [40, 900, 4000, 5500]]); // a machine that is idle, used, or starved
  const fates = one([["answers"], ["answers"], ["answers", "answers", "fails", "breaks", "is silent"]]);
  class Worker {
    queue = [];
    postMessage(message) {
      sent = message;
      this.queue.push(message);
      if (this.queue.length === 1) later(() => this.work(), one(pace));
    }
    work() {
      if (this.dead) return;
      const [{ id, sliders, shows }] = this.queue, fate = one(fates);
      if (fate === "is silent") return;
      if (fate === "breaks") return this.onerror({});
      const filled = new Float64Array(shows.length).fill(sliders[0]);
      const data = fate === "fails" ? { id, trouble: "no" } : { id, filled };
      later(() => { if (!this.dead || chance() < 0.5) this.onmessage({ data }); }, 1); // it may be under way already
      this.queue.shift();
      if (this.queue.length) later(() => this.work(), one(pace));
    }
    terminate() { this.dead = true; }
  }
  class IntersectionObserver {
    constructor(seen) { later(() => seen([{ isIntersecting: true }]), one([0, 100, 3000])); }
    observe() {}
    disconnect() {}
  }
  document.body.innerHTML = html;
  const root = document.querySelector(".fair-explorer");
  const drop = (id) => { tasks = tasks.filter((task) => task.id !== id); };
  const history = { replaceState() {} }; // or the next course would begin where this one ends
  const ours = { Worker, IntersectionObserver, history, setTimeout: later, clearTimeout: drop };
  new Function(...Object.keys(ours), $live)(...Object.values(ours));

  const slider = root.querySelector("[type=range]"), picture = root.querySelector("img");
  const moves = Math.floor(9 * chance());
  const move = (left) => {
    if (!left) return;
    slider.value = Math.floor(10 * chance());
    slider.dispatchEvent(new Event("input"));
    later(() => move(left - 1), one([1, 16, 300, 2500, 6000]));
  };
  later(() => move(moves), one([0, 50, 5000]));
  const state = () => {
    const wanted = slider.getAttribute("aria-valuetext") ?? slider.value;
    return {
      right: picture.alt === `${wanted}: ${wanted}` && decodeURIComponent(picture.src).includes(`at ${wanted}<`),
      busy: root.hasAttribute("aria-busy"),
      alert: root.querySelector("[role=alert]").textContent,
      tried: String(sent?.sliders[0]) === wanted,
    };
  };
  let hidden = 0;
  while (tasks.length) {
    tasks.sort((a, b) => a.at - b.at || a.id - b.id);
    const task = tasks.shift();
    now = task.at;
    task.deed();
    const { right, busy, alert } = state();
    if (!right && !busy && !alert) hidden++;
  }
  return { ...state(), moves, hidden };
};
const [html, from, to] = arguments;
return Array.from({ length: to - from }, (_, i) => played(from + i, html));
"""


def shows(n: int, x: Number) -> None:
    x[0] = n


def figure(n: int, x: float) -> Figure:
    fig, ax = plt.subplots(figsize=(2, 1))
    moving(ax.set_title(""), "at {x:g}")
    return fig


def test_an_old_picture_never_looks_like_the_new_one(
    browser: webdriver.Chrome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each event of three hundred random courses, and in their ends."""
    monkeypatch.setenv("FAIRLIB_LIVE", "0")
    explorer = explore(figure, live=Live(shows, alt="{n:g}: {x:g}"), n=Slider("n", range(10), start=0))
    (tmp_path / "page.html").write_text("<!doctype html><meta charset=utf-8><title>model</title>", encoding="utf-8")
    browser.get((tmp_path / "page.html").as_uri())
    model = MODEL.replace("$live", json.dumps(scripts.explorers()))
    ends = browser.execute_script(model, explorer._repr_mimebundle_()["text/html"], 0, 300)
    assert not [seed for seed, end in enumerate(ends) if end["hidden"]], "the picture is old, and nothing says so"
    assert not [seed for seed, end in enumerate(ends) if end["busy"]], "nothing is under way, but it says so"
    # What is given up is the reader's last setting, none before it, and not what the page computes beforehand.
    assert not [seed for seed, end in enumerate(ends) if end["alert"] and not (end["tried"] and end["moves"])]
    given_up = sum(bool(end["alert"]) for end in ends)
    assert 10 < given_up < 150, "the model is too hard or too easy"
