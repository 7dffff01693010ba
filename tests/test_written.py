"""A build that writes one page leaves the others as a build of all pages would make them."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONF = f"""
import sys
sys.path.insert(0, {str(ROOT / "chapters" / "extensions")!r})
extensions = ["myst_parser", "written", "mathjax_build", "previews", "search_index"]
html_theme, html_math_renderer, myst_enable_extensions = "pydata_sphinx_theme", "mathjax_build", ["dollarmath"]
root_doc, exclude_patterns = "index", ["_build"]
"""
PAGES = {
    "index": "# Book\n\n```{toctree}\none\nother\n```\n",
    "one": "# One\n\nSee {ref}`far <there>` and {ref}`near <here>`, and $\\Gamma$.\n\n(here)=\nIt stays.\n",
    "other": "# Other\n\n(there)=\nOld words, {ref}`near <here>`, $\\beta$.\n",
}


def build(folder: Path, name: str, *options: str) -> dict[str, str]:
    """Build the pages; return the scripts that are made of them, and the style of formulas rule by rule."""
    out = folder / "_build" / name
    command = [sys.executable, "-m", "sphinx", "-q", "-W", *options, str(folder), str(out)]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    made = {path.name: path.read_text(encoding="utf-8") for path in sorted((out / "_static" / "previews").glob("*.js"))}
    made["places"] = (out / "_static" / "places.js").read_text(encoding="utf-8")
    style = (out / "_static" / "mathjax" / "mathjax.css").read_text(encoding="utf-8")
    return made | dict.fromkeys(style.split("\n\n"), "")


def test_one_changed_page_makes_what_all_pages_make(tmp_path):
    (tmp_path / "conf.py").write_text(CONF, encoding="utf-8")
    (tmp_path / "_toc.yml").write_text("root: index\nfile: one\nfile: other\n", encoding="utf-8")
    for name, text in PAGES.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    first = build(tmp_path, "html")
    assert "Old words" in first["one.js"]
    assert "It stays" in first["other.js"]
    one = tmp_path / "_build" / "html" / "one.html"
    written = one.stat().st_mtime_ns
    assert "\\(" not in one.read_text(encoding="utf-8")

    changed = PAGES["other"].replace("Old words", "New words").replace("beta", "zeta") + "\n## More\n\nEnd.\n"
    (tmp_path / "other.md").write_text(changed, encoding="utf-8")
    now, afresh = build(tmp_path, "html"), build(tmp_path, "afresh")
    assert one.stat().st_mtime_ns == written
    assert "New words" in now["one.js"]
    assert "\\(" not in now["one.js"]
    # A rule of what is no longer on any page may stay.
    assert afresh.items() <= now.items()

    # A build that broke off has written pages, and made nothing of them.
    raw = re.sub("<mjx-container.*</mjx-container>", r"\\(\\delta\\)", one.read_text(encoding="utf-8"))
    one.write_text(raw, encoding="utf-8")
    os.utime(one)
    assert afresh.items() <= build(tmp_path, "html").items()
    assert "\\(" not in one.read_text(encoding="utf-8")
