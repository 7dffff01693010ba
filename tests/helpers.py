"""Steps that several test files share."""

import inspect
import math
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
from bs4 import BeautifulSoup
from numpy.random import PCG64, Generator, SeedSequence

import fairlib as fl
from fairlib.core import share_out
from fairlib.engine.agent import Agent, fresh_past
from fairlib.merit import Merit


@fl.rule
def exp3(rate, feedback, gain: fl.PerArm, p, available=None):
    """EXP3, which reads its feedback and remembers; chances below 0.01, as an altered file may hold, count as 0.01."""
    for i in range(feedback.size):
        gain[feedback.arm[i]] -= (1.0 - feedback.reward[i]) / max(feedback.chance[i], 0.01)
    for a in range(p.size):
        p[a] = math.exp(rate * gain[a])
    share_out(p, 1, available)


def public() -> dict[str, Any]:
    """Return what the modules of the package list, by name."""
    modules = [import_module(each.name) for each in walk_packages(fl.__path__, "fairlib.")]
    return {name: getattr(module, name) for module in (fl, *modules) for name in getattr(module, "__all__", ())}


def factories() -> dict[str, Any]:
    """Return the functions that make policies, by name."""
    functions = {name: each for name, each in public().items() if inspect.isfunction(each)}
    kinds = (fl.Policy, fl.ContextPolicy)
    return {name: each for name, each in functions.items() if inspect.signature(each).return_annotation in kinds}


def equal(name: str, one: Any, other: Any) -> bool:
    """Say whether two arrays of a result are equal to the last bit; with absences r_regret is nan."""
    return np.array_equal(one, other, equal_nan=name == "r_regret")


def same(one: fl.Result, other: fl.Result) -> bool:
    """Say whether two results are equal in all that they record, to the last bit."""
    first, second = (
        {name: value for name, value in vars(each).items() if isinstance(value, np.ndarray)} for each in (one, other)
    )
    return first.keys() == second.keys() and all(equal(name, first[name], second[name]) for name in first)


def both_ways(game: Any, policy: Any, horizon: int, **how: Any) -> fl.Result:
    """Play compiled and interpreted, and return the result, which must be the same."""
    result = fl.simulate(game, policy, horizon, **how)
    assert same(result, fl.simulate(game, policy.replace(interpret=True), horizon, **how))
    return result


def probabilities(
    policy: fl.Policy, t: int, observed: Any, total: Any, rng: Any = None, *, selected: Any = None
) -> np.ndarray:
    """Ask a policy on arms what it plays in a round, given the counts and the rewards so far; it has no memory yet."""
    seen = np.array(observed, np.int64)
    played = seen if selected is None else np.array(selected, np.int64)
    agent = Agent(policy, policy.bound_rule.interpreted, {"K": seen.size, "T": t})
    agent.selected, agent.observed, agent.total = played, seen, np.array(total, np.float64)
    return answer(agent, t, rng)


def context_probabilities(
    policy: fl.ContextPolicy,
    contexts: Any,
    ridge: Any,
    rng: Any = None,
    *,
    t: int = 1,
    past: Any = None,
    groups: Any = None,
) -> np.ndarray:
    """Ask a policy with contexts what it plays in a round; it has no memory yet."""
    k, d = contexts.shape
    groups = np.zeros(k, np.int64) if groups is None else groups
    agent = Agent(policy, policy.bound_rule.interpreted, {"K": k, "d": d, "G": int(groups.max()) + 1, "T": t})
    agent.ridge, agent.past = ridge, fresh_past(0, k, d) if past is None else past
    return answer(agent, t, rng, contexts, groups)


def answer(agent: Agent, t: int, rng: Any, *given: Any) -> np.ndarray:
    """Return the probabilities with which an agent plays in a round."""
    arm = agent.ask(t, rng, *given)
    return agent.p.copy() if arm < 0 else np.eye(agent.p.size)[arm]


def streams(seed: int, run: int) -> Iterator[Generator]:
    """Return the policy's stream and the world's, made as the engine says that it makes them."""
    return (Generator(PCG64(SeedSequence(seed, spawn_key=(run, stream)))) for stream in (0, 1))


def drawn(game: Any, rounds: int, seed: int) -> tuple[np.ndarray, ...]:
    """Return contexts, groups, means and rewards of many rounds of a game with contexts."""
    world, rng = game.world, np.random.default_rng(seed)
    numbers = world.draw.numbers({"K": world.arms, "d": world.dimension, "G": world.groups})
    x, g = np.zeros((rounds, world.arms, world.dimension)), np.zeros((rounds, world.arms), np.int64)
    m, r = np.zeros((rounds, world.arms)), np.zeros((rounds, world.arms))
    for t in range(rounds):
        world.draw.interpreted(numbers, rng, x[t], g[t], m[t], r[t])
    return x, g, m, r


def ramp_value(floor, x):
    return floor + min(max(x, 0.0), 1.0)


def ramp_best(floor, low, high, c):
    best = low
    for x in (high, min(max(0.0, low), high), min(max(1.0, low), high)):
        if ramp_value(floor, x) * (x - c) > ramp_value(floor, best) * (best - c):
            best = x
    return best


def ramp(floor: float) -> Merit:
    """Return a merit that is positive and Lipschitz wherever a normal mean may fall: what Theorem 3.3.1 asks for."""
    more: dict[str, Any] = {"lipschitz": 1.0, "log_lipschitz": 1 / floor, "floor": floor}
    return Merit("ramp", ramp_value, ramp_best, low=-9.0, high=9.0, minimum=floor, **more)


def sphinx(folder: Path, pages: dict[str, str], conf: str) -> tuple[BeautifulSoup, str]:
    """Build pages with extensions of the book; return the first page, and what was warned of."""
    ours = Path(__file__).parents[1] / "chapters" / "extensions"
    for name, text in pages.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).with_suffix(".md").write_text(text, encoding="utf-8")
    first = f"import sys\nsys.path.insert(0, {str(ours)!r})\nroot_doc = {next(iter(pages))!r}\n"
    (folder / "conf.py").write_text(first + conf, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-E", "-b", "html", str(folder), str(folder / "_build" / "html")]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stderr
    page = (folder / "_build" / "html" / next(iter(pages))).with_suffix(".html").read_text(encoding="utf-8")
    return BeautifulSoup(page, "html.parser"), said
