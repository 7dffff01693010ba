r"""Typeset formulas with MathJax when the book is built, so that a page shows them at once and without scripts.

Sphinx leaves TeX in a page, for MathJax to set while the reader waits. Here the same MathJax sets it in an engine of
its own, each formula once, when all pages are written. A formula that it can't read is a warning. ``book.js`` fills
``\class{fill-1}{...}`` with the value of the first slider of the explorer above it.
"""

import json
import re
import shutil
from collections.abc import Iterable
from html import unescape
from importlib.metadata import distribution
from pathlib import Path

from py_mini_racer import MiniRacer
from sphinx.application import Sphinx
from sphinx.ext.mathjax import html_visit_displaymath, html_visit_math
from sphinx.util import logging

LONG = 30  # signs of TeX; a longer formula in a line may go on in the next, after an operator
JOINED = re.compile(r'(<span class="math[^>]*>\\\([^<]*\\\)</span>)([.,;:?!)\u2019\u201d]+)')
FORMULA = re.compile(r"\\\((?P<inline>[^<]*)\\\)(?=</span>)|\\\[(?P<display>[^<]*)\\\](?=</div>)")
MATHJAX = Path(str(distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax")))
PARTS = ("input/tex", "input/tex/extensions/html", "output/chtml", "output/chtml/fonts/tex", "a11y/assistive-mml")

# What MathJax expects of Node: a way to load its parts.
HOST = """
globalThis.global = globalThis;
globalThis.exports = {};
globalThis.__dirname = "";
globalThis.require = (name) => (name === "path" ? { basename: () => "" } : (0, eval)(sources[name]));
"""
SET = """
exports.init({
  loader: { load: parts, paths: { mathjax: "" } },
  chtml: { fontURL: "." },
  tex: { packages: { "[+]": ["html"], "[-]": ["noundefined"] }, formatError: (input, error) => { throw error; } },
}).then((MathJax) => {
  const { adaptor } = MathJax.startup;
  const breakable = (formula) => {
    const math = adaptor.firstChild(formula);
    for (const part of adaptor.childNodes(math)) {
      const before = adaptor.previous(part);
      if (!before || adaptor.kind(before) !== "mjx-mo" || !adaptor.hasAttribute(part, "space")) continue;
      adaptor.insert(adaptor.node("mjx-break", {}, [adaptor.text("\u200b\u200b")]), part);
      adaptor.addClass(math, "breaks");
    }
  };
  const one = ([tex, display]) => {
    try {
      const formula = MathJax.tex2chtml(tex, { display });
      if (!display && tex.length > long) breakable(formula);
      return [adaptor.outerHTML(formula), ""];
    } catch (error) {
      return ["", error.message];
    }
  };
  globalThis.set = (formulas) => [formulas.map(one), adaptor.textContent(MathJax.chtmlStylesheet())];
});
"""


def typeset(formulas: Iterable[tuple[str, bool]]) -> tuple[dict[tuple[str, bool], tuple[str, str]], str]:
    r"""Return the HTML of each formula, or what is wrong with it, and the style that they share.

    >>> made, style = typeset([("x^2", False), (r"\frac", True)])
    >>> made["x^2", False][0][:14], made[r"\frac", True][1]
    ('<mjx-container', 'Missing argument for \\frac')
    """
    formulas = list(formulas)
    sources = {f"/{part}.js": (MATHJAX / f"{part}.js").read_text(encoding="utf-8") for part in PARTS}
    with MiniRacer() as engine:
        engine.eval(f"const sources = {json.dumps(sources)}, parts = {json.dumps(PARTS)}, long = {LONG}; {HOST}; 0")
        engine.eval((MATHJAX / "node-main.js").read_text(encoding="utf-8") + "; 0")
        engine.eval(SET + "; 0")
        made, style = json.loads(str(engine.eval(f"JSON.stringify(set({json.dumps(formulas)}))")))
    return dict(zip(formulas, map(tuple, made), strict=True)), style


def read(found: re.Match[str]) -> tuple[str, bool]:
    """Return the TeX of a formula in a page, and whether it is on a line of its own."""
    return unescape(found["inline"] or found["display"] or ""), found["display"] is not None


MADE: dict[tuple[str, bool], tuple[str, str]] = {}


def in_place(text: str) -> str:
    """Return HTML with its formulas set, which some page must have had, and joined with what follows without a space.

    A browser may break a line before and after each part of a formula, also before a comma.
    """
    text = JOINED.sub(r'<span class="joined">\1\2</span>', text)
    return FORMULA.sub(lambda found: MADE[read(found)][0], text)


def typeset_pages(app: Sphinx, error: Exception | None) -> None:
    """Set the formulas of every page; of pages from an earlier build, which are set, the style is kept."""
    if error or app.builder.format != "html":
        return
    pages = {page: page.read_text(encoding="utf-8") for page in Path(app.outdir).rglob("*.html")}
    wanted = {formula for text in pages.values() for formula in map(read, FORMULA.finditer(text))}
    made, style = typeset(sorted(wanted))
    MADE.update(made)
    for (tex, _), (_, wrong) in made.items():
        if wrong:
            logging.getLogger(__name__).warning("MathJax: %s in: %s", wrong, tex)
    for page, text in pages.items():
        page.write_text(in_place(text), encoding="utf-8")
    folder = Path(app.outdir) / "_static" / "mathjax"
    shutil.copytree(MATHJAX / "output" / "chtml" / "fonts" / "woff-v2", folder, dirs_exist_ok=True)
    css = folder / "mathjax.css"
    if css.exists():
        style += f"\n\n{css.read_text(encoding='utf-8')}"
    rules = dict.fromkeys(rule.strip() for rule in style.split("\n\n"))
    css.write_text("\n\n".join(rules), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_html_math_renderer("mathjax_build", (html_visit_math, None), (html_visit_displaymath, None))
    app.add_css_file("mathjax/mathjax.css")
    app.connect("build-finished", typeset_pages, priority=400)  # see previews.py
    return {"parallel_read_safe": True, "parallel_write_safe": True}
