"""The chapters as slides, and the book on paper and on a reader."""

import base64
import re
from pathlib import Path
from xml.etree import ElementTree

import flashcards
import printing
import pytest
import slides
from bs4 import BeautifulSoup, Tag
from selenium import webdriver

from pages.browsing import ROOT, errors, network, read_slides, visit

POINTS = {chapter.name: len(chapter.points) for chapter in flashcards.chapters(ROOT)}


@pytest.mark.parametrize("name", [name for name, _ in slides.decks(ROOT)])
def test_a_chapter_has_slides_that_need_nothing_else_and_fit(name: str, book: Path, browser: webdriver.Chrome) -> None:
    deck = book / slides.file(name)
    made = BeautifulSoup(deck.read_text(encoding="utf-8"), "html.parser")
    assert [link["href"] for link in made.select("a[href]")] == [f"../chapters/{name}.html"]
    assert all(str(link["href"]).startswith("data:image/svg+xml") for link in made.select("link"))
    assert all(str(image["src"]).startswith("data:image/") and image.get("alt") for image in made.select("img"))
    assert not [slide for slide in made.select("section:not(:first-child)") if not slide.select(".content > *")]
    if name in POINTS:
        assert len(made.select("section:last-child li")) == POINTS[name]
    assert not read_slides(browser, deck.as_uri(), "dark")
    asked, _ = network(browser)
    assert [url for url in asked if not url.startswith("data:")] == [deck.as_uri()]
    assert not errors(browser)
    page = BeautifulSoup((book / f"chapters/{name}.html").read_text(encoding="utf-8"), "html.parser")
    assert page.select(f'a[href="../{slides.file(name)}"]'), "no link in the menu"


def test_slides_on_paper_are_one_a_sheet(book: Path, browser: webdriver.Chrome) -> None:
    read_slides(browser, (book / slides.file("own")).as_uri())
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"])
    assert len(re.findall(rb"/Type /Page\b", pdf)) == len(browser.find_elements("css selector", "section"))


def test_the_contents_on_paper_say_on_which_page(book: Path, browser: webdriver.Chrome, tmp_path: Path) -> None:
    def part(name: str, pages: int) -> tuple[str, str, Tag]:
        text = "<p style='break-after: page'>.</p>" * (pages - 1) + f"<section id='{name}-'><h2>End</h2></section>"
        found = BeautifulSoup(f"<article id='{name}'><h1>{name}</h1>{text}</article>", "html.parser")
        return name, name, found.select("article")[0]

    page, pdf = tmp_path / "book.html", tmp_path / "book.pdf"
    printing.print_numbered(book, [part("front", 1), part("one", 3), part("one-more", 12), part("last", 1)], page, pdf)
    contents = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").select(".with-numbers > ol > li")
    # Before them are the cover, the contents and the front page.
    assert [entry.get_text(" ") for entry in contents] == ["one 4 End 6", "one-more 7 End 18", "last 19 End 19"]


def test_the_note_is_a_preprint_of_six_pages(book: Path, browser: webdriver.Chrome, tmp_path: Path) -> None:
    (tmp_path / "note.html").write_text(printing.note(book, ""), encoding="utf-8")
    printing.print_pdf(tmp_path / "note.html", tmp_path / "note.pdf")
    assert len(re.findall(rb"/Type /Page\b", (tmp_path / "note.pdf").read_bytes())) <= 6


Parts = list[tuple[str, str, Tag]]


@pytest.fixture(scope="session")
def on_paper(book: Path) -> tuple[Parts, str]:
    """Return the parts of the one document, and the page that is printed."""
    parts = printing.collect(book, "https://example.org/")
    return parts, printing.one_page(book, parts, {})


def test_nothing_is_wider_than_its_page_on_paper(
    on_paper: tuple[Parts, str], browser: webdriver.Chrome, tmp_path: Path
) -> None:
    """A browser shrinks a document that is wider than its page until it fits, all of it, and cuts the rest."""
    (tmp_path / "book.html").write_text(on_paper[1], encoding="utf-8")
    sheet = (printing.ASSETS / "paper.css").read_text(encoding="utf-8")
    margin = re.search(r"@page \{ size: A4; margin: \S+ (\d+)mm ", sheet)
    assert margin
    width = int((210 - 2 * int(margin[1])) / 25.4 * 96)
    visit(browser, (tmp_path / "book.html").as_uri(), width=width)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        widest, sizes, cut = browser.execute_script(
            """
            const parts = "p, li, dl, div, figure, img, svg, table, td, th, pre, mjx-math";
            const cut = [...document.querySelectorAll(`article :is(${parts})`)].filter((part) => {
              const { right } = part.getBoundingClientRect();
              if (right > innerWidth + 1) return true;
              if (part.localName === "pre" && part.scrollWidth > part.clientWidth + 1) return true;
              let box = part.parentElement;
              while (box !== document.body && getComputedStyle(box).overflowX === "visible") box = box.parentElement;
              return box !== document.body && right > box.getBoundingClientRect().right + 1;
            });
            const size = (part) => parseFloat(getComputedStyle(part).fontSize) * 72 / 96;
            return [
              document.documentElement.scrollWidth,
              [...document.querySelectorAll("article section > p")].map(size),
              cut.map((part) => [part.closest("article").id, part.outerHTML.slice(0, 200)]),
            ];
            """
        )
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert len(sizes) > 1000
    assert all(10 <= size <= 11 for size in sizes)
    assert widest <= width
    assert not cut


def test_the_arena_has_its_table_on_paper(on_paper: tuple[Parts, str]) -> None:
    (table,) = (table for _, _, body in on_paper[0] for table in body.select(".tag_on-paper table"))
    assert len(table.select("tbody tr")) > 40


def test_the_book_on_a_reader_is_well_formed(on_paper: tuple[Parts, str]) -> None:
    files = dict(printing.files(on_paper[0]))
    ids, links = set(), set()
    for name, data in files.items():
        if name.endswith((".xhtml", ".opf", ".xml", ".svg")):
            tree = ElementTree.fromstring(data)
            at = Path(name).name
            ids |= {f"{at}#{node.get('id')}" for node in tree.iter() if node.get("id")} | {at}
            if name.endswith(".xhtml"):
                links |= {str(node.get("href")) for node in tree.iter(f"{HTML}a")}
                assert not list(tree.iter(f"{HTML}mjx-container"))
    inside = {link for link in links if not link.startswith(("http", "mailto"))}
    assert len(inside) > 500
    assert inside <= ids
    contents = ElementTree.fromstring(files["book/nav.xhtml"])
    assert {"Bandits", "Reference"} < {entry.text for entry in contents.findall(f".//{HTML}li/{HTML}span")}
    assert contents.findall(f".//{HTML}ol//{HTML}ol//{HTML}ol//{HTML}a")
    assert not re.search(rb'class="[^"]*solution', files["book/shares.xhtml"])
    assert re.search(rb'class="[^"]*solution', files["book/solutions.xhtml"])
    listed = [item.attrib for item in ElementTree.fromstring(files["book/book.opf"]).iter() if "href" in item.attrib]
    assert {f"book/{item['href']}" for item in listed} == files.keys() - {"book/book.opf", "META-INF/container.xml"}


HTML = "{http://www.w3.org/1999/xhtml}"
