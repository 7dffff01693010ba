"""The cover of the book, drawn by the package when the book is built, and the card that stands for a page elsewhere.

Each strip is one run of a policy: a stripe for each of a few rounds, in the colour of the seller that was shown.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sphinx.application import Sphinx

import fairlib as fl
from fairlib.shares import fair_ucb

COVER, CARD = "_static/cover.svg", "_static/card.png"
CARD_SIZE = 1200, 630
ROUNDS, STRIPES = 3000, 150
GAME = fl.Bandit(fl.bernoulli([0.90, 0.88, 0.80, 0.70, 0.60, 0.50]))  # the landing page's
POLICIES = {"winner takes all": fl.ucb1(), "a fair share": fair_ucb([0.1] * 6)}
COLOURS = mpl.colormaps["viridis"](np.linspace(0.12, 0.92, 6))  # seen on white, and on a dark page


def played(policy: fl.Policy) -> list[int]:
    """Return the arms of some rounds of one run, close together at first, where most is learnt."""
    rounds = np.arange(1, ROUNDS + 1)
    plays = np.diff(fl.simulate(GAME, policy, ROUNDS, runs=1, seed=1, rounds=rounds).selected[0], axis=0, prepend=0)
    at = np.geomspace(STRIPES, STRIPES + ROUNDS, STRIPES).astype(int) - STRIPES
    return [int(arm) for arm in plays[np.minimum(at, ROUNDS - 1)].argmax(axis=1)]


def strip(ax: Axes, policy: fl.Policy) -> None:
    """Draw one run; stripes of one colour that follow each other are one, so that no line parts them."""
    arms = played(policy)
    starts = [i for i in range(STRIPES) if i == 0 or arms[i] != arms[i - 1]]
    widths = np.diff([*starts, STRIPES])
    ax.broken_barh(list(zip(starts, widths, strict=True)), (0, 1), facecolors=[COLOURS[arms[i]] for i in starts])
    ax.set(xlim=(0, STRIPES), ylim=(0, 1))
    ax.axis("off")


def draw(folder: Path) -> None:
    """Write the cover and the card."""
    (folder / "_static").mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(mpl.rcParamsDefault | {"svg.hashsalt": "cover"}):
        cover = Figure(figsize=(12, 1.7))
        for ax, policy in zip(cover.subplots(2), POLICIES.values(), strict=True):
            strip(ax, policy)
        cover.subplots_adjust(0, 0, 1, 1, hspace=0.12)
        cover.savefig(folder / COVER, transparent=True, metadata={"Date": None})

        card = Figure(figsize=(CARD_SIZE[0] / 100, CARD_SIZE[1] / 100), dpi=100, facecolor="#fcfcfb")
        card.text(0.06, 0.81, "Fair bandits", size=56, color="#1b1f24", family="serif")
        card.text(0.06, 0.71, "A textbook that runs", size=25, color="#4b5563")
        for (name, policy), bottom in zip(POLICIES.items(), (0.4, 0.1), strict=True):
            strip(card.add_axes((0.06, bottom, 0.88, 0.17)), policy)
            card.text(0.06, bottom + 0.19, name, size=20, color="#1b1f24")
        card.savefig(folder / CARD)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""

    def build(app: Sphinx) -> None:
        if app.builder.name == "html":
            draw(Path(app.outdir))

    app.connect("builder-inited", build)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
