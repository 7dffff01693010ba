"""The reference part: answers, cards, slides, maps, figures, data and what is taught agree with the chapters."""

import math
import re
from fractions import Fraction
from pathlib import Path

import answers
import execution
import flashcards
import pytest
import results
import slides
from axe_core_python.selenium import Axe
from bs4 import BeautifulSoup
from helpers import sphinx
from pages.browsing import read_slides
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).parents[1]
SCRIPTS = {
    "answers.js": ROOT / "chapters" / "assets",
    "cards.js": flashcards.STATIC,
    "slides.js": slides.ASSETS,
    "slides.css": slides.ASSETS,
}
CHAPTERS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "chapters").glob("*.md"))}


def findings(browser: webdriver.Chrome) -> list[str]:
    """Return what axe finds on the present page."""
    found = Axe().run(browser, options={"resultTypes": ["violations"]})["violations"]
    return [each["id"] for each in found]


# ---------------------------------------------------------------------------------------------------------------------
# Exercises that check themselves

ANSWERS = [
    (exercise, answer)
    for text in CHAPTERS.values()
    for exercise, lines in re.findall(
        r"^`{3,}\{exercise\}.*\n:label: ([\w-]+)\n(?:(?!```).*\n)*?:::\{answers\}\n((?:.*\n)*?):::$", text, re.MULTILINE
    )
    for answer in answers.read(lines.splitlines())
]


def solution(exercise: str) -> tuple[str, str]:
    """Return the words of a solution, and what its cells print."""
    ((page, text),) = [(page, text) for page, text in CHAPTERS.items() if f"\n:label: {exercise}\n" in text]
    gated = re.search(rf"\{{solution-start\}} {exercise}\n.*?\{{solution-end\}}", text, re.DOTALL)
    found = gated or re.search(rf"^(`{{3,}})\{{solution\}} {exercise}\n.*?^\1$", text, re.MULTILINE | re.DOTALL)
    assert found, f"{exercise} has no solution"
    executed = execution.code_cells(ROOT / "chapters" / f"{page}.md")
    if "{code-cell}" in text and not executed:
        pytest.skip("what cells print is known when the book is built: make book")
    outputs = [each for cell in executed if cell.source in found[0] for each in cell.outputs]
    printed = "\n".join(each.get("text") or each.get("data", {}).get("text/plain", "") for each in outputs)
    return re.sub(r"^```\{code-cell\}.*?^```$", "", found[0], flags=re.MULTILINE | re.DOTALL), printed


def numbers(text: str) -> list[float]:
    r"""Return the numbers of a text, fractions among them.

    >>> numbers(r"$\frac58$, \frac{1}{10}, 10{,}200 and 1,424 at -0.5")
    [0.625, 0.1, 10200.0, 1424.0, -0.5]
    """
    text = text.replace("{,}", "").replace("\u2212", "-")
    text = re.sub(r"\\frac(\d)(\d+)", r"\1/\2", text)
    text = re.sub(r"\\frac\{?(\d+)\}?\{(\d+)\}", r"\1/\2", text)
    found = re.findall(r"-?\d{1,3}(?:,\d{3})+(?![\d,])|-?\d+/\d+|-?\d*\.?\d+", text)
    return [float(Fraction(each.replace(",", ""))) for each in found]


def test_every_answer_is_found():
    blocks = re.findall(r"^:::\{answers\}\n(.*?)^:::$", "\n".join(CHAPTERS.values()), re.MULTILINE | re.DOTALL)
    assert len(ANSWERS) == sum(block.count("\n") for block in blocks) > 50


