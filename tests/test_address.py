"""The address of the project, and the buttons that its pages get from it."""

import subprocess
from pathlib import Path

import address
import pytest
from bs4 import BeautifulSoup
from helpers import sphinx

CHAPTER = "---\njupytext: {formats: md:myst}\nkernelspec: {name: python3, display_name: Python}\n---\n# A chapter\n"
GITHUB = "https://github.com/someone/fair-bandits"


@pytest.mark.parametrize(
    ("remote", "found"),
    [
        (f"{GITHUB}.git", GITHUB),
        ("https://someone:secret@github.com/someone/fair-bandits/", GITHUB),
        ("git@github.com:someone/fair-bandits.git", GITHUB),
        ("ssh://git@github.com/someone/fair-bandits", GITHUB),
        ("/srv/git/fair-bandits", ""),
        ("https://github.com.example.org/someone/fair-bandits", ""),
        ("https://example.org/github.com/someone/fair-bandits", ""),
    ],
)
def test_the_address_is_that_of_the_clone(remote: str, found: str, tmp_path: Path) -> None:
    assert address.find(tmp_path) == ""
    for command in (["init", "-q"], ["remote", "add", "origin", remote]):
        subprocess.run(["git", "-C", tmp_path, *command], check=True)
    assert address.find(tmp_path) == found
    (tmp_path / "within").mkdir()
    assert address.find(tmp_path / "within") == "", "another project's"


def build(root: Path, url: str) -> None:
    """Build a book of a chapter and a page without code."""
    pages = {
        "index": "# Book\n```{toctree}\nchapters/how-to-read\nchapters/shares\n```\n",
        "chapters/how-to-read": "# How\n(run-a-chapter)=\n{{ clone }}.\n",
        "chapters/shares": CHAPTER,
    }
    conf = f"html_theme, html_theme_options = 'sphinx_book_theme', {{'repository_url': {url!r}}}\n"
    conf += "extensions, myst_enable_extensions, nb_execution_mode = ['myst_nb', 'address'], ['substitution'], 'off'\n"
    assert not sphinx(root, pages, conf)[1]


def links(root: Path, page: str) -> dict[str, str]:
    """Return what the buttons at the top of a page are called, and where they lead."""
    text = (root / "_build" / "html" / "chapters" / f"{page}.html").read_text(encoding="utf-8")
    menus = BeautifulSoup(text, "html.parser").select(
        ".article-header-buttons .dropdown-menu a:not(.btn-download-source-button)"
    )
    return {menu.get_text(strip=True): str(menu["href"]) for menu in menus}


LOCAL = {"On your machine": "how-to-read.html#run-a-chapter", ".ipynb": "../_sources/chapters/shares.ipynb"}


def test_pages_lead_to_binder_and_to_their_source(tmp_path: Path) -> None:
    build(tmp_path, GITHUB)
    of_chapter, of_page = links(tmp_path, "shares"), links(tmp_path, "how-to-read")
    notebook = "lab%2Ftree%2Fnotebooks%2Fshares.ipynb"  # where .binder/postBuild puts it
    assert (
        of_chapter.pop("Launch in Binder") == f"https://mybinder.org/v2/gh/someone/fair-bandits/main?urlpath={notebook}"
    )
    issue = of_chapter.pop("Open issue")
    assert issue.startswith(f"{GITHUB}/issues/new?")
    assert "chapters/shares.html" in issue
    file = f"{GITHUB}/blob/main/chapters/shares.md"
    assert of_chapter == LOCAL | {
        "Repository": GITHUB,
        "Show source": f"{file}?plain=1",
        "Suggest edit": file.replace("/blob/", "/edit/"),
    }
    assert set(of_page) == {"Repository", "Show source", "Suggest edit", "Open issue"}
    text = (tmp_path / "_build/html/chapters/how-to-read.html").read_text(encoding="utf-8")
    assert f"git clone {GITHUB}" in text.replace('</span> <span class="pre">', " ")


def test_without_an_address_pages_say_how_to_run_a_chapter(tmp_path: Path) -> None:
    build(tmp_path, "")
    assert links(tmp_path, "shares") == LOCAL
    assert links(tmp_path, "how-to-read") == {}
    assert "Clone the project" in (tmp_path / "_build/html/chapters/how-to-read.html").read_text(encoding="utf-8")
