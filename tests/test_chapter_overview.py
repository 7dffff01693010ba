"""The table of chapters, the list of what they need, and the short way through the book."""

import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

ROOT = Path(__file__).parents[1]
CONTENTS = """
# Contents

```{toctree}
:numbered:

one
two
three
```

```{chapters}
one: the beginning
two: the middle
three: the end
```

```{needs}
```
"""
CHAPTER = """
({name})=
# {title}

```{{admonition}} In this chapter
**You will** read. **You
need** {needs}. **The code** is that of {{ref}}`three`.
```

{words}

## Exercises

{words}
"""


@pytest.fixture
def page(tmp_path):
    """Build a small book, and return its table of contents."""
    extensions = ROOT / "chapters" / "extensions"
    (tmp_path / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(extensions)!r})\nroot_doc = 'index'\n"
        "extensions = ['myst_parser', 'sphinx_proof', 'chapter_overview']\n",
        encoding="utf-8",
    )
    (tmp_path / "index.md").write_text(CONTENTS, encoding="utf-8")
    for name, needs, words in [
        ("one", "nothing", 40),
        ("two", "{ref}`one`", 1010),
        ("three", "{ref}`two <two>`. **In parts** {ref}`one`", 450),
    ]:
        text = CHAPTER.format(name=name, title=name.title(), needs=needs, words="word " * words)
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-E", "-b", "html", str(tmp_path), str(tmp_path / "html")]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not said.stderr
    return BeautifulSoup((tmp_path / "html" / "index.html").read_text(encoding="utf-8"), "html.parser")


def test_a_table_names_the_chapters_and_counts_their_words(page):
    cells = [[cell.get_text().strip() for cell in row.select("td")] for row in page.select("table tr")[1:]]
    assert cells == [
        ["1", "One", "the beginning", "5 min"],
        ["2", "Two", "the middle", "15 min"],
        ["3", "Three", "the end", "5 min"],
    ]


def test_a_list_says_what_a_chapter_needs(page):
    said = [" ".join(line.get_text().split()) for line in page.select("li") if "needs" in line.get_text()]
    assert said == ["1. One needs no other chapter.", "2. Two needs 1. One.", "3. Three needs 2. Two, in parts 1. One."]
