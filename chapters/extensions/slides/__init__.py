"""A deck of slides of each chapter: statements, pictures, marked text, plans of proofs, and its *Remember*.

sphinx-revealjs would need sources of its own for each deck. A deck is one file that needs no other,
``slides/CHAPTER.html``, made of the built page: pictures are in it, and so are the fonts of its formulas. Of an
explorer there is the picture that it begins with.

Text is on a slide if the line above it is ``<!-- slide -->``. The mark counts for one paragraph, formula, list or
table. A paragraph brings the formulas directly below it, and then the rest of a sentence that goes on below them; a
paragraph that ends in a colon brings the code below it. A proof whose paragraphs begin with the names of its steps, in
italics or bold, has a slide with these names, and a marked step is there in full. A short proof without steps or marks
is there as it is. Appendices are for reading. What is small shares a slide with its neighbours of the same section: the
script does that, which can measure, and it makes smaller or divides what is too large.
"""

import base64
import re
from html import escape
from pathlib import Path
from typing import Any

import mathjax_build
import printing
from bs4 import BeautifulSoup, Tag
from bs4.element import AttributeValueList, NavigableString
from docutils import nodes
from previews import read
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

LEFT_OUT = re.compile(r"Notes$|Exercises$|Appendix\b")
SHORT = 70  # words and formulas, of a proof that is its own plan
FORMULA = re.compile(r"\\\(.*?\\\)|\\\[.*?\\\]", re.DOTALL)
STATEMENTS = ["definition", "theorem", "lemma", "proposition", "corollary", "observation", "assumption", "algorithm"]
PROOF = 'div[class="proof admonition"]'
MARK = re.compile(r"\s*<!--\s*slide\s*-->\s*")
MARKED = (nodes.paragraph, nodes.math_block, nodes.bullet_list, nodes.enumerated_list, nodes.table)
UNWANTED = "script, style, button, .headerlink, [role=status]"
ASSETS = Path(__file__).parent


class Marks(SphinxTransform):
    """Take the marks out of a page, and give what they stand above a class.

    A mark left in the page would take the label of what it stands above.
    """

    default_priority = 200  # before labels go to what they stand above

    def apply(self, **kwargs: Any) -> None:
        """Go through the marks of a page."""
        for mark in [node for node in self.document.findall(nodes.raw) if MARK.fullmatch(node.astext())]:
            # On the first line of a proof it is in the paragraph that begins with "Proof."
            inline = isinstance(mark.parent, nodes.paragraph)
            below = mark.parent if inline else mark.next_node(descend=False, siblings=True)
            while isinstance(below, nodes.target):
                below = below.next_node(descend=False, siblings=True)
            if isinstance(below, MARKED):
                below["classes"].append("on-slide")
            else:
                logging.getLogger(__name__).warning(
                    "the mark of a slide is not above a paragraph, formula, list or table", location=mark
                )
            mark.parent.remove(mark)


def file(name: str) -> str:
    """Return where the deck of a chapter is, in the folder of the book."""
    return f"slides/{name}.html"


def plain(part: Tag) -> str:
    """Return a part of a page without what only the page can do."""
    copy = BeautifulSoup(str(part), "html.parser")
    for node in copy.select(UNWANTED):
        node.decompose()
    for link in copy.select("a"):
        link.unwrap()
    for node in copy.find_all(True):
        for name in ("id", "tabindex"):
            del node[name]
    return str(copy)


def fonts(text: str, folder: Path) -> str:
    """Return the style of formulas, with the fonts of those in a text and no others."""
    used = {"MJXZERO", "MJXTEX", *(f"MJX{name}" for name in re.findall(r"\bTEX-\w+", text))}

    def face(found: re.Match[str]) -> str:
        family = re.search(r"font-family: ([\w-]+)", found[0])
        if family is None or family[1] not in used:
            return ""

        def inline(source: re.Match[str]) -> str:
            data = base64.b64encode((folder / source[1]).read_bytes()).decode()
            return f'url("data:font/woff;base64,{data}")'

        return re.sub(r'url\("\./([^"]+)"\)', inline, found[0])

    style = (folder / "mathjax.css").read_text(encoding="utf-8")
    return re.sub(r"@font-face[^{]*\{[^}]*\}", face, style)


