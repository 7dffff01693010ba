"""Make one document of the built pages: a PDF that is printed by a browser, and an EPUB.

Run by `make print`, after `make book`. Solutions stand at the end, and of an explorer there is its picture. Sphinx's
builders for LaTeX and EPUB would need a TeX system, and show neither explorers nor the formulas as MathJax sets them.
"""

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
UNWANTED = (
    "script, style, button, input, form.filters, .headerlink, .controls, details.code, .fair-answers, "
    ".toctree-wrapper, [role=status]"
)
LEFT_OUT = {f"chapters/{page}" for page in ("api", "cards", "teaching")}  # for a screen

PAPER = """
@page { size: A4; margin: 24mm 26mm 22mm; @bottom-center { content: counter(page); font: 9pt sans-serif; } }
.bd-main .bd-article h1 { display: block !important; }
@page front { margin-top: 70mm; @bottom-center { content: none; } }
html, body { background: white; }
.bd-content article.bd-article { padding: 0; font-size: 10.5pt; line-height: 1.45; }
.bd-main, .bd-main .bd-content { display: block !important; }
.bd-main .bd-content, .bd-main .bd-content article.bd-article { max-width: none; width: auto; }
.front { page: front; text-align: center; font-family: var(--pst-font-family-heading); }
.front .fair-cover { margin-bottom: 20mm; }
.part .fair-cover { display: none; }
.part { break-before: page; }
.with-numbers ul { padding: 0; list-style: none; }
.with-numbers a { display: flex; align-items: baseline; gap: .5em; text-decoration: none; }
.with-numbers a::before { content: ""; order: 1; flex: 1; border-bottom: 1px dotted; }
.with-numbers a span { order: 2; }
h1, h2, h3, .admonition-title { break-after: avoid; break-inside: avoid; }
.pst-scrollable-table-container { overflow: visible !important; }
.cell_output img, figure, tr, .cell_input { break-inside: avoid; }
.bd-content mjx-container[display="true"] { font-size: calc(.86ex / .442); }
.bd-article pre { font-size: 7.5pt !important; white-space: pre-wrap !important; }
a { color: inherit !important; }
.bd-content article.bd-article :is(table, figcaption) { font-size: 9pt; }
.bd-article :is(td, th) { padding: 2px 4px; overflow-wrap: anywhere; }
.bd-content article.bd-article :is(table.results, section[id$=notation] table) { font-size: 7.5pt; }
.bd-content article.bd-article table.fair-table { font-size: 7.5pt; }
.bd-content article.bd-article table.fair-table :is(td, th) { padding: 2px 4px; white-space: normal; }
.sd-btn { display: none !important; }
.address { font-size: 85%; text-align: center; overflow-wrap: anywhere; }
"""

XHTML = (
    '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" '
    'xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en">'
)
CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="book/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>
"""
PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">fair-bandits</dc:identifier>
<dc:title>{title}</dc:title><dc:creator>The fairlib authors</dc:creator><dc:language>en</dc:language>
<meta property="dcterms:modified">{modified}</meta></metadata><manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="css" href="book.css" media-type="text/css"/>
{items}</manifest><spine>{spine}</spine></package>
"""
READER = """
pre { white-space: pre-wrap; font-size: 70%; }
img, svg { max-width: 100%; }
.admonition { margin: 1em 0; padding-left: .8em; border-left: 3px solid #2a5db0; }
.admonition-title { font-weight: bold; }
.eqno { float: right; }
"""


def front_page(html: Path) -> BeautifulSoup:
    """Read the front page."""
    return BeautifulSoup((html / "chapters" / "index.html").read_text(encoding="utf-8"), "html.parser")


def pages(html: Path) -> list[str]:
    """Return the names of the pages in their order, the front page first."""
    links = [str(link["href"]) for link in front_page(html).select(".bd-links a.reference.internal")]
    names = ["chapters/" + urlsplit(link).path.removesuffix(".html") for link in links if not link.startswith("#")]
    return [name for name in ["chapters/index", *dict.fromkeys(names)] if name not in LEFT_OUT]


def name_in(page: str, anchor: str) -> str:
    """Return the name that a place of a page has in the one document."""
    return re.sub(r"[^\w-]", "-", f"{page.removeprefix('chapters/')}--{anchor}".removesuffix("--"))


def answers_last(article: Tag) -> None:
    """Move the answers to what a reader is to guess to the end of the chapter: on paper nothing is folded.

    >>> guess = "<p><strong>Look.</strong> How many?</p><details><summary>The answer</summary><p>Two.</p></details>"
    >>> chapter = BeautifulSoup(f"<article><div class='fair-guess'>{guess}</div>More.</article>", "html.parser").article
    >>> answers_last(chapter)
    >>> chapter.get_text("|")
    'Look.| How many?|The answer is at the end of the chapter.|More.|Answers|How many?| Two.'
    """
    guesses = [(guess.find("p"), guess.find("details")) for guess in article.select(".fair-guess")]
    if not guesses:
        return
    last = BeautifulSoup("<section><h2>Answers</h2></section>", "html.parser").section
    assert last
    for question, folded in guesses:
        assert question
        assert isinstance(folded, Tag)
        assert folded.p
        asked = "".join(str(part) for part in question.contents if getattr(part, "name", "") != "strong")
        both = f"<p><em>{asked.strip()}</em> {folded.p.decode_contents()}</p>"
        last.append(BeautifulSoup(both, "html.parser"))
        folded.replace_with(BeautifulSoup("<p>The answer is at the end of the chapter.</p>", "html.parser"))
    article.append(last)


