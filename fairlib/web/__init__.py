"""Rules and games in JavaScript: the translator, its scripts, and NumPy's random numbers in a page."""

import json
from importlib import resources
from typing import Any


def script_json(value: Any) -> str:
    r"""Return JSON that may be part of a script in a page."""
    # Inside a script element "</" would end it and "<!--" begin a comment.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("</", "<\\/").replace("<!", "\\u003c!")


def link() -> str:
    """Return the script that keeps an explorer's setting in the address and copies it."""
    return resources.files("fairlib.web").joinpath("link.js").read_text(encoding="utf-8")
