"""Make a notebook of each chapter: to be downloaded from its page, and for JupyterLab in the folder ``notebooks/``.

jupytext alone would leave roles and directives that only this book resolves. They are in words here: references,
captions, tables that the book makes, and the chapter's number. What a chapter says to readers of notebooks alone is in
``{only} notebooks``. The builder ``notebooks``, for `make lab`, needs no chapter to have been executed.
"""

import re
from html import unescape
from pathlib import Path

import jupytext
import nbformat
from execution import code_cells
from nbformat import NotebookNode
from results import destination
from sphinx.application import Sphinx
from sphinx.builders.dummy import DummyBuilder

from fairlib import __version__


def notebook(page: str) -> str:
    """Return where the notebook of a page is, in the folder of the book."""
    return f"_sources/{page}.ipynb"


FORMULA = re.compile(r"^( *)\$\$\n((?:.*\n)*?)\1\$\$(?: \(([\w-]+)\))?$", re.MULTILINE)
LABEL = re.compile(r"^:label: ([\w-]+)\n", re.MULTILINE)  # of a statement or an exercise
ROLE = re.compile(r"\{(?P<role>[\w:]+)\}`(?:(?P<words>[^`<]+)\s<)?(?P<label>[^`<>]+)>?`")


def above(app: Sphinx, page: str) -> tuple[int, ...]:
    """Return the number of a chapter, or nothing where it has none."""
    return app.env.toc_secnumbers.get(page, {}).get("") or ()


def figures(app: Sphinx, page: str, chapter: NotebookNode) -> dict[str, tuple[str, str]]:
    """Return the page and the name of each figure of a chapter, by its label; each is what a cell makes."""
    made = [figure["name"] for cell in chapter.cells if (figure := figure_of(cell))]
    return {
        label: (page, f"Fig. {'.'.join(map(str, [*above(app, page), i]))}") for i, label in enumerate(made, start=1)
    }


def figure_of(cell: NotebookNode) -> dict[str, str]:
    """Return what is said of the figure that a cell makes, if it makes one."""
    return dict(cell.metadata.get("mystnb", {}).get("figure", {}))


def named(app: Sphinx, role: str, label: str) -> tuple[str, str]:
    """Return the page that has a label, and the words of the label."""
    if role == "eq":
        page = app.env.get_domain("math").equations[label][0]  # type: ignore[attr-defined]
        numbers = app.env.toc_fignumbers[page]["displaymath"][f"equation-{label}"]
        return page, f"({'.'.join(map(str, numbers))})"
    page, _, name = destination(app, label)
    exercise = app.env.toc_fignumbers.get(page, {}).get("exercise", {}).get(label)
    return page, f"Exercise {'.'.join(map(str, exercise))}" if exercise else name


def cited(app: Sphinx, key: str, role: str) -> str:
    """Return a work by its authors and its year, as a link to the work."""
    entry = next(each.entry for each in app.env.get_domain("cite").citations if each.key == key)  # type: ignore[attr-defined]
    people = [[*who.rich_prelast_names, *who.rich_last_names] for who in entry.persons.get("author", [])]
    names = [" ".join(map(str, parts)) for parts in people] or [entry.fields["title"]]
    authors = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    year, fields = entry.fields["year"], entry.fields
    address = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("url", "")
    said = f"{authors}, {year}" if role == "cite:p" else f"{authors} ({year})"
    return f"[{said}]({address})" if address else said


KNOWN = "raw|only|grid|container|chapters|answers|solution-start|solution-end"
DIRECTIVE = re.compile(
    rf"(?m)^(?P<fence>`{{3,}}|:{{3,}})\{{(?P<name>{KNOWN})\}} *(?P<title>.*)\n(?P<content>(?:.*\n)*?)(?P=fence)$"
)
END = "`" * 9  # of a box: longer than the fences in it
GOES_ON = f"{END}{{admonition}} The solution goes on\n:class: dropdown\n\n"


