"""The table of chapters, the list of what they need, and the short way through the book."""

from helpers import sphinx

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


def test_a_table_counts_words_and_a_list_says_what_a_chapter_needs(tmp_path):
    pages = {"index": CONTENTS}
    for name, needs, words in [
        ("one", "nothing", 40),
        ("two", "{ref}`one`", 1010),
        ("three", "{ref}`two <two>`. **In parts** {ref}`one`", 450),
    ]:
        pages[name] = CHAPTER.format(name=name, title=name.title(), needs=needs, words="word " * words)
    page, said = sphinx(tmp_path, pages, "extensions = ['myst_parser', 'sphinx_proof', 'chapter_overview']\n")
    assert not said
    cells = [[cell.get_text().strip() for cell in row.select("td")] for row in page.select("table tr")[1:]]
    assert cells == [
        ["1", "One", "the beginning", "5 min"],
        ["2", "Two", "the middle", "15 min"],
        ["3", "Three", "the end", "5 min"],
    ]
    listed = [" ".join(line.get_text().split()) for line in page.select("li") if "needs" in line.get_text()]
    assert listed == [
        "1. One needs no other chapter.",
        "2. Two needs 1. One.",
        "3. Three needs 2. Two, in parts 1. One.",
    ]
