"""The figures' style: a look for each algorithm that does not rest on colour, labels that do not overlap."""

import os
import subprocess
import sys
from typing import cast

import matplotlib.pyplot as plt
import numpy as np
import pytest
import zoo
from matplotlib.text import Annotation

import fairlib as fl
from fairlib import figures


def name_of(entry):
    return entry.make(zoo.game(entry.games[0])).name


def test_every_policy_of_the_package_has_a_look_of_its_own():
    names = {name_of(entry) for entry in zoo.ZOO.values()}
    looks = {name: str(figures.look(name)) for name in names | {"bound", "fair share"}}
    assert len(set(looks.values())) == len(looks) > 30
    assert names & set(figures._LOOKS) >= {"UCB1", "FAIR-UCB", "FairX-LinUCB", "Fair-Greedy V2", "OP-FCTS-D"}


def test_no_two_looks_are_the_same_and_those_drawn_together_differ_in_both():
    assert len({str(look) for look in figures._LOOKS.values()}) == len(figures._LOOKS)
    assert {dash[0] for _, dash in figures._LOOKS.values() if isinstance(dash, tuple)} == {0}  # a whole stroke first
    for _, dash in figures._LOOKS.values():
        if isinstance(dash, tuple):
            strokes, gaps = dash[1][::2], dash[1][1::2]
            assert min(strokes) >= 1  # what is shorter than it is wide can't be told from a gap
            assert len(set(gaps)) == 1
    names = [policy.name for policy in (fl.ucb1(), fl.uniform(), fl.epsilon_greedy(0.1), fl.thompson_beta())]
    shares = [*names, "FAIR-UCB", "LFG", "T-FAIR-UCB", "bound", "fair share"]
    ranks = [
        "Fair-Greedy",
        "Fair-Greedy, rarely",
        "oracle CDF",
        "oracle rewards",
        "GMF",
        "reward-optimal",
        "Greedy",
        "OFUL",
    ]
    exposure = ["FairX-UCB", "FairX-TS", "FairX-EG", "UCB1", "Thompson sampling"]
    for together in (shares, ranks, exposure, ["FairX-LinUCB", "FairX-LinTS", "FairX-LinEG", "LinUCB", "LinTS"]):
        looks = [figures.look(name) for name in together]
        assert len({look["color"] for look in looks}) == len(looks)
        assert len({str(look["linestyle"]) for look in looks}) == len(looks)


OWN = [
    "my own",
    "explore, then commit",
    "sliding window",
    "discounted UCB",
    "EXP3",
    "FAIR-LEARN(EXP3)",
    "x" * 500,
    "",
    "UCB",
]


def test_any_name_has_a_look_that_depends_on_the_name_alone():
    looks = [figures.look(name) for name in OWN]
    assert len({str(look["linestyle"]) for look in looks}) == len(OWN)
    assert not {str(look["linestyle"]) for look in looks} & {str(dash) for _, dash in figures._LOOKS.values()}
    # It stays from version to version: three strokes, whose lengths the name tells.
    assert figures.look("sliding window") == {"color": "#666b73", "linestyle": (0, (5.5, 1.2, 2.5, 1.2, 0.6, 1.2))}
    assert figures.look("my policy") == {"color": "#be185d", "linestyle": (0, (9.5, 1.2, 5.5, 1.2, 1.5, 1.2))}
    here = [str(figures.look(name)) for name in OWN]
    there = subprocess.run(
        [sys.executable, "-c", f"from fairlib import figures\nfor name in {OWN!r}: print(figures.look(name))"],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.splitlines() == here


def test_two_names_hardly_ever_look_the_same():
    names = [f"policy {i}" for i in range(200)]
    assert len({str(figures.look(name)) for name in names}) >= 195


def test_curve_draws_any_name():
    fig, ax = plt.subplots()
    for name in OWN[:4]:
        figures.curve(ax, [1, 2, 3], np.arange(6.0).reshape(2, 3), name)
    fig.canvas.draw()
    assert [line.get_label() for line in ax.lines] == OWN[:4]
    assert all(line.is_dashed() for line in ax.lines)
    plt.close(fig)


def luminance(color):
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", sorted(figures._LOOKS))
def test_a_label_in_an_algorithm_s_colour_can_be_read_on_the_card(name):
    card, ink = luminance("#fcfcfb"), luminance(figures.look(name)["color"])
    assert (card + 0.05) / (ink + 0.05) >= 4.5  # WCAG AA


def test_labels_at_the_ends_do_not_overlap():
    figures.use_style()
    fig, ax = plt.subplots()
    for i, height in enumerate([0.5, 0.5, 0.51, 0.98, 1.0, 40.0]):
        ax.plot([0, 1], [0, height], label=f"line {i}")
    ax.set(xlim=(0, 1), ylim=(0, 1))
    figures.label_ends(ax)
    heights = np.sort([cast(Annotation, text).xy[1] for text in ax.texts])
    assert np.diff(heights).min() >= 0.08
    assert heights.max() <= 1
    plt.close(fig)


def test_curve_draws_the_mean_and_the_band():
    fig, ax = plt.subplots()
    values = np.arange(22.0).reshape(11, 2)
    figures.curve(ax, [1, 2], values, "UCB1")
    assert np.array_equal(ax.lines[0].get_ydata(), values.mean(axis=0))
    corners = np.asarray(ax.collections[0].get_paths()[0].vertices)[:, 1]
    assert corners.min() == pytest.approx(np.quantile(values[:, 0], 0.1))
    assert corners.max() == pytest.approx(np.quantile(values[:, 1], 0.9))
    plt.close(fig)


def test_a_function_is_shown_with_the_first_line_of_its_docstring():
    lines = figures.show(fl.core.absorb).data.splitlines()
    assert lines[:2] == ["```python", "@helper"]
    assert lines[3] == '    """Add one context and its reward to a ridge regression, in place."""'
    assert lines[4] == "    v = np.empty(x.size)"
    assert lines[-1] == "```"


def test_a_rule_is_shown_as_its_box():
    lines = figures.show(fl.classic.ucb1_rule).data.splitlines()
    assert lines[:3] == [
        "```python",
        "def ucb1_rule(seen, p):",
        '    """Play the arm of the largest upper confidence bound, untried arms first."""',
    ]
    assert lines[-2:] == ["    return largest(p)", "```"]

    # What is not the mark of a rule stays.
    @named("first")
    @fl.rule
    def own(
        seen,
        p,
    ):
        """Play the first arm.

        Always.
        """
        return 0

    assert [line.strip() for line in figures.show(own).data.splitlines()] == [
        *(
            "```python",
            '@named("first")',
            "def own(",
            "seen,",
            "p,",
            "):",
            '"""Play the first arm."""',
            "return 0",
            "```",
        )
    ]


def named(name):
    """Give a rule a name, as a decorator."""

    def rename(rule):
        rule.__name__ = name
        return rule

    return rename
