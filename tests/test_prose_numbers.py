"""A number that is changed in the text of a chapter is noticed, and so is a cell that prints another one."""

import json
import random
import re
from pathlib import Path

import prose_numbers
import pytest
from prose_numbers import PROSE, Sources

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted((ROOT / "chapters").glob("*.md"))
STORED = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in (ROOT / "tests/reference/numbers").glob("*.json")
}
NOTHING = Sources([], set())


def unmarked(stored: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return what is stored without the marks, which need the outputs of cells."""
    return {heading: [re.sub("[=:](?= |$)", "", line) for line in lines] for heading, lines in stored.items()}


def places(text: str) -> list[re.Match[str]]:
    """Return the numbers in figures of a page's paragraphs, where they stand in its text."""
    prose = [line for _, paragraph in prose_numbers.paragraphs(text) for line in paragraph.splitlines()]
    at = [(text.find(line), line) for line in prose]
    return [each for start, line in at if start >= 0 for each in PROSE.finditer(text, start, start + len(line))]


def test_every_page_has_its_numbers_stored():
    names = {path.stem for path in CHAPTERS if prose_numbers.of_page(path.read_text(encoding="utf-8"), NOTHING)}
    assert names == {name for name, stored in STORED.items() if stored}


def test_forty_numbers_changed_at_random_are_noticed():
    draw = random.Random(2026)
    missed = []
    for path in draw.choices(CHAPTERS, weights=[len(path.read_text(encoding="utf-8")) for path in CHAPTERS], k=40):
        text = path.read_text(encoding="utf-8")
        number = draw.choice([each for each in places(text) if each[0][0].isdigit()])
        digit = draw.randrange(number.start(), number.end())
        if not text[digit].isdigit():
            digit -= 1
        other = draw.choice([each for each in "123456789" if each != text[digit]])
        fresh = prose_numbers.of_page(text[:digit] + other + text[digit + 1 :], NOTHING)
        if prose_numbers.lines(fresh) == unmarked(STORED[path.stem]):
            missed.append(f"{path.stem}: {number[0]}, at {number.start()}")
    assert len(missed) <= 4, missed


@pytest.mark.parametrize(
    ("printed", "text", "noticed"),
    [
        ("regret 733.7", "It loses 734 sales.", False),
        ("regret 735.7", "It loses 734 sales.", True),
        ("share 0.474", "It has 47.4 per cent.", False),
        ("share 0.484", "It has 47.4 per cent.", True),
    ],
)
def test_a_cell_that_prints_another_number_is_noticed(printed, text, noticed):
    stored = {"": [re.sub(r".*?([\d.]+\d).*", r"\1=", text)]}
    found = prose_numbers.of_page(text, Sources.of([printed], []))
    assert (prose_numbers.lines(found) != stored) is noticed
    assert bool(prose_numbers.changed(stored, found)) is noticed


def test_a_tie_that_moves_to_another_horizon_is_noticed():
    before = prose_numbers.of_page("A tie at 10,000 rounds, and more at 100,000.", NOTHING)
    after = prose_numbers.of_page("More at 10,000 rounds, and a tie at 100,000.", NOTHING)
    assert prose_numbers.lines(before) != prose_numbers.lines(after)
    said = prose_numbers.changed(prose_numbers.lines(before), after)
    assert said == ["10,000   in: More at 10,000 rounds, and a tie at 100,000."]
