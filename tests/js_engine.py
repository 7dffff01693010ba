"""Run translated functions and games in V8, the JavaScript engine of Chromium, without the browser."""

import json
from typing import Any

import numpy as np
from py_mini_racer import MiniRacer

from fairlib.pages.scripts import numbers, runtime, script

# The one function of a browser that the runtime needs and the bare language has not.
_ATOB = """
globalThis.atob = (text) => {
  const signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  let out = "", held = 0, bits = 0;
  for (const sign of text.replace(/=+$/, "")) {
    held = (held << 6) | signs.indexOf(sign);
    bits += 6;
    if (bits >= 8) { bits -= 8; out += String.fromCharCode((held >> bits) & 255); held &= (1 << bits) - 1; }
  }
  return out;
};
"""
# JSON has no nan and no infinity.
_SAY = 'const $say = (x) => JSON.stringify(x, (_, v) => (typeof v === "number" && !Number.isFinite(v) ? String(v) : '
_SAY += "v instanceof Float64Array ? [...v] : v));"


def evaluated(text: str, expression: str) -> Any:
    """Run a script after the runtime, and return the value of an expression; nan and infinity come as text."""
    with MiniRacer() as engine:
        return json.loads(str(engine.eval(f"{_ATOB}{runtime()}{_SAY}\n{text}\n$say({expression})")))


def written(value: Any) -> str:
    """Write a value as JavaScript."""
    return json.dumps(value).replace("NaN", "(0/0)").replace("Infinity", "(1/0)")


def games(problem: Any, policy: Any, horizon: int, name: str = "game") -> str:
    """Return the script of a game with its numbers."""
    return f"{script(problem, policy)}\nconst {name} = {written(numbers(problem, policy, horizon))};"


def recorded(made: list[Any], sums: dict[str, Any]) -> dict[str, Any]:
    """Put runs as a script records them into the form in which the engine does."""
    faults, selected, reward, summed = (np.array([run[i] for run in made], np.float64) for i in range(4))
    assert not faults.any()
    ends = np.cumsum([0, *(int(np.prod(each.shape[2:])) for each in sums.values())])
    blocks = {
        name: summed[..., ends[i] : ends[i + 1]].reshape(each.shape) for i, (name, each) in enumerate(sums.items())
    }
    return {"selected": selected, "reward": reward, **blocks}


RUN = "(run) => { const made = $play(game, SEED, run); return [made.fault, made.selected, made.reward, made.sums]; }"