def without_directives(app: Sphinx, text: str, within: bool, still: bool) -> str:
    """Return text with the content of directives that JupyterLab doesn't know, or without what is only for a page.

    There a box ends with its cell. So a solution has a box in each cell: `within` says that it goes on from the cell
    before, and `still` that it goes on in the next one.
    """

    def plain(found: re.Match[str]) -> str:
        name, content = found["name"], found["content"].strip()
        if name == "container" or (name, found["title"]) == ("only", Notebooks.name):
            return content
        if name == "solution-start":
            return f"{END}{{solution}} {found['title']}\n{content}\n\nThe folded cells below belong to it: open them."
        if name == "solution-end":
            return END
        if name == "chapters":
            return re.sub(r"^([\w-]+)", lambda each: chapter_link(app, each[0]), content, flags=re.MULTILINE)
        return ""

    text = DIRECTIVE.sub(plain, within * GOES_ON + text) + still * f"\n{END}"
    return text.replace(GOES_ON + END, "")


def chapter_link(app: Sphinx, name: str) -> str:
    """Return an item of a list: a chapter by its number and its title, as a link to its notebook."""
    page = f"chapters/{name}"
    number = "".join(f"{i}. " for i in above(app, page))
    return f"* [{number}{app.env.titles[page].astext()}]({name}.ipynb)"


def without_roles(app: Sphinx, page: str, text: str, figures: dict[str, tuple[str, str]]) -> str:
    """Return text whose references are links or words, and whose boxes and formulas have the numbers of the book.

    A displayed formula is an environment, as JupyterLab would number all others itself, from 1 on.
    """

    def plain(found: re.Match[str]) -> str:
        role, label, words = found["role"], found["label"], found["words"]
        if role.startswith("py:"):
            return f"`{words or label}`"
        if role.startswith("cite:"):
            works = "; ".join(cited(app, key.strip(), role) for key in label.split(","))
            return f"({works})" if role == "cite:p" else works
        target, name = figures.get(label) or named(app, role, label)
        name = words or name
        if target == page:
            return name if label in figures else f"[{name}](#{label})"
        return f"[{name}]({Path(target).name}.ipynb)" if "jupytext" in app.env.metadata[target] else name

    def formula(found: re.Match[str]) -> str:
        indent, tex, label = found.groups()
        begin, end = rf"{indent}\begin{{equation*}}", rf"{indent}\end{{equation*}}"
        if label:
            begin = f"{indent}({label})=\n{begin}"
            end = rf"{indent}\tag{{{named(app, 'eq', label)[1][1:-1]}}}" + f"\n{end}"
        return f"\n{begin}\n{tex}{end}\n"

    text = FORMULA.sub(formula, text)
    text = LABEL.sub(lambda found: f"{found[0]}:enumerator: {named(app, '', found[1])[1].rpartition(' ')[2]}\n", text)
    text = re.sub(r"^`{3,}\{prf:proof\}.*\n", r"\g<0>:enumerated: false\n", text, flags=re.MULTILINE)
    text = re.sub(r"^(`{3,}\{exercise\} .*) \((.*)\)$", r"\1 · \2", text, flags=re.MULTILINE)  # brackets come around it
    text = re.sub(r"\\class\{[\w-]+\}", "", text)
    # Of two labels one hides the other there.
    text = re.sub(r"^\([\w-]+\)=\n+(?=(\([\w-]+\)=\n+)*`{3,}\{prf:)", "", text, flags=re.MULTILINE)
    return ROLE.sub(plain, text)


