"""The toolbox holds each tool that a proof names, once, and nothing that no proof uses."""

import itertools
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import hyp1f1
from scipy.stats import beta, norm

STATEMENT = ("theorem", "lemma", "proposition", "corollary", "observation")


class Block(NamedTuple):
    """A directive of sphinx-proof: of which kind, its title, its label, and its text."""

    kind: str
    title: str
    label: str
    text: str


def blocks(page: str) -> list[Block]:
    """Return the statements and proofs of a chapter; a proof has the label of what it proves."""
    found: list[Block] = []
    above = ""
    for _, kind, title, text in re.findall(
        r"^(`{3,})\{prf:(\w+)\} *([^\n]*)\n(.*?)^\1$", page, re.MULTILINE | re.DOTALL
    ):
        if kind in STATEMENT:
            label, _, text = text.partition("\n")
            above = label.removeprefix(":label: ")
            found.append(Block(kind, title, above, text))
        elif kind == "proof":
            other = re.match(r"(?:<!-- slide -->\n)?\*Of \{prf:ref\}`([\w-]+)`\.\*", text)
            found.append(Block(kind, "", other[1] if other else above, text))
    return found


def references(text: str) -> set[str]:
    """Return the labels that a text refers to, of statements and of equations."""
    return set(re.findall(r"\{(?:prf:ref|eq)\}`([\w-]+)`", text))


