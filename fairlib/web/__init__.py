"""Rules and games in JavaScript: the translator, its scripts, and NumPy's random numbers in a page."""

import json
from importlib import resources
from typing import Any


def script_json(value: Any) -> str:
    r"""Return JSON that may be part of a script in a page.

    Parameters
    ----------
    value : object
        Numbers, texts, lists and dicts.

    Returns
    -------
    str
        The JSON, in which nothing ends the script or begins a comment.

    Examples
    --------
    >>> script_json(["</script>"])
    '["<\\/script>"]'
    """
    # Inside a script element "</" would end it and "<!--" begin a comment.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("</", "<\\/").replace("<!", "\\u003c!")


def link() -> str:
    """Return the script that keeps an explorer's setting in the address and copies it.

    Returns
    -------
    str
        The script; it may be in a page more than once.

    Examples
    --------
    >>> "history.replaceState" in link()
    True
    """
    return resources.files("fairlib.web").joinpath("link.js").read_text(encoding="utf-8")