def at_rest(output: NotebookNode) -> NotebookNode | None:
    """Return an output as it is before a kernel runs: of what a reader can move only the picture, if it has one.

    >>> moved = '<div><input type="range"><img alt="A line"></div>'
    >>> at_rest(nbformat.v4.new_output("display_data", {"text/html": moved, "image/png": "..."}))["data"]
    {'image/png': '...', 'text/plain': 'A line'}
    """
    data = output.get("data", {})
    if not re.search("<(input|button|select)", html := data.get("text/html", "")):
        return output
    picture: NotebookNode | None = None
    if "image/png" in data:
        alt = unescape(re.findall('<img[^>]* alt="([^"]*)"', html)[0])
        picture = nbformat.v4.new_output("display_data", {"image/png": data["image/png"], "text/plain": alt})
    return picture


RUN = "To move its sliders and change its code, choose *Run*, *Run All Cells* from the menu. It takes about a minute."


def needed(app: Sphinx) -> str:
    """Return how a reader who has only a downloaded notebook gets the package at this version."""
    url = app.config.html_theme_options.get("repository_url")
    at = "main" if "dev" in __version__ else f"v{__version__}"  # a tag is made of each release
    get = "unpack or clone the project of this book, and run `pip install '.[data]'` in its folder"
    if url:
        get = f'`pip install "fair-bandits[data] @ git+{url}@{at}"`'
    return (
        f"It needs the package `fairlib` of this book, version {__version__}: {get}. `make lab` in the project's "
        "folder installs everything and opens all chapters. (`pip install fairlib` brings another project.)"
    )


def notebooks(app: Sphinx, first: str) -> dict[str, NotebookNode]:
    """Return the chapters as notebooks, by their pages, with a first cell that says how to run them."""
    pages = sorted(page for page in app.env.found_docs if "jupytext" in app.env.metadata[page])
    chapters = {page: jupytext.read(app.env.doc2path(page)) for page in pages}
    known = {label: at for page, chapter in chapters.items() for label, at in figures(app, page, chapter).items()}
    for page, chapter in chapters.items():
        cells, executed, within = [], list(code_cells(Path(app.env.doc2path(page)))), False
        for cell in chapter.cells:
            cells.append(cell)
            if cell.cell_type == "code" and executed:
                cell.outputs = [shown for output in executed.pop(0).outputs if (shown := at_rest(output))]
            if cell.cell_type == "markdown":
                still = [within, *(gate == "start" for gate in re.findall(r"\{solution-(\w+)", cell.source))][-1]
                cell.source = without_roles(app, page, without_directives(app, cell.source, within, still), known)
                within = still
            elif within or "hide-input" in cell.metadata.get("tags", []):
                cell.metadata["jupyter"] = {"source_hidden": True, "outputs_hidden": within}  # folded as it is here
            if figure := figure_of(cell):
                said = without_roles(app, page, figure["caption"].strip(), known)
                cells.append(nbformat.v4.new_markdown_cell(f"*{known[figure['name']][1]}.* {said}"))
        number = "".join(f"{i}. " for i in above(app, page))
        # JupyterLab shows the title above all else of its cell.
        cells[0].source = re.sub("(?m)^# (.*)$", rf"# {number}\g<1>\n\n{first}", cells[0].source, count=1)
        chapter.cells = cells
    return chapters


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the notebooks, in the book or beside it."""
    if error or not (app.builder.format == "html" or app.builder.name == Notebooks.name):
        return
    alone = app.builder.format == "html"  # a notebook that is downloaded, without the project
    for page, chapter in notebooks(app, f"{RUN} {needed(app)}" if alone else RUN).items():
        if not alone:
            leave(chapter, Path(app.srcdir) / "notebooks" / f"{Path(page).name}.ipynb")
        else:
            jupytext.write(chapter, Path(app.outdir) / notebook(page))


def leave(chapter: NotebookNode, path: Path) -> None:
    """Leave a notebook to its reader: one that is there stays."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        jupytext.write(chapter, path)


class Notebooks(DummyBuilder):
    """Makes the notebooks alone."""

    name = "notebooks"
    epilog = "The notebooks are in the folder notebooks/."

    def write(self, *args: object) -> None:
        """Write no page."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_builder(Notebooks)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
