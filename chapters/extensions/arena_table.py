"""The arena: cards of its games, and the scripts of its table.

The directive ``{arena-games}`` makes a card for each game, from the game's own numbers. What the entrants did is in
``benchmarks/arena.json``, which ``make arena`` writes. The page that has the table, which the attribute ``data-arena``
says, loads it, shortened; the games themselves are fetched when a reader's own rule is to play.
"""

import json
import math
import shutil
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from fairlib.arena import entrants, v1
from fairlib.baselines.classic import ucb1
from fairlib.delays import cucb_d
from fairlib.merit import fair_policy
from fairlib.pages.playground import EXAMPLE, Playground
from fairlib.pages.scripts import numbers, script

RECORD = Path("benchmarks") / "arena.json"
DIGITS = 4  # of the numbers in the page


def read(root: Path) -> dict[str, Any]:
    """Return what `make arena` wrote."""
    found: dict[str, Any] = json.loads((root / RECORD).read_text(encoding="utf-8"))
    return found


def short(number: float) -> float:
    """Round a number to the digits that the page has.

    >>> short(1234.5678), short(0.0123456)
    (1235.0, 0.01235)
    """
    return float(f"{number:.{DIGITS}g}")


def shortened(found: dict[str, Any]) -> dict[str, Any]:
    """Return the record as the page needs it: nested by horizon, game, measure and policy."""
    cells: dict[Any, Any] = {}
    for horizon, game, measure, policy, mean, error, _, worst, best, last, close in found["rows"]:
        cell = [*map(short, (mean, error, worst)), best, last, close]
        cells.setdefault(horizon, {}).setdefault(game, {}).setdefault(measure, {})[policy] = cell
    sure: dict[Any, Any] = {}
    for horizon, game, _, second, policy, kept in found["fronts"]:
        sure.setdefault(horizon, {}).setdefault(game, {}).setdefault(second, {})[policy] = short(kept)
    who = {name: {"knows": each.knows, "proved": each.as_proved} for name, each in entrants.items()}
    return {"seed": found["seed"], "policies": who, "cells": cells, "fronts": sure, "rule": EXAMPLE}


def on_paper(found: dict[str, Any]) -> str:
    """Return the table that the page shows first, for paper: the fairness regret after the longest games."""
    cells = shortened(found)["cells"]
    horizon = max(cells)
    columns = [cells[horizon][game]["fairness_regret"] for game in v1]
    rows: dict[Any, list[str]] = {}  # of the same numbers, one with several names
    for policy in entrants:
        rows.setdefault(tuple(str(column.get(policy)) for column in columns), []).append(policy)

    def row(names: list[str]) -> str:
        shown = ""
        for column in columns:
            if names[0] not in column:
                shown += "<td>&ndash;</td>"
                continue
            mean, _, _, best, last, close = column[names[0]]
            said = f"{mean:,.0f}" if mean >= 100 else f"{mean:.3g}"
            ranks = f"{best}" if best == last else f"{best} to {last}"
            shown += f"<td>{f'<strong>{said}</strong>' if close else said}<br/>({ranks})</td>"
        return f'<tr><th scope="row">{escape(", ".join(names))}</th>{shown}</tr>'

    fits = [names for names in rows.values() if any(names[0] in column for column in columns)]
    fits.sort(key=lambda names: columns[0].get(names[0], [math.inf])[0])
    heads = "".join(f'<th scope="col">{game.replace("/", "/<wbr/>")}</th>' for game in v1)
    return (
        f'<table class="arena-results"><caption>Fairness regret after {horizon:,} rounds: means of {found["runs"]} '
        "runs, and ranks in brackets. The page also has the other measures, shorter games, standard errors, "
        'and a place for a rule of your own.</caption><thead><tr><th scope="col">Policy</th>'
        f"{heads}</tr></thead><tbody>{''.join(map(row, fits))}</tbody></table>"
    )