@pytest.mark.parametrize(("exercise", "answer"), ANSWERS, ids=[f"{name}, {each.asked}" for name, each in ANSWERS])
def test_an_answer_is_that_of_the_solution(exercise, answer):
    words, printed = solution(exercise)
    if answer.worked:
        tools = {name: getattr(math, name) for name in dir(math)} | {"max": max, "sum": sum, "range": range}
        worked = eval(answer.worked, {"__builtins__": {}}, tools)
        assert abs(worked - answer.value) <= answer.within, f"worked out it is {worked}"
    said = numbers(words + printed) if answer.worked else numbers(printed)
    assert any(abs(each - answer.value) <= answer.within for each in said), "the solution has another"


def alone(folder: Path, body: str, script: str) -> str:
    """Write a page that has a script of the book and nothing else; return its address."""
    (folder / "page.html").write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Page</title><main><h1>Page</h1>{body}</main>'
        f"<script>{(SCRIPTS[script] / script).read_text(encoding='utf-8')}</script></html>",
        encoding="utf-8",
    )
    return (folder / "page.html").as_uri()


def test_a_place_says_whether_a_number_is_right(browser, tmp_path):
    form = answers.form(answers.read(["the share | 5/8 ± 0.002", "sales | 10200 ± 0.5"]))
    assert BeautifulSoup(form, "html.parser").select("template > form"), "without scripts nothing is shown"
    browser.get(alone(tmp_path, form, "answers.js"))
    first, second = WebDriverWait(browser, 5, 0.05).until(lambda browser: browser.find_elements(By.TAG_NAME, "input"))
    assert first.accessible_name.strip() == "The share"  # some builds of Chromium keep the space before the field
    said = browser.find_elements(By.TAG_NAME, "output")
    for place, answer, wanted in (
        (first, "5/8", "✓ Right"),
        (first, "0,625", "✓ Right"),
        (first, "62.5 %", "✓ Right"),
        (first, "0.623", "✓ Right"),
        (first, "0.62", "Not yet"),
        (first, "-5/8", "Not yet"),
        (first, "five", "Write a number, such as 0.25, 1/4 or 25 %."),
        (second, "10,200", "✓ Right"),
        (second, "10.2", "Not yet"),
    ):
        place.clear()
        place.send_keys(answer, Keys.ENTER)
        assert said[place is second].text == wanted, answer
    assert browser.current_url.endswith("page.html"), "the form was sent"
    assert not findings(browser)


# ---------------------------------------------------------------------------------------------------------------------
# Cards


def test_the_deck_is_what_a_program_reads_that_asks_for_cards():
    lines = flashcards.deck(ROOT).splitlines()
    assert lines[:3] == ["#separator:tab", "#html:true", "#tags column:3"]
    cards = [line.split("\t") for line in lines[3:]]
    assert len(cards) == sum(len(chapter.points) for chapter in flashcards.chapters(ROOT))
    for card in cards:
        assert len(card) == 3
        assert not re.search(r"\$|\{[\w:]+\}`|\*\w", card[0] + card[1]), "Markdown is left"
        assert card[1].count(r"\(") == card[1].count(r"\)")
        assert not BeautifulSoup(card[1], "html.parser").find_all(lambda node: node.name != "i")


def test_a_page_remembers_which_cards_are_known(browser, tmp_path):
    card = '<details class="fair-card" data-card="x-{0}"><summary>Question {0}?</summary><p>Answer.</p></details>'
    address = alone(tmp_path, '<p class="rubric">X</p>' + card.format(0) + card.format(1), "cards.js")

    def seen() -> tuple[str, list[bool]]:
        cards = browser.find_elements(By.TAG_NAME, "details")
        return browser.find_element(By.TAG_NAME, "output").text, [each.is_displayed() for each in cards]

    browser.get(address)
    known = ("1 of 2 known", [True, True])

    def remembered(_: object) -> bool:
        assert seen() == ("0 of 2 known", [True, True])
        browser.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
        browser.find_element(By.TAG_NAME, "input").send_keys(Keys.SPACE)
        WebDriverWait(browser, 10).until(lambda _: seen() == known)  # a press takes effect a moment later
        browser.refresh()
        return seen() == known

    # Once in hundreds of times Chromium forgets what was stored just before a reload: then the card is told again.
    WebDriverWait(browser, 30).until(remembered)
    browser.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    WebDriverWait(browser, 10).until(lambda _: seen() == ("1 of 2 known", [False, True]))
    assert not findings(browser)


