"""The figures' style: a look for each algorithm that does not rest on colour, labels that do not overlap."""

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


def test_policies_that_are_drawn_together_differ_in_colour_and_in_dash():
    for together in (
        ["UCB1", "uniform", "epsilon-greedy", "Thompson sampling", "FAIR-UCB", "LFG", "T-FAIR-UCB", "bound"],
        ["Fair-Greedy", "Fair-Greedy, rarely", "oracle CDF", "oracle rewards", "GMF", "reward-optimal", "OFUL"],
        ["FairX-UCB", "FairX-TS", "FairX-EG", "UCB1", "Thompson sampling"],
        ["FairX-LinUCB", "FairX-LinTS", "FairX-LinEG", "LinUCB", "LinTS"],
    ):
        looks = [figures.look(name) for name in together]
        assert len({look["color"] for look in looks}) == len(looks)
        assert len({str(look["linestyle"]) for look in looks}) == len(looks)


OWN = ["my own", "explore, then commit", "sliding window", "discounted UCB", "EXP3", "x" * 500, "", "UCB"]


def test_any_name_has_a_look_that_depends_on_the_name_alone():
    looks = [figures.look(name) for name in OWN]
    assert len({str(look["linestyle"]) for look in looks}) == len(OWN)
    assert not {str(look["linestyle"]) for look in looks} & {str(dash) for _, dash in figures._LOOKS.values()}
    # It stays from version to version: three strokes, whose lengths the name tells.
    assert figures.look("sliding window") == {"color": "#666b73", "linestyle": (0, (5.5, 1.2, 2.5, 1.2, 0.6, 1.2))}
    assert figures.look("my policy") == {"color": "#be185d", "linestyle": (0, (9.5, 1.2, 5.5, 1.2, 1.5, 1.2))}


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
        "def ucb1_rule(seen, p, available=None):",
        '    """Play the arm of the largest upper confidence bound, untried arms first."""',
    ]
    assert lines[-2:] == ["    return largest(p, available)", "```"]
