"""The directive ``{on-trial}``: the results of the last trials, with a row for each bound, by policy.

``csv-table`` would show the games. ``chapters/trials.csv`` has a line for each game; ``make test-full`` writes it.
"""

import csv
import pathlib
from collections import Counter
from itertools import groupby
from statistics import median

from docutils import nodes
from results import place, table
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

HEADINGS = ("Bound", "Policy", "Bites in", "Outcome", "Tightness")
WIDTHS = (31, 14, 20, 17, 18)


def span(numbers: list[float], form: str = ",.0f") -> str:
    """Write the range of some numbers.

    >>> span([1000, 1000]), span([50, 7000]), span([0.5, 0.25], ".2f")
    ('1,000', '50 to 7,000', '0.25 to 0.50')
    """
    first, last = f"{min(numbers):{form}}", f"{max(numbers):{form}}"
    return first if first == last else f"{first} to {last}"


def beyond(games: list[dict[str, str]]) -> str:
    """Say how many runs were beyond a bound and how many may be, or on which side of it the mean is.

    >>> beyond([{"allowed": "mean", "violations": "0", "runs": "20", "side": "above"}])
    'the mean is below'
    >>> beyond([{"allowed": "0.1", "violations": v, "runs": "1000", "side": "above"} for v in ("0", "7")])
    '0.7% above, 10% allowed'
    """
    side = games[0]["side"]
    if games[0]["allowed"] == "mean":
        return f"the mean is {'below' if side == 'above' else 'above'}"
    share = max(int(game["violations"]) / int(game["runs"]) for game in games)
    return f"{100 * share:.2g}% {side}, {span([100 * float(game['allowed']) for game in games], '.3g')}% allowed"


def summary(games: list[dict[str, str]]) -> tuple[str, str, str]:
    """Say where a bound bites, how often it was exceeded and how tight it is.

    >>> game = {"allowed": "mean", "side": "above", "horizon": "50", "tightness": "0.2"}
    >>> summary([game | {"word": "held"}, {"word": "vacuous"}, {"word": "unplayed"}])
    ('1 of 2 games, 50 rounds', 'the mean is below', 'tightness 0.2')
    >>> summary([{"word": "unplayed"}])
    ('not played yet', '', '')
    """
    tried = [game for game in games if game["word"] != "unplayed"]
    bites = [game for game in tried if game["word"] != "vacuous"]
    if not bites:
        return (f"none of {len(tried)} games", "vacuous", "") if tried else ("not played yet", "", "")
    tight = [float(game["tightness"]) for game in bites]
    middle, most = f"{median(tight):.3g}", f"{max(tight):.3g}"
    where = f"{len(bites)} of {len(tried)} games, {span([int(game['horizon']) for game in bites])} rounds"
    wrong = sum(game["word"] == "violated" for game in bites)
    said = f"violated in {wrong}" if wrong else beyond(bites)
    return where, said, f"tightness {middle}" + (f", at most {most}" if most != middle else "")


def verdict(rows: list[dict[str, str]]) -> str:
    """Sum up the whole table.

    >>> verdict([{"bound": "a", "word": word} for word in ("held", "held", "vacuous", "unplayed")])
    '3 of 4 games were played. No bound is violated in any; in 1 a bound is vacuous.'
    """
    counts = Counter(row["word"] for row in rows)
    played = len(rows) - counts["unplayed"]
    wrong = f"In {counts['violated']} a bound is violated" if counts["violated"] else "No bound is violated in any"
    vacuous = (
        f"in {counts['vacuous']} a bound is vacuous" if counts["vacuous"] else "each one bites in all of its games"
    )
    return f"{played} of {len(rows)} games were played. {wrong}; {vacuous}."


class OnTrial(SphinxDirective):
    """Tabulate the bounds."""

    def run(self) -> list[nodes.Node]:
        """Build the table, with a ``place`` for each link, and say below it when it was made."""
        path = pathlib.Path(self.env.srcdir) / "chapters" / "trials.csv"
        self.env.note_dependency(str(path))
        with path.open(newline="", encoding="utf-8") as file:
            rows = sorted(csv.DictReader(file), key=lambda game: (game["policy"].casefold(), game["bound"]))
        lines = []
        for name, each in groupby(rows, lambda game: game["bound"]):
            games = list(each)
            proved = nodes.inline("", "", place("", label=games[0]["label"]), nodes.literal(name, name))
            said = (nodes.Text(text) for text in (games[0]["policy"], *summary(games)))
            lines.append([proved, *said])
        last = max(rows, key=lambda game: game["date"])
        made = f"{verdict(rows)} Last played on {last['date']} with {last['versions']}."
        return [table(HEADINGS, WIDTHS, lines), nodes.paragraph("", made)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("on-trial", OnTrial)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