def games() -> dict[str, Any]:
    """Return the games on arms, on which a rule that is written in the page can play: scripts, and their numbers."""
    scripts: list[str] = []
    found = {}
    for name, game in v1.items():
        if isinstance(game, Playground):
            policy = ucb1() if game.plays == 1 else cucb_d(game.plays)
            text = script(game, policy)
            if text not in scripts:
                scripts.append(text)
            sums = list(game.metrics.rule.memory)
            found[name] = {"script": scripts.index(text), "sums": sums, "numbers": numbers(game, policy, 1)}
    return {"scripts": scripts, "games": found}


def listed(values: Any) -> str:
    """Write numbers as a list, or once if all are the same.

    >>> listed([0.1, 0.1]), listed([0.25, 1]), listed([[1, 2], [3, 0]])
    ('0.1 each', '0.25, 1', '(1, 2), (3, 0)')
    """
    said = [f"({', '.join(f'{x:g}' for x in each)})" if isinstance(each, list) else f"{each:.3g}" for each in values]
    return f"{said[0]} each" if len(set(said)) == 1 else ", ".join(said)


def card(name: str) -> dict[str, str]:
    """Return what a game is, and what is owed in it, by headings.

    >>> card("delays/easy")["Delay"], card("ranks/easy")["Owed"]
    ('geometric, 20 rounds on average', 'the best of their own group')
    """
    numbers = v1.numbers(name)
    game: Any = v1[name]
    made: dict[str, str] = {}
    if "means" in numbers:
        made["Means"] = listed(numbers["means"])
        if game.plays > 1:
            made["Plays a round"] = str(game.plays)
        if name.startswith("delays"):
            law, first, *rest = numbers["delay"]
            made["Delay"] = (
                f"{law}, {1 / first[0]:.3g} rounds on average"
                if law == "geometric"
                else f"a reward of 1 arrives with probability {listed(first)}, a reward of 0 with {listed(rest[0])}"
            )
        fair = listed(fair_policy(game.merit, game.arms.means, game.plays))
        made["Owed"] = (
            f"promised shares: {listed(numbers['shares'])}; fair shares by the merit {game.merit.name}: {fair}"
        )
        return made
    if "parameter" in numbers:
        made["Rewards"] = f"linear in the context, with the parameter ({listed(numbers['parameter'])})"
        made["Arms"] = f"{numbers['arms']}, each with a new context on the unit sphere in each round"
        made["Owed"] = f"in each round shares by the merit {game.merit.name}"
    else:
        made["Rewards"] = f"the candidate's context times {listed(numbers['weights'])}, by group"
        made["Plus"] = f"{listed(numbers['biases'])}, by group"
        if "shares" in numbers:
            made["Pool"] = (
                f"{numbers['arms']} candidates a round, each of the groups with probability {listed(numbers['shares'])}"
            )
        made["Owed"] = "the best of their own group"
    return {**made, "Noise": f"normal, with standard deviation {numbers['sd']:g}"}


class ArenaGames(SphinxDirective):
    """Show a card for each game."""

    def run(self) -> list[nodes.Node]:
        """Make the cards, each with a place of its own for links."""
        found: list[nodes.Node] = []
        for name in v1:
            made = nodes.section(ids=[f"game-{name.replace('/', '-')}"], classes=["arena-card"])
            made += nodes.paragraph("", "", nodes.strong("", name), nodes.Text(f": {v1.about(name)}"))
            lines = nodes.field_list()
            for heading, text in card(name).items():
                lines += nodes.field("", nodes.field_name("", heading), nodes.field_body("", nodes.paragraph("", text)))
            made += lines
            found.append(made)
        return found


def write(app: Sphinx) -> None:
    """Write the scripts."""
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(app.srcdir) / RECORD, folder)
    for file, name, made in (
        ("arena-table.js", "fairArena", shortened(read(Path(app.srcdir)))),
        ("arena-games.js", "fairArenaGames", games()),
    ):
        text = json.dumps(made, separators=(",", ":"))
        (folder / file).write_text(f"window.{name} = {text};\n", encoding="utf-8")


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Have a page load it."""
    if "data-arena" in context.get("body", ""):
        app.add_css_file("playground.css")
        for name in ("arena-table.js", "own-rule.js", "results.js", "arena.js"):
            app.add_js_file(name, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("arena-games", ArenaGames)
    app.connect("builder-inited", write)
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
