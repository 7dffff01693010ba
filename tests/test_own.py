"""A reader's own rule is read by the same module in the page (test_playground.py) and here, where Python reads it."""

import re

import pytest
from test_playground import BAD, EXP3, WINNING

from fairlib.page.own import translated
from fairlib.page.playground import EXAMPLE, own_contents

KNOWN = own_contents()["known"]
SENTENCES = {text: said for text, said in BAD.items() if said.startswith("Line")} | {
    "def mine(p, c='a'):\n    return 0": "Line 1 of your rule: the setting 'c' must be a number",
    "def mine(p, c=-p):\n    return 0": "Line 1 of your rule: the setting 'c' must be a number",
    "def mine(p, n: PerGroup):\n    return 0": "Line 1 of your rule: 'n' is not known: a rule may ask for seen, news",
    "def mine(p):\n    return math.cosh(p[0])": "Line 2 of your rule: math.cosh, which it does not know",
    "def mine(p):\n    return other(p)": "Line 2 of your rule: 'other', which stands for nothing",
}


@pytest.mark.parametrize("text", SENTENCES, ids=lambda text: text.replace("\n", "; ")[:40])
def test_what_is_not_known_is_told_with_its_line(text):
    with pytest.raises(ValueError, match="of your rule") as error:
        translated(text, KNOWN)
    said = str(error.value)
    assert (said[0].upper() + said[1:]).startswith(SENTENCES[text].rstrip(".;,"))


@pytest.mark.parametrize(
    ("text", "memory", "readers"),
    [(EXAMPLE, [], 0), (WINNING, [], 0), (EXP3, [1, "K"], 1)],
    ids=["floor", "optimistic", "exp3"],
)
def test_a_rule_says_what_it_asks_for(text, memory, readers):
    made = translated(text, KNOWN)
    assert (made["memory"], made["readers"]) == (memory, readers)
    assert made["script"].startswith("$rule = ")


@pytest.mark.parametrize(
    ("asked", "given"),
    [("c=77", "77.0"), ("c=-77", "-77.0"), ("c: int = 88", "88"), ("c: int = -88", "-88"), ("c: bool = True", "true")],
)
def test_settings_come_as_a_policy_keeps_them(asked, given):
    one = translated(f"def mine(p, {asked}):\n    p[0] = 1.0 if c else 0.5\n    return 0", KNOWN)["script"]
    other = translated("def mine(p):\n    p[0] = 1.0\n    return 0", KNOWN)["script"]
    assert given in one
    assert given not in other


def test_a_rule_that_looks_beside_its_arrays_is_stopped():
    script = translated("def mine(p):\n    p[7] = 1.0\n    return 0", KNOWN)["script"]
    assert re.search(r"\$at\(\w+, 7\)", script)
