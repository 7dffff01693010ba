"""The address of the project, which gives its pages their buttons: run in Binder, source, edit, open an issue.

It is ``repository.url`` in ``_config.yml``, or if that is empty the repository at GitHub that was cloned. The buttons
are the theme's own except Binder's, for the theme would open a chapter's Markdown there and not its notebook. Without
an address, the menu says how to run a chapter on one's own machine.
"""

import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

from downloads import notebook
from sphinx.application import Sphinx
from sphinx.config import Config

HOSTED = re.compile(r"(?:\w+://)?(?:[^@/]*@)?github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?")


def public(address: str) -> str:
    """Return the page on GitHub that a clone's remote belongs to, or nothing.

    >>> public("git@github.com:someone/fair-bandits.git"), public("/home/someone/fair-bandits")
    ('https://github.com/someone/fair-bandits', '')
    """
    found = HOSTED.fullmatch(address)
    return f"https://github.com/{found[1]}" if found else ""


def find(root: Path) -> str:
    """Return the address of the project where none is given."""
    if not (root / ".git").exists():  # or git looks for one in the folders above
        return ""
    asked = ["git", "-C", str(root), "config", "remote.origin.url"]
    return public(subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip())


def choose(app: Sphinx, config: Config) -> None:
    """Tell the theme and the pages."""
    options = config.html_theme_options
    url = options["repository_url"] = options.get("repository_url") or find(Path(app.srcdir))
    clone = "Clone the project of this book, or unpack it"
    if url:
        clone = "*Launch in Binder*, in the menu at the top of a chapter, opens its notebook with nothing to install. "
        clone += f"On your own machine, type `git clone {url}`"
        options |= {f"use_{button}_button": True for button in ("repository", "source", "edit_page", "issues")}
    config.myst_substitutions = {"clone": clone}


def offer(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Add the menu that runs a chapter."""
    if "jupytext" not in app.env.metadata.get(page, {}):
        return
    pathto, url = context["pathto"], app.config.html_theme_options["repository_url"]
    at = f"https://mybinder.org/v2/gh/{url.partition('github.com/')[2]}/main?urlpath="
    at += quote(f"lab/tree/notebooks/{Path(page).name}.ipynb", safe="")
    menu = [
        ("Launch in Binder", "Open its notebook, with nothing to install", "play", at),
        ("On your machine", "What to type", "terminal", pathto("chapters/how-to-read") + "#run-a-chapter"),
        (".ipynb", "Download as a notebook", "file-code", pathto(notebook(page), 1)),
    ]
    buttons = [
        {"type": "link", "text": text, "tooltip": says, "icon": f"fas fa-{icon}", "url": to}
        for text, says, icon, to in (menu if "github.com/" in url else menu[1:])
    ]
    group = {"type": "group", "tooltip": "Run this chapter", "icon": "fas fa-play", "label": "launch-buttons"}
    context["header_buttons"].insert(0, group | {"buttons": buttons})


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", choose)
    app.connect("html-page-context", offer, priority=600)  # after the theme has made its menus
    return {"parallel_read_safe": True, "parallel_write_safe": True}