# ---------------------------------------------------------------------------------------------------------------------
# Slides

CHAPTER = """<article><section><h1>1. A chapter<a class="headerlink" href="#x">#</a></h1>
<div class="note admonition"><p class="admonition-title">In this chapter</p><p><strong>You will</strong> learn.
<strong>The code</strong> is not on a slide.</p></div>
<section id="first"><h2>First</h2><p>Text that is not on a slide.</p>
<p class="on-slide">With</p><div class="math">a formula</div><p>this is small. And this is not on a slide.</p>
<div class="proof theorem admonition" id="thm"><p class="admonition-title">Theorem 1</p><section><p>It
<a href="other.html">holds</a>.</p></section></div>
<div class="proof admonition"><p class="on-slide">Proof. An idea.</p><p><em>Step 1: begin.</em> Not on a slide.</p>
<p class="on-slide"><em>Step 2: go on,</em> in full:</p><div class="math">so</div><p>Not on a slide.</p>
<p><strong>Step 3: end.</strong> Not on a slide.</p></div>
<div class="proof admonition"><p>Proof. <em>1.</em> WORDS</p><p><em>2.</em> Not on a slide.</p></div>
<div class="proof admonition"><p>Proof. A short one, with</p><div class="math">so</div><p>in it.</p></div>
<section id="within"><h3>Within</h3>
<p class="on-slide">Some code:</p><div class="cell docutils"><div class="cell_input"><pre>x &lt; 1</pre></div></div>
<figure><img src="data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 width=%22600%22
height=%22100%22/%3E" alt="A picture"><figcaption><span class="caption-text">A caption</span></figcaption></figure>
</section></section>
<section id="bare"><h2>Bare</h2><p>Text.</p></section>
<section id="marks"><h2>Marks</h2><p class="on-slide">Once</p><div class="math on-slide">a formula</div>
<p class="on-slide">and no more. Here.</p></section>
<section id="long"><h2>Long</h2><div class="proof lemma admonition"><p class="admonition-title">Lemma 2</p><section><ol>
LINES</ol></section></div></section>
<section id="remember"><h2>Remember</h2><ul><li>One.</li><li>Two.</li></ul></section>
<section id="more"><h2>Appendix: more</h2><p class="on-slide">Not on a slide.</p></section>
<section id="notes"><h2>Notes</h2></section><section id="exercises"><h2>Exercises</h2><img src="x" alt="x"></section>
</section></article>""".replace("LINES", "<li>A line.</li>" * 20).replace("WORDS", "Not on a slide. " * 20)


@pytest.fixture
def deck(tmp_path) -> Path:
    """Write the slides of a small chapter."""
    page = tmp_path / "chapters" / "small.html"
    style = tmp_path / "_static" / "mathjax" / "mathjax.css"
    for path, text in ((page, CHAPTER), (style, '@font-face { font-family: MJXTEX-B; src: url("./B.woff"); }')):
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "slides").mkdir()
    made: Path = tmp_path / slides.file("small")
    made.write_text(slides.deck(slides.slides(page), page, "A chapter", "small"), encoding="utf-8")
    return made