def picture(image: Tag, page: Path) -> str:
    """Return a picture that needs no file, with what its caption says."""
    source = str(image["src"])
    if not source.startswith("data:"):
        kind, data = printing.picture((page.parent / source).resolve().as_uri())
        kind = {"svg": "svg+xml"}.get(kind, kind)
        source = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    frame = image.find_parent("figure")
    said = frame.select_one(".caption-text") if frame else None
    words = inside(plain(said)) if said else setting(image)
    caption = f"<figcaption>{words}</figcaption>" if words else ""
    alt = escape(str(image.get("alt", "")))
    return f'<figure><img src="{source}" alt="{alt}">{caption}</figure>'


def setting(image: Tag) -> str:
    """Return where the sliders of an explorer stand, or nothing for another picture."""
    explorer = image.find_parent("div", class_="fair-explorer")
    sliders = explorer.select(".slider") if explorer else []
    named = [(each.select_one("label span"), each.select_one("output, [selected]")) for each in sliders]
    return "; ".join(f"{name.get_text()}: {at.get_text()}" for name, at in named if name and at and at.get_text())


def inside(html: str) -> str:
    """Return HTML without its outermost element."""
    return html.partition(">")[2].rpartition("<")[0]


def box(title: str, content: str, kind: str = "box") -> str:
    """Return what stands in a frame under a title."""
    return f'<div class="{kind}"><div class="title">{title}</div>{content}</div>'


def statement(node: Tag) -> str:
    """Return a statement with its title."""
    title, content = node.select_one(".admonition-title"), node.select_one("section")
    assert title
    assert content
    return box(inside(plain(title)), inside(plain(content)))


def first_sentence(paragraph: Tag) -> str:
    """Return a paragraph up to the end of its first sentence."""
    copy = BeautifulSoup(plain(paragraph), "html.parser")
    parts = list(copy.p.contents) if copy.p else []
    for i, part in enumerate(parts):
        end = re.search(r"(?<! al)[.?!](?=\s|$)", str(part)) if isinstance(part, NavigableString) else None
        if end:
            part.replace_with(str(part)[: end.end()])
            for rest in parts[i + 1 :]:
                rest.extract()
            break
    return str(copy)


def code(node: Tag | None) -> str:
    """Return the code of a cell or a block that shows it, or nothing for anything else."""
    classes = " ".join(node.get("class") or []) if node else ""
    text = node.select_one("div.cell_input pre, :scope > div.highlight > pre") if node else None
    if not text or "hide-input" in classes or not re.search(r"\bcell\b|\bhighlight-", classes):
        return ""
    return f"<pre>{escape(text.get_text().strip())}</pre>"


def unmark(node: Tag) -> None:
    """Take the mark off what the paragraph above it has brought."""
    node["class"] = AttributeValueList(name for name in node.get("class") or [] if name != "on-slide")


def marked(node: Tag) -> str:
    """Return what is marked: a paragraph with its formulas or code, and with the rest of a sentence below formulas."""
    found = [re.sub(r"^(<p[^>]*>)(?:Proof\.\s+)?(?:<em>Of .*?</em>\s*)?", r"\1", plain(node))]
    after = node.find_next_sibling(True)
    while node.name == "p" and isinstance(after, Tag) and "math" in (after.get("class") or []):
        found.append(plain(after))
        unmark(after)
        after = after.find_next_sibling(True)
    if not isinstance(after, Tag):
        return "".join(found)
    if "on-slide" in (after.get("class") or []):
        return "".join(found)
    if len(found) > 1 and after.name == "p" and after.get_text().lstrip()[:1].islower():
        found.append(first_sentence(after))
    elif node.get_text().rstrip().endswith(":"):
        found.append(code(after))
    return "".join(found)


