"""The book's apparatus: the errata, the bibliography, and what each figure says that it was run on."""

import csv
import itertools
import math
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import errata_table
import pytest

ROOT = Path(__file__).parents[1]
CHAPTERS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "chapters").glob("*.md"))}
ENTRIES = re.findall(r"^\((e-[a-z0-9-]+)\)=\n(.*?)(?=^\(e-|^## |\Z)", CHAPTERS["errata"], re.MULTILINE | re.DOTALL)
PREFACE = CHAPTERS["errata"].partition("\n## ")[0]
PAPERS = "PFGD"  # the letters of the entries, in the order of the columns of the table

# ---------------------------------------------------------------------------------------------------------------------
# Errata


STATUSES = re.findall(r"^\* \*\*(.+)\*\*: ", PREFACE, re.MULTILINE)


def status(entry: str) -> str:
    """Return the status that an entry gives in bold."""
    return str(re.findall(r"^- \*\*Status: (.+?)\*\*", entry, re.MULTILINE)[0])


@pytest.mark.parametrize(("label", "text"), ENTRIES, ids=[label for label, _ in ENTRIES])
def test_entry_of_the_errata_has_its_address_its_lines_and_its_place(label, text):
    name = re.match(r"\*\*(E-[A-Z]\d+[a-z]?)\*\*, .+\n\n- \*printed:\* ", text)
    assert name, f"{label}: an entry begins with its name in bold, its place in the paper and what is printed"
    assert label == name[1].lower()
    lines = re.findall(r"^- \*+(.+?)\*", text, re.MULTILINE)
    assert lines == ["printed:", "holds:", f"Status: {status(text)}"]
    assert status(text) in STATUSES
    assert re.search(r"\{(ref|prf:ref|numref)\}`[^`]+`\s*\Z", text), f"{label}: no link to its place at the end"


def test_no_two_entries_have_one_address():
    labels = [label for label, _ in ENTRIES]
    assert len(labels) > 80
    assert len(set(labels)) == len(labels)
    whole = {label for label in labels if label[-1].isdigit()}
    assert not [label for label in labels if label[:-1] in whole and not label[-1].isdigit()]


def test_table_of_the_errata_counts_its_entries():
    count = Counter((status(text), label[2].upper()) for label, text in ENTRIES)
    counted = {each: [count[each, paper] for paper in PAPERS] for each in STATUSES}
    counted["**all**"] = [sum(column) for column in zip(*counted.values(), strict=True)]
    rows = re.findall(r"^\| (.*) \|$", PREFACE[PREFACE.index("| status | Patil") :], re.MULTILINE)[2:]
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    assert cells == [[each, *map(str, [*row, sum(row)])] for each, row in counted.items()]
    assert sum(counted["**all**"]) == len(ENTRIES)


def test_entries_of_the_errata_belong_to_the_paper_above_them():
    for letter, part in zip(PAPERS, CHAPTERS["errata"].split("\n## ")[1:], strict=True):
        assert {label[2].upper() for label in re.findall(r"^\((e-.+)\)=$", part, re.MULTILINE)} == {letter}


def test_entries_named_at_the_top_include_all_that_are_false_or_unproved():
    found = re.findall(r"^\| \{ref\}`.+? <(e-.+?)>` \|.*\| \[. (.+)\]\{\.chip \.(\w+)\} \|$", PREFACE, re.MULTILINE)
    named = [label for label, _, _ in found]
    stated = {label: status(text) for label, text in ENTRIES}
    assert {label for label, said in stated.items() if said in ("false as stated", "unproved")} <= {*named}
    assert all((stated[label], errata_table.kind(said)) == (said, look) for label, said, look in found)
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    assert f"{words[len(named)].capitalize()} matter more:" in PREFACE


def test_the_table_of_entries_has_them_all():
    found = errata_table.ENTRY.findall(CHAPTERS["errata"])
    assert [(name.lower(), said) for name, _, _, said in found] == [(label, status(text)) for label, text in ENTRIES]


def test_what_the_chapters_call_an_erratum_is_one():
    known = {label for label, _ in ENTRIES}
    named = {
        (page, shown, label)
        for page, text in CHAPTERS.items()
        for shown, label in re.findall(r"\{ref\}`([^`<]+) <(e-[a-z]\d+[a-z0-9-]*)>`", text)
    }
    for page, shown, label in named:
        assert label in known, f"{page}: there is no entry {label}"
        if re.fullmatch(r"E-[A-Z]\d+[a-z]?", shown):
            assert label == shown.lower(), f"{page}: {shown} leads to {label}"