def test_what_is_chosen_shares_slides_where_it_is_small_and_is_divided_where_it_is_long(deck, browser):
    crowded = read_slides(browser, deck.as_uri())
    assert not crowded
    parts = browser.find_elements(By.TAG_NAME, "section")
    found = [" ".join(str(slide.get_attribute("textContent")).split()) for slide in parts]
    (long, rest), others = found[4:6], found[:4] + found[6:]
    assert others == [
        "Fair bandits1. A chapterYou will learn.The chapter: A chapter",
        "FirstWitha formulathis is small.Theorem 1It holds."
        "Proof of Theorem 1An idea.Begin. Step 2: go on, in full:soEnd.",
        "FirstProof of Theorem 1A short one, withsoin it.WithinSome code:x < 1A caption",
        "MarksOncea formulaand no more. Here.",
        "RememberOne.Two.",
    ]
    assert long.startswith("LongLemma 2 A line.")
    assert rest.startswith("LongLemma 2 (continued)")
    assert long.count("line") + rest.count("line") == 20
    starts = "return [...document.querySelectorAll('ol')].slice(-2).map((list) => [list.start, list.children.length])"
    (first, lines), (second, rest) = browser.execute_script(starts)
    assert (first, second) == (1, 1 + lines)
    assert lines + rest == 20


def test_keys_go_from_slide_to_slide(deck, browser):
    read_slides(browser, deck.as_uri())
    body = browser.find_element(By.TAG_NAME, "body")

    def now() -> tuple[list[int], str]:
        shown = [i for i, each in enumerate(browser.find_elements(By.TAG_NAME, "section"), 1) if each.is_displayed()]
        return shown, browser.find_element(By.TAG_NAME, "output").text

    assert now() == ([1], "1 / 7")
    for key, at in ((Keys.ARROW_RIGHT, 2), (Keys.SPACE, 3), (Keys.ARROW_LEFT, 2), (Keys.END, 7), (Keys.ARROW_RIGHT, 7)):
        body.send_keys(key)
        assert now() == ([at], f"{at} / 7")
    browser.find_element(By.CSS_SELECTOR, "footer button").click()
    assert now()[0] == [6]
    assert browser.current_url.endswith("#6")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert len([each for each in browser.find_elements(By.TAG_NAME, "section") if each.is_displayed()]) == 7
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert set(findings(browser)) <= {"page-has-heading-one"}  # the first slide alone has one


# ---------------------------------------------------------------------------------------------------------------------
# The maps

DRAFT = """# A chapter

(item-1)=
```{prf:lemma} Small
:label: lem-small
$$
x = x
$$ (eq-small)
```

```{prf:theorem} Large
:label: thm-large
Text.
```

```{prf:lemma} Between
:label: lem-between
Text.
```

```{prf:proof}
By {eq}`eq-small`.
```

```{prf:proof}
*Of {prf:ref}`thm-large`.* By {prf:ref}`lem-between`.
```

```{proofs} draft
```
"""


MAPS = "extensions, myst_enable_extensions = ['myst_parser', 'sphinx_proof', 'proof_graph'], ['dollarmath']\n"
MAPS += "numfig, math_numfig = True, True\n"


def test_a_map_says_what_proofs_name_and_where_a_result_is_used(tmp_path):
    page, warned = sphinx(tmp_path, {"chapters/draft": DRAFT}, MAPS)
    assert not warned
    assert [" ".join(line.get_text().split()) for line in page.select("details li")] == [
        "Lemma 1, Small. It is used for Lemma 2.",
        "Theorem 1, Large. Its proof uses Lemma 2.",
        "Lemma 2, Between. Its proof uses Lemma 1. It is used for Theorem 1.",
    ]
    assert [link["href"] for link in page.select("details li:first-child a")] == ["#lem-small", "#lem-between"]


def test_proofs_in_a_circle_are_a_warning(tmp_path):
    circle = DRAFT.replace("By {eq}`eq-small`.", "By {prf:ref}`thm-large`.")
    said = "proofs in a circle: thm-large, lem-between, thm-large"
    assert said in sphinx(tmp_path, {"chapters/draft": circle}, MAPS)[1]


OURS = [item["id"] for item in results.read_items(ROOT) if item["kind"] == "statement"]


@pytest.mark.parametrize("label", OURS)
def test_our_own_statements_are_there_once(label):
    assert sum(f"\n:label: {label}\n" in text for text in CHAPTERS.values()) == 1