def article(html: Path, page: str, known: list[str], address: str) -> Tag:
    """Return the article of a page, ready to stand in the one document.

    Parameters
    ----------
    html : Path
        Where the built book is.
    page : str
        The page's name.
    known : list of str
        The pages that are in the document.
    address : str
        Where the book is on the web, with a slash at its end; empty if nowhere.
    """
    found = BeautifulSoup((html / f"{page}.html").read_text(encoding="utf-8"), "html.parser").find("article")
    assert isinstance(found, Tag)
    for place in found.select(".fair-explorer .address span"):
        explorer = place.find_parent(class_="fair-explorer")
        assert explorer
        place.string = f"{address}{page if address else Path(page).name}.html#{explorer['id']}"
    answers_last(found)
    for part in found.select(UNWANTED):
        part.decompose()
    for formula in found.select("mjx-container[tabindex]"):
        del formula["tabindex"]
    for part in found.select("[id]"):
        part["id"] = name_in(page, str(part["id"]))
    found["id"] = name_in(page, "")
    for link in found.select("a[href]"):
        parts = urlsplit(str(link["href"]))
        if parts.scheme:
            continue
        target = str(Path(page).parent / parts.path).removesuffix(".html") if parts.path else page
        if target in known:
            link["href"] = "#" + name_in(target, parts.fragment)
        elif address:
            link["href"] = f"{address}{target}.html"
        else:
            link.unwrap()
    for image in found.select("img[src]"):
        del image["loading"]
        source = str(image["src"])
        if not source.startswith("data:"):
            image["src"] = (html / Path(page).parent / source).resolve().as_uri()
    return found


def collect(html: Path, address: str) -> list[tuple[str, str, Tag]]:
    """Return the name, the title and the article of each page, and last the solutions."""
    known = pages(html)
    found = []
    solutions = BeautifulSoup('<article class="bd-article" id="solutions"><h1>Solutions</h1></article>', "html.parser")
    end = solutions.article
    assert end
    for page in known:
        body = article(html, page, known, address)
        heading = body.find("h1")
        title = heading.get_text(" ", strip=True) if heading else page
        solved = [each.extract() for each in body.select(".solution")]
        if solved:
            above = solutions.new_tag("h2")
            above.string = title
            end.extend([above, *solved])
        found.append((name_in(page, ""), title, body))
    return [*found, ("solutions", "Solutions", end)]


def one_page(html: Path, parts: list[tuple[str, str, Tag]], numbers: dict[str, int]) -> str:
    """Return the document as a page that a browser prints: with running heads, in the book's own styles.

    The contents give the number of the page of each part, as far as it is known.
    """
    heads = "".join(
        f"@page {name} {{ @top-center {{ content: {quoted(title)}; font: 9pt sans-serif; }} }}"
        f" #{name} {{ page: {name}; }}"
        for name, title, _ in parts[1:]
    )
    contents = "".join(
        f'<li><a href="#{name}">{escape(title)}<span>{numbers.get(name, "")}</span></a></li>'
        for name, title, _ in parts[1:]
    )
    bodies = "".join(f'<div class="part">{body}</div>' for _, _, body in parts)
    title = parts[0][1]
    band = parts[0][2].select_one(".fair-cover")  # of the landing page: on paper it is on the cover alone
    cover = str(band) if band else ""
    sheets = [
        (html / "chapters" / urlsplit(str(link["href"])).path).resolve().as_uri()
        for link in front_page(html).select("link[rel=stylesheet]")
    ]
    styles = "".join(f'<link rel="stylesheet" href="{sheet}">' for sheet in sheets)
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"{styles}<style>{PAPER}{heads}</style></head><body><main class='bd-main'><div class='bd-content'>"
        f'<div class="front">{cover}<h1>{escape(title)}</h1><p>A textbook that runs</p><p>The fairlib authors</p></div>'
        f'<nav class="part with-numbers"><h1>Contents</h1><ul>{contents}</ul></nav>{bodies}</div></main></body></html>'
    )


def quoted(text: str) -> str:
    """Return a text as CSS has it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def print_pdf(page: Path, pdf: Path) -> None:
    """Let a browser print a page."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        sys.exit("The book is printed by Chromium or Google Chrome: install one of them.")
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-pdf-header-footer",
        "--generate-pdf-document-outline",
        f"--print-to-pdf={pdf}",
    ]
    subprocess.run([*command, page.as_uri()], check=True, capture_output=True, timeout=1800)