def test_what_the_package_and_the_tests_call_an_erratum_is_one():
    known = {label.upper() for label, _ in ENTRIES}
    for path in [*ROOT.glob("fairlib/**/*.py"), *ROOT.glob("tests/**/*.py")]:
        for name in re.findall(r"\bE-[A-Z]\d+[a-z]?\b", path.read_text(encoding="utf-8")):
            assert name.upper() in known, f"{path.name}: {name}"


def test_an_exercise_has_a_solution_if_only_of_how_far_we_got():
    posed, solved = (
        {label for text in CHAPTERS.values() for label in re.findall(rule, text)}
        for rule in (r"\{exercise\}.*\n:label: (\S+)", r"\{solution(?:-start)?\} (\S+)")
    )
    assert len(posed) > 170
    assert solved <= posed
    assert posed - solved == set()


def furthest_behind(r: list[Fraction], rounds: int) -> tuple[int, set[tuple[int, ...]]]:
    """Return the most whole plays that FAIR-LEARN with tolerance 0 leaves an arm behind, and the plays that do it."""
    most = 0
    found: set[tuple[int, ...]] = set()
    for free in itertools.product(range(len(r)), repeat=rounds):  # what a learner would play if it were asked
        plays, played = [0] * len(r), []
        for t in range(rounds):
            behind = [share * t - n for share, n in zip(r, plays, strict=True)]
            arm = behind.index(max(behind)) if max(behind) > 0 else free[t]
            plays[arm] += 1
            played.append(arm + 1)
            owed = max(math.floor(share * (t + 1)) - n for share, n in zip(r, plays, strict=True))
            if owed >= most:
                found = ({*found} if owed == most else set()) | {tuple(played)}
                most = owed
    return most, found


def test_shares_that_only_sum_to_less_than_one_can_leave_an_arm_a_play_behind():
    """E-P5, by trying every learner."""
    r = [Fraction(3, 4), Fraction(1, 8), Fraction(1, 16)]
    assert sum(r) < 1
    most, plays = furthest_behind(r, 4)
    assert (most, plays) == (1, {(3, 1, 1, 2)})
    assert furthest_behind([Fraction(1, 3)] * 3, 5)[0] == 0


def test_a_run_can_be_good_and_the_index_too_low():
    """E-P13b, Theorem 7: UCB1 takes turns while nothing is paid; in round 15 the best index is below its mean."""
    plays = [1, 1]
    for t in range(3, 15):
        index = [math.sqrt(2 * math.log(t) / n) for n in plays]
        plays[index.index(max(index))] += 1
    assert plays == [7, 7]
    assert round(math.sqrt(2 * math.log(15) / 7), 2) == 0.88 < 0.9
    for n in range(1, 8):  # in each of these rounds the event allows a mean of 0
        assert math.sqrt(2 * math.log(10**6) / n) > 0.9
    assert round(math.sqrt(2 * math.log(10**6) / 7), 2) == 1.99


def test_two_games_in_which_nothing_is_paid_cost_a_third_of_the_rounds():
    """E-F2: the identity as merit, means theta and 2 theta against 2 theta and theta."""
    costs = []
    for percent in range(101):
        first = percent / 100
        costs.append(max(2 * abs(first - share) for share in (1 / 3, 2 / 3)))
    assert min(costs) == pytest.approx(1 / 3)


def test_no_merit_gives_the_chance_of_the_larger_coin():
    """E-F17: what the ratio of two merits would have to be."""

    def larger(x: float, y: float) -> float:
        return x * (1 - y) + (x * y + (1 - x) * (1 - y)) / 2

    assert larger(0.7, 0.4) == pytest.approx((1 + 0.7 - 0.4) / 2)
    ratios = [larger(x, y) / larger(y, x) for x, y in ((0.5, 0), (1, 0.5))]
    assert ratios == pytest.approx([3, 3])
    assert larger(0, 1) == 0


# ---------------------------------------------------------------------------------------------------------------------
# Bibliography

BIB = (ROOT / "chapters" / "references.bib").read_text(encoding="utf-8")
REFERENCES = {
    key: dict(re.findall(r"^ *(\w+) *= \{(.*)\},?$", entry, re.MULTILINE))
    for key, entry in re.findall(r"^@\w+\{(\w+),(.*?)^\}", BIB, re.MULTILINE | re.DOTALL)
}
SHAPES = {"doi": r"10\.\d{4,9}/\S+", "eprint": r"\d{4}\.\d{4,5}|[a-z-]+/\d{7}", "url": r"https?://\S+"}


