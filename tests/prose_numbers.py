"""Numbers in the prose of a page, each with where it comes from, so that none can change unnoticed.

A number that a cell of the page prints, rounded as in the text, is marked with ``=``; one that stands in the code of a
cell, such as a number of runs, with ``:``. All others are stated by the text alone. The numbers of each paragraph are a
line of ``tests/reference/numbers/<page>.json``, under the heading above it. So a test fails when a number of the text
changes, and when a cell no longer prints what the text says. Number words and the word *tie* count as numbers.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|million"
    "|half|third|quarter|fifth|sixth|tenth|twice|thrice|tie|ties|tied"
)
FIGURE = r"\d+(?:(?:,|\{,\})\d{3})*(?:\.\d+)?"
PROSE = re.compile(rf"(?<![\w.]){FIGURE}(?![A-Za-z_\d])|\b(?:{WORDS})\b", re.IGNORECASE)
MATH = re.compile(FIGURE)
FORMULA = re.compile(r"(\$\$.*?\$\$|\$[^$]+\$)", re.DOTALL)
PRINTED = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
WRITTEN = re.compile(r"(?<![\w.])\d+(?:_\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")
NOT_PROSE = re.compile(
    r"\{(?:prf:ref|eq|numref|cite:\w+|cite|py:\w+|doc)\}`[^`]*`"  # a link without words of its own
    r"|\{ref\}`[^`<]*`|<[\w-]+>`|https?://\S+|<!--.*?-->|\{[a-z-]+\}(?=`)",
    re.DOTALL,
)
OPTION = re.compile(r"^(?::[\w-]+:.*|\([\w-]+\)=|mystnb:|tags:.*|\s*(?:name|figure|image):.*)$")
PER_CENT = re.compile(r"\s*(?:per cent|%|\\%|points)")


class Number(NamedTuple):
    """A number of the text, its mark, and the sentence around it."""

    text: str
    mark: str
    sentence: str

    @property
    def stored(self) -> str:
        """The number as it is stored."""
        return self.text + self.mark


@dataclass
class Sources:
    """The numbers that the cells of a page print, and those in their code."""

    printed: list[float]
    written: set[float]

    @classmethod
    def of(cls, outputs: Iterable[str], code: Iterable[str]) -> "Sources":
        """Read outputs and code.

        >>> Sources.of(["regret 733.7 ± 1,204"], ["runs=1_000"])
        Sources(printed=[733.7, 1204.0], written={1000.0})
        """
        printed = [float(each.replace(",", "")) for text in outputs for each in PRINTED.findall(text)]
        written = {float(each.replace("_", "")) for text in code for each in WRITTEN.findall(text)}
        return cls(printed, written)

    def mark(self, number: str, after: str) -> str:
        """Return the mark of a number: how the page comes to it.

        >>> page = Sources.of(["regret 733.7, share 0.474"], ["runs=1_000"])
        >>> page.mark("734", ""), page.mark("47.4", " per cent"), page.mark("1,000", ""), page.mark("735", "")
        ('=', '=', ':', '')
        """
        digits = number.replace("{,}", "").replace(",", "")
        if not digits[0].isdigit():
            return ""
        value, decimals = float(digits), len(digits.partition(".")[2])
        scales = (1, 100) if PER_CENT.match(after) else (1,)
        if len(digits.replace(".", "").strip("0")) > 1:
            within = 0.5 * 10**-decimals * (1 + 1e-9)
            if any(abs(scale * each - value) <= within for each in self.printed for scale in scales):
                return "="
        if value >= 10 or decimals:  # small whole numbers are in every cell
            return ":" if any(scale * each == value for each in self.written for scale in scales) else ""
        return ""


def without_code(page: str) -> Iterator[str]:
    """Yield the lines of a page that are prose; of a cell those are caption and alt text."""
    fences: list[tuple[int, bool]] = []  # how long the fences of the open blocks are, and whether each has code
    front = page.startswith("---")  # the header of a page or a cell is between two lines of dashes
    previous = ""
    for line in page.splitlines()[front:]:
        fence = re.match(r"(`{3,}|:{3,})(\{[\w:-]+\})?(.*)$", line)
        if front:
            front = line != "---"
            if fences and not front:
                yield ""
            elif fences:
                yield line
        elif fence and fences and not fence[2] and not fence[3] and len(fence[1]) >= fences[-1][0]:
            fences.pop()
            yield ""
        elif fences and fences[-1][1]:
            front = line == "---" and previous.startswith("```{")
        elif fence:
            fences.append((len(fence[1]), not fence[2] or fence[2] in ("{code-cell}", "{code-block}")))
            yield "" if fences[-1][1] else fence[3]
        else:
            yield line
        previous = line


def paragraphs(page: str) -> list[tuple[str, str]]:
    r"""Return the paragraphs of a page, each with the heading above it: prose, captions and alt texts, without code.

    >>> paragraphs("# One\n\nIt is 2.\n\n```{code-cell} ipython3\n:tags: [x]\nprint(3)\n```\n\n## Two\n\nIt is 4.\n")
    [('One', 'It is 2.'), ('Two', 'It is 4.')]
    >>> paragraphs("```{prf:lemma} Two\n:label: x-3\n\nIt is 2.\n```\n\n```\n1\n```\n\n3\n")
    [('', 'Two'), ('', 'It is 2.'), ('', '3')]
    >>> paragraphs("```{code-cell} ipython3\n---\nmystnb:\n  caption: |\n    5 runs\n---\n7\n```\n")
    [('', 'caption: |\n    5 runs')]
    """
    heading, found = "", []
    for block in re.split(r"\n\s*\n", "\n".join(without_code(page))):
        lines = [line for line in block.splitlines() if not OPTION.match(line)]
        if lines and lines[0].startswith("#"):
            heading = lines.pop(0).lstrip("# ")
        if text := NOT_PROSE.sub(" ", "\n".join(lines)).strip():
            found.append((heading, text))
    return found


def numbers(text: str, sources: Sources) -> list[Number]:
    """Return the numbers of a paragraph.

    >>> [each[:2] for each in numbers("After $10^5$ rounds a tie, 734 of 1,000.", Sources.of(["733.7"], []))]
    [('10', ''), ('5', ''), ('tie', ''), ('734', '='), ('1,000', '')]
    """
    found = []
    start = 0
    for i, part in enumerate(FORMULA.split(text)):
        for each in (MATH if i % 2 else PROSE).finditer(part):
            at = start + each.start()
            before = max(text.rfind(end, 0, at) for end in (". ", ".\n", "? ", "?\n"))
            sentence = " ".join(re.split(r"(?<=[.?])\s", text[before + 1 :].lstrip(), maxsplit=1)[0].split())
            mark = sources.mark(each[0], text[start + each.end() :])
            found.append(Number(each[0].lower(), mark, sentence))
        start += len(part)
    return found


def of_page(page: str, sources: Sources) -> dict[str, list[list[Number]]]:
    """Return the numbers of each paragraph that has any, by the heading above it."""
    found: dict[str, list[list[Number]]] = {}
    for heading, text in paragraphs(page):
        if here := numbers(text, sources):
            found.setdefault(heading, []).append(here)
    return found


def lines(found: dict[str, list[list[Number]]]) -> dict[str, list[str]]:
    """Return what is stored: for each heading a line for each paragraph."""
    return {heading: [" ".join(each.stored for each in here) for here in groups] for heading, groups in found.items()}


def changed(stored: dict[str, list[str]], found: dict[str, list[list[Number]]]) -> list[str]:
    """Return the sentences with a number that is not as it was stored."""
    said = []
    for heading, groups in found.items():
        old = stored.get(heading, [])
        for here in groups:
            if " ".join(each.stored for each in here) not in old:
                was = set(" ".join(old).split())
                new = [each for each in here if each.stored not in was] or here[:1]
                said += [f"{each.stored}   in: {each.sentence}" for each in new]
    return said