def run_in(paragraph: Tag) -> tuple[str, bool]:
    """Return the name in italics or bold that a paragraph begins with, and whether it only says what is proved."""
    parts = [part for part in paragraph.contents if isinstance(part, Tag) or str(part).strip() not in ("", "Proof.")]
    names = []
    for part in parts[:2]:
        if not isinstance(part, Tag) or part.name not in ("em", "strong"):
            break
        names.append(part)
    of = bool(names) and names[0].get_text().startswith("Of ")
    named = names[1:] if of else names
    name = inside(plain(named[0])).strip() if named else ""
    name = re.sub(r"^(Step \d+|Claim)\s*[:.]\s*", "", name)
    if name.endswith(",") or not re.search(r"[A-Za-z]{2}", BeautifulSoup(name, "html.parser").get_text()):
        name = ""  # it goes on, or is a number
    name = name.rstrip(".:")
    return name[:1].upper() + name[1:], of


def proof(node: Tag, proved: str) -> str:
    """Return the plan of a proof and what is marked in it, or all of a short one, or else nothing."""
    before: list[str] = []
    steps: list[list[str]] = []
    names = []
    for part in node.find_all(True, recursive=False):
        name, of = run_in(part) if part.name == "p" else ("", False)
        link = part.find("a") if of else None
        if isinstance(link, Tag):
            proved = link.get_text()
        chosen = "on-slide" in (part.get("class") or [])
        if name:
            names.append(name)
            steps.append([marked(part)] if chosen else [f"<p>{name}.</p>"])
        elif chosen:
            (steps[-1] if steps else before).append(marked(part))
    if len(names) > 1:
        before.append(f"<ol>{''.join(f'<li>{chr(10).join(step)}</li>' for step in steps)}</ol>")
    else:
        before += [text for step in steps for text in step if text != f"<p>{names[0]}.</p>"]
    if not before and len(FORMULA.sub("x", node.get_text()).split()) <= SHORT:
        before.append(re.sub(r"^(<p[^>]*>)Proof\.\s+", r"\1", inside(plain(node)).strip()))
    title = f"Proof of {proved}" if proved else "Proof"
    return box(title, "".join(before), "box plan") if before else ""


def above(node: Tag) -> str:
    """Return the smaller heading that a part of a page stands under, if there is one."""
    for section in node.find_parents("section"):
        heading = section.find(["h2", "h3"], recursive=False)
        if isinstance(heading, Tag):
            return f"<h3>{inside(plain(heading))}</h3>" if heading.name == "h3" else ""
    return ""


def shown(part: Tag, page: Path) -> list[str]:
    """Return what a section has for slides, in the order of the page."""
    wanted = f"img, .on-slide, div.proof:is({', '.join(f'.{kind}' for kind in STATEMENTS)}), {PROOF}"
    found = []
    proved = ""
    for node in part.select(wanted):
        if node.find_parent("details") or node.find_parent("div", class_=["solution", "exercise"]):
            continue
        if node.name == "img":
            found.append(above(node) + picture(node, page))
            continue
        if node.find_parent("div", class_="proof") or not {"on-slide", "proof"} & set(node.get("class") or []):
            continue
        if "proof" not in (node.get("class") or []):
            made = marked(node)
        elif node.get("class") == ["proof", "admonition"]:
            made = proof(node, proved)
        else:
            made = statement(node)
            title = node.select_one(".admonition-title")
            proved = inside(plain(title)) if title else ""
        if made:
            found.append(above(node) + made)
    return found


def goals(whole: Tag) -> str:
    """Return what a chapter says of itself, in its first sentence or up to its code."""
    found = whole.select_one("h1 + p, div.admonition.note > p:not(.admonition-title)")
    if not found:
        return ""
    said = inside(plain(found)).partition("<strong>The code")[0]
    return f"<p>{said.strip()}</p>"


def slides(page: Path) -> list[tuple[str, str]]:
    """Return the heading and the content of each slide of a built page, before the small ones are joined."""
    article = read(page).find("article")
    assert isinstance(article, Tag)
    whole = article.find("section")
    assert isinstance(whole, Tag)
    heading = whole.find("h1")
    assert isinstance(heading, Tag)
    name = inside(plain(heading))
    found = [(name, goals(whole)), *((name, marked(node)) for node in whole.select(":scope > .on-slide"))]
    for part in whole.find_all("section", recursive=False):
        title = part.find("h2")
        head = inside(plain(title)) if isinstance(title, Tag) else ""
        if not head or LEFT_OUT.match(head):
            continue
        if part.get("id") == "remember":
            points = part.find("ul")
            assert isinstance(points, Tag)
            found.append((head, plain(points)))
            continue
        found += [(head, each) for each in shown(part, page)]
    return found