@pytest.mark.parametrize("key", REFERENCES)
def test_work_has_an_address(key):
    fields = REFERENCES[key]
    given = {name: fields[name] for name in SHAPES if name in fields}
    assert {"title", "year"} <= set(fields)
    assert given, f"{key} has neither a DOI nor an address"
    for name, address in given.items():
        assert re.fullmatch(SHAPES[name], address), f"{key}: {name} = {address}"


def test_every_work_is_cited_and_every_citation_is_a_work():
    cited = {
        key.strip()
        for text in CHAPTERS.values()
        for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", text)
        for key in keys.split(",")
    }
    assert cited - set(REFERENCES) == set()
    assert set(REFERENCES) - cited == set()


# ---------------------------------------------------------------------------------------------------------------------
# Exercises

SET = {
    page: re.findall(r"^`{3,}\{exercise\} (.+)\n:label: (\S+)$", text, re.MULTILINE) for page, text in CHAPTERS.items()
}


@pytest.mark.parametrize("page", [page for page, exercises in SET.items() if exercises])
def test_a_chapter_has_ten_exercises_and_their_solutions(page):
    found = [re.search(r" \((hand|proof|program|open)( ★{1,3})?\)$", title) for title, _ in SET[page]]
    kinds = [match[1] for match in found if match]
    assert len(kinds) == (5 if page == "own" else 10)
    assert kinds.count("proof") >= (2 if page == "own" else 3)
    solved = re.findall(r"^`{3,}\{solution(?:-start)?\} (\S+)$", CHAPTERS[page], re.MULTILINE)
    labels = [label for _, label in SET[page]]
    assert len(set(solved)) == len(solved)
    assert set(solved) <= set(labels)
    assert [label for label in labels if label not in solved] == []


def test_the_book_has_more_than_a_hundred_and_twenty_solved_exercises():
    solved = sum(len(re.findall(r"\{solution(?:-start)?\}", text)) for text in CHAPTERS.values())
    assert solved >= 120


# ---------------------------------------------------------------------------------------------------------------------
# What figures were run on

# The words by which a page says that something was run on other data than the paper's.
SAID = ("stand-in", "on other data", "use other data than the paper's", "a **law fitted by us**")
RUN_ON = ("the paper's data", "simulated as in the paper", "a stand-in")


def items() -> list[dict[str, str]]:
    with (ROOT / "chapters" / "items.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, restval=""))


def section(label: str) -> str:
    """Return the section of a chapter, between two headings of any level, that has a label."""
    (text,) = (text for text in CHAPTERS.values() if f"\n({label})=\n" in text)
    code = re.sub(r"^```.*?^```$", lambda cell: cell[0].replace("\n#", "\n "), text, flags=re.MULTILINE | re.DOTALL)
    at = code.index(f"\n({label})=\n")
    labelled = re.compile(r"(\n\([a-z0-9-]+\)=)*\n+#").match(code, at)
    headings = [m.start() for m in re.finditer(r"^#+ ", code, re.MULTILINE)]
    begin = max((h for h in headings if h < (labelled.end() if labelled else at)), default=0)
    end = min((h for h in headings if h > begin), default=len(code))
    return text[min(begin, at) : end]


def test_figures_and_experiments_say_what_they_were_run_on_and_nothing_else_does():
    for item in items():
        run = item["kind"] in ("figure", "experiment")
        assert (item["data"] in (*RUN_ON, "code only", "a drawing")) if run else item["data"] == "", item["id"]


@pytest.mark.parametrize("item", [item for item in items() if item["data"]], ids=lambda item: item["id"])
def test_what_a_figure_was_run_on_is_what_its_page_does(item):
    cells = [name.strip().split("::") for name in item["test"].split(";") if name.strip().startswith("chapters/")]
    sources = {}
    for path, name in cells:
        page = CHAPTERS[Path(path).stem]
        blocks = re.findall(r"^```\{code-cell\}.*?^```$", page, re.MULTILINE | re.DOTALL)
        sources[name] = next(block for block in blocks if re.search(rf"^\s*:?name: {name}$", block, re.MULTILINE))
    here = section(item["id"])
    if item["data"] in RUN_ON:
        assert "```{code-cell}" in here, "nothing is run there"
    else:
        assert not cells, "a chapter runs it"
    if item["data"] == "a stand-in":
        assert any(word in here.lower() for word in SAID), "the page does not say so"
    else:
        assert not any("stand-in" in name + source for name, source in sources.items()), "a cell runs a stand-in"
    if item["data"] == "the paper's data":
        assert "data.yeast()" in CHAPTERS[Path(cells[0][0]).stem], "no data are read"