def page_numbers(pdf: Path) -> dict[str, int]:
    """Return the page of each place that is linked to in a printed document.

    A browser packs what is on the pages and nothing else, so their order and the places can be read.
    """
    plain = re.sub(rb"stream\r?\n.*?endstream", b"", pdf.read_bytes(), flags=re.DOTALL)
    pages = re.findall(rb"\n(\d+) 0 obj\s*<</Type /Page\b", plain)
    places = re.findall(rb"/([\w-]+) \[(\d+) 0 R /XYZ", plain)
    return {name.decode(): pages.index(page) + 1 for name, page in places}


def print_numbered(html: Path, parts: list[tuple[str, str, Tag]], page: Path, pdf: Path) -> None:
    """Print twice: where a part begins is known only when it has been printed."""
    numbers: dict[str, int] = {}
    for _ in range(2):
        page.write_text(one_page(html, parts, numbers), encoding="utf-8")
        print_pdf(page, pdf)
        before, numbers = numbers, page_numbers(pdf)
    missing = [name for name, _, _ in parts[1:] if name not in numbers]
    if missing or before != numbers:
        sys.exit(f"The contents of {pdf} have wrong numbers of pages, or none: {missing or 'they moved'}")


def files(parts: list[tuple[str, str, Tag]]) -> Iterator[tuple[str, bytes]]:
    """Return the files of an EPUB: a chapter a file, formulas as MathML, pictures as files."""
    at = {str(place["id"]): name for name, _, body in parts for place in [body, *body.select("[id]")]}
    pictures: dict[str, str] = {}
    for name, title, body in parts:
        for formula in body.select("mjx-container"):
            math = formula.find("math")
            if isinstance(math, Tag):
                if formula.get("display"):
                    math["display"] = "block"
                formula.replace_with(math)
        for link in body.select('a[href^="#"]'):
            target = str(link["href"])[1:]
            if target in at:
                link["href"] = f"{at[target]}.xhtml#{target}"
            else:
                link.unwrap()
        for image in body.select("img[src]"):
            kind, data = picture(str(image["src"]))
            file = f"{hashlib.sha256(data).hexdigest()[:16]}.{kind}"
            if file not in pictures:
                pictures[file] = kind
                yield f"book/{file}", re.sub(rb"<!DOCTYPE[^>]*>", b"", data)  # Matplotlib's, which EPUB forbids
            image["src"] = file
        yield (
            f"book/{name}.xhtml",
            f"{XHTML}<head><title>{escape(title)}</title><link rel='stylesheet' href='book.css'/></head>"
            f"<body>{body.decode(formatter='minimal')}</body></html>".encode(),
        )
    entries = "".join(f"<li><a href='{name}.xhtml'>{escape(title)}</a></li>" for name, title, _ in parts)
    nav = f"<nav epub:type='toc'><h1>Contents</h1><ol>{entries}</ol></nav>"
    yield "book/nav.xhtml", f"{XHTML}<head><title>Contents</title></head><body>{nav}</body></html>".encode()
    yield "book/book.css", READER.encode()
    yield "META-INF/container.xml", CONTAINER.encode()
    kinds = {"svg": "image/svg+xml", "png": "image/png"}
    items = ""
    for name, _, body in parts:
        has = " properties='mathml'" if body.find("math") else ""
        items += f"<item id='{name}' href='{name}.xhtml' media-type='application/xhtml+xml'{has}/>"
    items += "".join(
        f"<item id='p{file}' href='{file}' media-type='{kinds[kind]}'/>" for file, kind in pictures.items()
    )
    spine = "".join(f"<itemref idref='{name}'/>" for name, _, _ in parts)
    title = escape(parts[0][1])
    modified = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    yield "book/book.opf", PACKAGE.format(title=title, modified=modified, items=items, spine=spine).encode()


def picture(source: str) -> tuple[str, bytes]:
    """Return the kind of a picture and its bytes."""
    if source.startswith("data:"):
        head, _, data = source.partition(",")
        kind = head.removeprefix("data:image/").partition(";")[0].partition("+")[0]
        return kind, base64.b64decode(data) if head.endswith(";base64") else unquote(data).encode()
    path = Path(unquote(urlsplit(source).path))
    return path.suffix[1:], path.read_bytes()


def write_epub(epub: Path, parts: list[tuple[str, str, Tag]]) -> None:
    """Write an EPUB."""
    with zipfile.ZipFile(epub, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")  # first and as it is, or readers don't know it
        for name, data in files(parts):
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)


def main(html: Path, out: Path) -> None:
    """Make both."""
    out.mkdir(parents=True, exist_ok=True)
    front = front_page(html).select_one("link[rel=canonical]")  # there is one if the book has an address
    address = str(front["href"]).removesuffix("chapters/index.html") if front else ""
    parts = collect(html, address)
    print_numbered(html, parts, out / "book.html", out / "fair-bandits.pdf")
    write_epub(out / "fair-bandits.epub", parts)


if __name__ == "__main__":
    main(Path("_build/html").resolve(), Path("_build/print").resolve())