ROOT = Path(__file__).parents[1]
NAMES = re.findall(r"chapters/([\w-]+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
CHAPTERS = {name: (ROOT / "chapters" / f"{name}.md").read_text(encoding="utf-8") for name in NAMES}
PROOFS = [(page, block) for page, text in CHAPTERS.items() for block in blocks(text) if block.kind == "proof"]
SOLUTIONS = [
    (page, Block("solution", "", label, text))
    for page, chapter in CHAPTERS.items()
    for _, label, text in re.findall(r"^(`{3,})\{solution\} ([\w-]+)\n(.*?)^\1$", chapter, re.MULTILINE | re.DOTALL)
]
TOOLS = [block for block in blocks(CHAPTERS["toolbox"]) if block.kind != "proof"]
BY_NAME = {
    r"Markov('s|\b)": {"lem-markov"},
    r"Jensen": {"lem-jensen"},
    r"arithmetic": {"lem-jensen"},
    r"Cauchy|Hölder|Minkowski": {"lem-cauchy"},
    r"Hoeffding": {"lem-hoeffding", "thm-hoeffding", "lem-union"},
    r"\b(U|u)nion\b": {"lem-union"},
    r"Azuma": {"thm-azuma"},
    r"tower property|sum over plays|over the arms \*played\*": {"lem-tower"},
    r"Bretagnolle|Huber": {"thm-bretagnolle-huber"},
    r"total variation": {"thm-bretagnolle-huber", "lem-wrong-in-one", "eq-tv", "eq-affinity"},
    r"relative entropy|evidence": {"thm-bretagnolle-huber", "lem-evidence-of-play", "eq-tv"},
    r"Trees": {"thm-van-trees"},
    r"Ville": {"thm-ville"},
    r"Kolmogorov": {"thm-kolmogorov"},
    r"self-normalised": {"thm-self-normalised"},
    r"determinant": {"lem-determinant", "lem-trace", "lem-potential"},
    r"Chernoff": {"lem-chernoff-share", "lem-half-arrive"},
    r"Tropp": {"thm-tropp"},
    r"Lieb": {"eq-lieb"},
    r"Dvoretzky|Kiefer|Massart": {"thm-dkw"},
    r"Beta (tail|variable)": {"lem-beta", "lem-places"},
}
TAKEN_FOR_GRANTED = {"Bayes", "Donsker", "Fubini", "Newton", "Taylor"}  # says the head of the toolbox
OF_SOMEBODY = re.compile(
    r"\b([A-Z][a-zé]+)(?:' |'s | and [A-Z]\w+(?:'s)? )(?:central )?(?:inequality|theorem|lemma|formula|method|bound)\b"
)


def of_itself(page, block):
    """Return what the title of a proof's statement says, so that a tool may be called by its name in its own proof."""
    return {other.title for other in blocks(CHAPTERS[page]) if other.label == block.label and other.kind != "proof"}


@pytest.mark.parametrize(
    ("page", "proof"), PROOFS + SOLUTIONS, ids=[f"{page}-{proof.label}" for page, proof in PROOFS + SOLUTIONS]
)
def test_tool_that_a_proof_names_is_linked(page, proof):
    own = {proof.label, *re.findall(r"^ *\$\$ \(([\w-]+)\)", proof.text, re.MULTILINE)}
    for words, labels in BY_NAME.items():
        named = re.search(words, proof.text)
        assert not named or (own | references(proof.text)) & labels, f"{named[0]}: no link to any of {sorted(labels)}"
    titles = " ".join(of_itself(page, proof))
    for name in OF_SOMEBODY.findall(proof.text):
        known = name in TAKEN_FOR_GRANTED or name in titles or any(re.search(words, name) for words in BY_NAME)
        assert known, f"{name}: neither in the toolbox, nor taken for granted there"


def test_what_is_taken_for_granted_is_said_to_be():
    head = CHAPTERS["toolbox"].split("| Tool |")[0]
    assert all(name in head for name in TAKEN_FOR_GRANTED - {"Newton"})  # his method is proved where it is used


def test_names_lead_to_what_there_is():
    known = {label for tool in TOOLS for label in (tool.label, *re.findall(r"\((eq-[\w-]+)\)", CHAPTERS["toolbox"]))}
    assert set().union(*BY_NAME.values()) <= known


@pytest.mark.parametrize("tool", TOOLS, ids=[tool.label for tool in TOOLS])
def test_tool_is_proved_or_quoted_and_used(tool):
    proved = any(page == "toolbox" and proof.label == tool.label for page, proof in PROOFS)
    assert proved != tool.text.startswith("(Quoted from {cite:t}`"), "a proof, or a source that is said to be quoted"
    names = {tool.label, *re.findall(r"^ *\$\$ \(([\w-]+)\)", tool.text, re.MULTILINE)}
    assert any(names & references(proof.text) for _, proof in PROOFS if proof.label != tool.label), "no proof uses it"


def test_no_statement_stands_twice():
    labels = [block.label for text in CHAPTERS.values() for block in blocks(text) if block.kind != "proof"]
    assert len(labels) == len(set(labels)) > 100


# ---------------------------------------------------------------------------------------------------------------------
# Constants


@pytest.mark.parametrize("x", [0.001, 0.03, 0.4, 1.0, 7.5])
def test_sums_are_below_their_bounds_and_not_far(x):
    n = np.arange(200_000)
    for m in (0, 3, 40):
        total = np.exp(-x * n[m:]).sum()
        assert total == pytest.approx(np.exp(-x * m) / (1 - np.exp(-x)))
        assert total <= np.exp(-x * m) * (1 + 1 / x)
    for k in (1, 2, 50):
        assert np.minimum(1, k * np.exp(-x * n[1:])).sum() <= (1 + np.log(k)) / x
    totals = np.minimum(1, x / n[1:]).cumsum()
    bounds = x * (1 + np.log1p(n[1:] / x))
    assert (totals <= bounds).all()
    assert np.diff(bounds, 2).max() <= 1e-12  # concave
    assert totals[-1] > 0.3 * bounds[-1]


@pytest.mark.parametrize(("u", "v"), [(1, 1), (0.3, 0.2), (1, 9), (2.5, 2.5), (30, 4)])
def test_the_tilted_mean_of_a_beta_variable_stays_below_its_line(u, v):
    """The two steps of the proof of the Beta tails: the equation of the tilted mean, and the line."""
    n, h = u + v, 1e-3
    theta = np.linspace(0.05, 12, 50)

    def mean(tilt):
        return u / n * hyp1f1(u + 1, n + 1, tilt) / hyp1f1(u, n, tilt)

    m, slope = mean(theta), (mean(theta + h) - mean(theta - h)) / (2 * h)
    assert theta * slope == pytest.approx(u - n * m + theta * m * (1 - m), abs=1e-5)
    line = u / n + theta / (4 * (n + 1))
    assert (m <= line).all()
    assert (u - n * line + theta * line * (1 - line) <= theta / (4 * (n + 1)) + 1e-12).all()


def test_the_terms_of_two_thompson_proofs_are_those_of_their_bounds():
    """What the lemma adds for normal and for Beta posteriors, against what the theorems have room for."""
    for arms, rounds in itertools.product((2, 3, 14), (14, 100, 10**6)):
        s = np.sqrt(2 * np.log(arms * rounds))
        excess = norm.pdf(s) - s * norm.sf(s)
        assert arms * rounds * excess <= arms * rounds * norm.pdf(s) / s**2
        assert arms * rounds * norm.pdf(s) / s**2 == pytest.approx(1 / (2 * np.sqrt(2 * np.pi) * np.log(arms * rounds)))
        s = np.sqrt(np.log(2 * arms * rounds))
        for arrivals, successes in ((0, 0), (1, 0), (5, 2), (40, 40)):
            law = beta(1 + successes, 1 + arrivals - successes)
            w = 1 / np.sqrt(arrivals + 1)
            assert law.std() <= w / 2
            beyond = law.sf(law.mean() + s * w) + law.cdf(law.mean() - s * w)
            assert beyond <= 2 / (2 * arms * rounds) ** 2
        assert 2 * arms * rounds / (2 * arms * rounds) ** 2 <= 1 / rounds