def deck(made: list[tuple[str, str]], page: Path, title: str, name: str) -> str:
    """Return the deck of a chapter, made of the headings and contents of its slides."""
    first, *others = made
    parts = [
        f'<section aria-label="Title"><p class="part">Fair bandits</p><h1>{first[0]}</h1>{first[1]}'
        f'<p class="part">The chapter: <a href="../chapters/{name}.html">{escape(title)}</a></p></section>'
    ]
    parts += [f'<section><h2>{head}</h2><div class="content">{content}</div></section>' for head, content in others]
    css, script = ((ASSETS / f"slides.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    css += fonts("".join(parts), page.parents[1] / "_static" / "mathjax")
    icon = base64.b64encode((ASSETS.parents[1] / "assets" / "favicon.svg").read_bytes()).decode()
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:image/svg+xml;base64,{icon}">'
        f"<title>{escape(title)}: slides</title><style>{css}</style></head><body><main>{''.join(parts)}</main>"
        '<footer hidden><output></output><button type="button" aria-label="Back">←</button>'
        f'<button type="button" aria-label="On">→</button></footer><script>{script}</script></body></html>\n'
    )


def decks(root: Path) -> list[tuple[str, str]]:
    """Return the name and the title of each page that has a deck: of those with a *Remember* or a mark.

    >>> decks(Path(__file__).parents[3])[0]
    ('bandits', 'Bandits in one sitting')
    """
    found = []
    for name in re.findall(r"file: chapters/(\S+)", (root / "_toc.yml").read_text(encoding="utf-8")):
        text = (root / "chapters" / f"{name}.md").read_text(encoding="utf-8")
        title = re.search(r"^# (.*)$", text, re.MULTILINE)
        if title and re.search(r"^(## Remember|<!-- slide -->)$", text, re.MULTILINE):
            found.append((name, title[1]))
    return found


def offer(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Add the slides to the menu of downloads."""
    known = {f"chapters/{name}": name for name, _ in decks(Path(app.srcdir))}
    for group in context.get("header_buttons", []):
        if group["label"] == "download-buttons" and page in known:
            button = {
                "type": "link",
                "url": context["pathto"](file(known[page]), 1),
                "text": "Slides",
                "tooltip": "Slides of this chapter, in one file",
                "icon": "fas fa-display",
                "label": "slides-button",
            }
            group["buttons"].append(button)


class Decks(SphinxDirective):
    """List the decks of all chapters."""

    def run(self) -> list[nodes.Node]:
        """Make a link a deck."""
        self.env.note_reread()  # marks come and go while this page's own text stays
        entries = "".join(
            f'<li><a href="../{file(name)}">{escape(title)}</a></li>' for name, title in decks(Path(self.env.srcdir))
        )
        return [nodes.raw("", f"<ul>{entries}</ul>\n", format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    found: dict[Path, list[tuple[str, str]]] = {}

    def take(app: Sphinx, error: Exception | None) -> None:
        if not error and app.builder.name == "html":
            pages = (Path(app.outdir) / "chapters" / f"{name}.html" for name, _ in decks(Path(app.srcdir)))
            found.update({page: slides(page) for page in pages})

    def write(app: Sphinx, error: Exception | None) -> None:
        out = Path(app.outdir)
        for name, title in decks(Path(app.srcdir)) if found else []:
            page = out / "chapters" / f"{name}.html"
            made = [(mathjax_build.in_place(head), mathjax_build.in_place(text)) for head, text in found[page]]
            (out / "slides").mkdir(exist_ok=True)
            (out / file(name)).write_text(deck(made, page, title, name), encoding="utf-8")

    app.add_transform(Marks)
    app.add_directive("decks", Decks)
    app.connect("html-page-context", offer, priority=600)  # after the theme has made its menu
    app.connect("build-finished", take, priority=300)  # before the formulas are set, as pages are long then,
    app.connect("build-finished", write, priority=450)  # and after
    return {"parallel_read_safe": True, "parallel_write_safe": True}
