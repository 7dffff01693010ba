"""Make one document of the built pages: a PDF that is printed by a browser, and an EPUB. The note is a PDF of its own.

Run by `make print`, after `make book`. Solutions stand at the end, and of an explorer there is its picture. Sphinx's
builders for LaTeX and EPUB would need a TeX system, and show neither explorers nor the formulas as MathJax sets them.
"""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, Tag

from fairlib import __version__

ASSETS = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
UNWANTED = (
    "script, style, button, input, form.filters, .headerlink, .controls, details.code, .fair-answers, "
    ".toctree-wrapper, [role=status]"
)
LEFT_OUT = {f"chapters/{page}" for page in ("api", "cards", "teaching")}  # for a screen
NOTE, WORKS = "chapters/note", "chapters/bibliography"
TODAY = datetime.now(UTC)
EDITION = f"Version {__version__}, {TODAY.day} {TODAY:%B %Y}"
XHTML = (
    '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" '
    'xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en">'
)


def front_page(html: Path) -> BeautifulSoup:
    """Read the front page."""
    return BeautifulSoup((html / "chapters" / "index.html").read_text(encoding="utf-8"), "html.parser")


def pages(html: Path) -> dict[str, str]:
    """Return the part of the book that each page is in, by the page's name, in their order, the front page first."""
    found, part = {"chapters/index": ""}, ""
    for entry in front_page(html).select(".bd-links .caption-text, .bd-links a.reference.internal"):
        link = urlsplit(str(entry.get("href", "")))
        if entry.name == "span":
            part = entry.get_text()
        elif link.path:
            found["chapters/" + link.path.removesuffix(".html")] = part
    return {page: part for page, part in found.items() if page not in LEFT_OUT}


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


def article(html: Path, page: str, known: Iterable[str], address: str) -> Tag:
    """Return the article of a page, ready to stand in the one document.

    Parameters
    ----------
    html : Path
        Where the built book is.
    page : str
        The page's name.
    known : iterable of str
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
    for page, part in known.items():
        body = article(html, page, known, address)
        body["data-part"] = part
        heading = body.find("h1")
        title = heading.get_text(" ", strip=True) if heading else page
        solved = [each.extract() for each in body.select(".solution")]
        if solved:
            above = f"<section id='solutions--{body['id']}'><h2>{escape(title)}</h2></section>"
            end.append(BeautifulSoup(above, "html.parser"))
            end.select("section")[-1].extend(solved)
        found.append((name_in(page, ""), title, body))
    return [*found, ("solutions", "Solutions", end)]


def contents(parts: list[tuple[str, str, Tag]], numbers: dict[str, int]) -> str:
    """Return the contents, as lists in lists: parts of the book, their chapters, and the sections of these.

    They give the number of the page of each entry, as far as it is known.

    >>> one = BeautifulSoup("<article><section id='s'><h2>Why?</h2></section></article>", "html.parser").article
    >>> contents([("a", "A", one)], {"s": 7})
    '<ol><li><a href="#a">A</a><ol><li><a href="#s">Why?<span>7</span></a></li></ol></li></ol>'
    """

    def entry(name: str, title: str) -> str:
        number = f"<span>{numbers[name]}</span>" if name in numbers else ""
        return f'<a href="#{name}">{title}{number}</a>'

    made, before = "", ""
    for name, title, body in parts:
        part = str(body.get("data-part", ""))
        if part != before:
            made += ("</ol></li>" if before else "") + (f"<li><span>{escape(part)}</span><ol>" if part else "")
        before = part
        sections = "".join(
            f"<li>{entry(str(above['id']), ''.join(map(str, heading.contents)))}</li>"
            for heading in body.select("section[id] > h2")
            if (above := heading.parent)
        )
        made += f"<li>{entry(name, escape(title))}{f'<ol>{sections}</ol>' if sections else ''}</li>"
    return f"<ol>{made}{'</ol></li>' if before else ''}</ol>"


def document(html: Path, title: str, style: str, body: str) -> str:
    """Return a page that a browser prints, in the book's own styles."""
    sheets = [
        (html / "chapters" / urlsplit(str(link["href"])).path).resolve().as_uri()
        for link in front_page(html).select("link[rel=stylesheet]")
    ]
    styles = "".join(f'<link rel="stylesheet" href="{sheet}">' for sheet in [*sheets, (ASSETS / "paper.css").as_uri()])
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"{styles}<style>{style}</style></head><body><main class='bd-main'><div class='bd-content'>{body}</div></main>"
        "</body></html>"
    )


