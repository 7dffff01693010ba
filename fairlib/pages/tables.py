"""Tables as the output of a cell: aligned text where it is compared, HTML where it is read."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from fairlib import checks

__all__ = ["Table"]

_NUMBER = re.compile(r"[-+]?\.?\d.*|[-+]?inf|nan|")
_FIGURE_SPACE = "\u2007"  # as wide as a digit: HTML keeps it, and so an alignment


@dataclass(frozen=True, repr=False)
class Table:
    """A table of results, the last value of a cell.

    The first column names the rows. A column whose entries all begin with a digit or a sign (or are empty, ``inf``
    or ``nan``) is aligned to the right, and at its ``±``.

    Parameters
    ----------
    rows : iterable of mapping of str to str or int
        A mapping for each row, from the headings to the entries; all have the same headings in the same order. A
        number with decimals is given as text, rounded as it is to be read; a whole number gets its commas here.

    Raises
    ------
    TypeError, ValueError
        If the rows are not mappings with the same headings, or an entry is neither text nor a whole number.

    Examples
    --------
    >>> found = {"UCB1": "41 ± 2", "uniform": "150"}
    >>> Table({"policy": name, "rounds": 1000, "regret": regret} for name, regret in found.items())
    policy   rounds   regret
    UCB1      1,000   41 ± 2
    uniform   1,000  150
    >>> Table([{"policy": "UCB1"}, {"name": "uniform"}])
    Traceback (most recent call last):
    ValueError: rows[1] must have the headings 'policy' of the first row, not 'name'
    """

    rows: Iterable[Mapping[str, str | int]]

    def __post_init__(self) -> None:
        rows = list(checks.rows("rows", self.rows, "a list of mappings from headings to entries"))
        for i, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise TypeError(f"rows[{i}] must be a mapping from headings to entries, not {checks.shown(row)}")
            if list(row) != list(rows[0]):
                first, other = (", ".join(map(repr, each)) for each in (rows[0], row))
                raise ValueError(f"rows[{i}] must have the headings {first} of the first row, not {other}")
            for heading, entry in row.items():
                if not isinstance(heading, str):
                    raise TypeError(f"the headings of rows must be text, not {checks.shown(heading)}")
                if not isinstance(entry, str | int) or isinstance(entry, bool):
                    raise TypeError(f"rows[{i}][{heading!r}] must be text or a whole number, not {checks.shown(entry)}")
        if not rows or not rows[0]:
            raise ValueError("rows must have at least one row with one heading")
        object.__setattr__(self, "rows", rows)

    def _columns(self) -> list[tuple[bool, list[str]]]:
        """Return for each column whether it holds numbers, and its heading and entries, padded to align numbers."""
        found = []
        rows = list(self.rows)
        for heading in rows[0]:
            entries = [each if isinstance(each, str) else f"{each:,}" for each in (row[heading] for row in rows)]
            numbers = all(_NUMBER.fullmatch(entry) for entry in entries)
            if numbers:
                errors = [len(entry) - len(entry.partition(" ± ")[0]) for entry in entries]
                entries = [entry + " " * (max(errors) - error) for entry, error in zip(entries, errors, strict=True)]
            found.append((numbers, [heading, *entries]))
        return found

    def __repr__(self) -> str:
        columns = []
        for numbers, texts in self._columns():
            width = max(map(len, texts))
            columns.append([text.rjust(width) if numbers else text.ljust(width) for text in texts])
        return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))

    def _repr_html_(self) -> str:
        table = Element("table", {"class": "fair-table"})
        head, body = SubElement(table, "thead"), SubElement(table, "tbody")
        columns = self._columns()
        for i in range(len(columns[0][1])):
            line = SubElement(body if i else head, "tr")
            for j, (numbers, texts) in enumerate(columns):
                scope = {"scope": "row" if i else "col"} if not (i and j) else {}
                cell = SubElement(line, "th" if scope else "td", scope)
                if not numbers:
                    cell.set("style", "text-align: left")
                cell.text = texts[i].rstrip().ljust(len(texts[i]), _FIGURE_SPACE)
        # The theme lets what is in such a box scroll, where it is wider than a screen.
        return f'<div class="pst-scrollable-table-container">{tostring(table, encoding="unicode")}</div>'