def one_page(html: Path, parts: list[tuple[str, str, Tag]], numbers: dict[str, int]) -> str:
    """Return the document as a page that a browser prints: with running heads, and the numbers that are known."""
    heads = "".join(
        f"@page {name} {{ @top-center {{ content: {json.dumps(title, ensure_ascii=False)}; font: 9pt sans-serif; }} }}"
        f" #{name} {{ page: {name}; }}"
        for name, title, _ in parts[1:]
    )
    bodies = "".join(f'<div class="part">{body}</div>' for _, _, body in parts)
    title = parts[0][1]
    cover = parts[0][2].select_one(".fair-cover") or ""  # of the landing page: on paper it is on the cover alone
    return document(
        html,
        title,
        heads,
        f'<div class="front">{cover}<h1>{escape(title)}</h1><p>A textbook that runs</p><p>The fairlib authors</p>'
        f"<p>{EDITION}</p><p>Text and figures: CC BY 4.0. Code: BSD 3-Clause.</p></div>"
        f'<nav class="part with-numbers"><h1>Contents</h1>{contents(parts[1:], numbers)}</nav>{bodies}',
    )


def note(html: Path, address: str) -> str:
    """Return the note as a preprint: with a head, and the works that it cites at its end, by their numbers."""
    body, works = (article(html, page, [NOTE, WORKS], address) for page in (NOTE, WORKS))
    cited: dict[str, int] = {}
    for link in body.select(f'a[href^="#{name_in(WORKS, "")}-"]'):
        link.string = str(cited.setdefault(str(link["href"])[1:], len(cited) + 1))
    entries = "".join(f"<li id='{work}'>{works.select_one(f'#{work} p')}</li>" for work in cited)
    title, head = body.select("h1")[0], f"<p>The fairlib authors</p><p>{EDITION}. CC BY 4.0.</p>"
    title.insert_after(BeautifulSoup(f"<header>{head}</header>", "html.parser"))
    body.append(BeautifulSoup(f"<section><h2>References</h2><ol>{entries}</ol></section>", "html.parser"))
    return document(html, title.get_text(), "", f'<div class="preprint">{body}</div>')


def print_pdf(page: Path, pdf: Path) -> None:
    """Let a browser print a page."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        sys.exit("The book is printed by Chromium or Google Chrome: install one of them.")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    command += ["--generate-pdf-document-outline", f"--print-to-pdf={pdf}"]
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
    wanted = re.findall(r'href="#(.*?)"', contents(parts[1:], {}))
    numbers = dict.fromkeys(wanted, 100)  # as wide as most
    for _ in range(2):
        page.write_text(one_page(html, parts, numbers), encoding="utf-8")
        print_pdf(page, pdf)
        before, numbers = numbers, page_numbers(pdf)
    missing = [name for name in wanted if name not in numbers]
    if missing or before != numbers:
        sys.exit(f"The contents of {pdf} have wrong numbers of pages, or none: {missing or 'they moved'}")


def files(parts: list[tuple[str, str, Tag]]) -> Iterator[tuple[str, bytes]]:
    """Return the files of an EPUB: a chapter a file, formulas as MathML, pictures as files."""
    at = {str(place["id"]): name for name, _, body in parts for place in [body, *body.select("[id]")]}
    pictures: dict[str, str] = {}
    listed = BeautifulSoup(f"<nav epub:type='toc'><h1>Contents</h1>{contents(parts, {})}</nav>", "html.parser")
    for name, title, body in [("nav", "Contents", listed), *parts]:
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
    yield "book/cover.svg", cover(parts[0][1]).encode()
    yield "book/book.css", (ASSETS / "reader.css").read_bytes()
    yield "META-INF/container.xml", (ASSETS / "container.xml").read_bytes()
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
    package = (ASSETS / "package.opf").read_text(encoding="utf-8")
    yield (
        "book/book.opf",
        package.format(title=title, modified=f"{TODAY:%Y-%m-%dT%H:%M:%SZ}", items=items, spine=spine).encode(),
    )


def cover(title: str) -> str:
    """Return an upright cover: the title, below the band of the landing page."""
    band = (ASSETS.parents[1] / "assets" / "cover.svg").read_text(encoding="utf-8")
    frame = (ASSETS / "cover.svg").read_text(encoding="utf-8")
    return frame.format(title=escape(title), band=band[band.index("<svg") :])


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


def main(html: Path, out: Path, what: str = "book") -> None:
    """Make all, or only the note."""
    if what not in ("book", "note"):
        sys.exit(f"ONLY must be note, not {what}")
    out.mkdir(parents=True, exist_ok=True)
    front = front_page(html).select_one("link[rel=canonical]")  # there is one if the book has an address
    address = str(front["href"]).removesuffix("chapters/index.html") if front else ""
    (out / "note.html").write_text(note(html, address), encoding="utf-8")
    print_pdf(out / "note.html", out / "note.pdf")
    if what == "note":
        return
    parts = collect(html, address)
    print_numbered(html, parts, out / "book.html", out / "fair-bandits.pdf")
    write_epub(out / "fair-bandits.epub", parts)


if __name__ == "__main__":
    main(Path("_build/html").resolve(), Path("_build/print").resolve(), *sys.argv[1:])
