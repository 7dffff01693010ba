"""The figures' style: a look for each algorithm that does not rest on colour, labels that do not overlap."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import fairlib as fl
from fairlib import contexts, exposure, figures


def test_every_policy_has_a_look_of_its_own_in_colour_and_in_dash():
    names = [policy.name for policy in (fl.ucb1(), fl.uniform(), fl.epsilon_greedy(0.1), fl.thompson_beta())]
    looks = [figures.look(name) for name in [*names, "bound", "fair share"]]
    assert len({look["color"] for look in looks}) == len(looks)
    assert len({str(look["linestyle"]) for look in looks}) == len(looks)


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
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
    heights = np.sort([text.xy[1] for text in ax.texts])
    assert np.diff(heights).min() >= 0.08
    assert heights.max() <= 1
    plt.close(fig)


def test_curve_draws_the_mean_and_the_band():
    fig, ax = plt.subplots()
    values = np.arange(22.0).reshape(11, 2)
    figures.curve(ax, [1, 2], values, "UCB1")
    assert ax.lines[0].get_ydata().tolist() == values.mean(axis=0).tolist()
    corners = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert corners.min() == pytest.approx(np.quantile(values[:, 0], 0.1))
    assert corners.max() == pytest.approx(np.quantile(values[:, 1], 0.9))
    plt.close(fig)


def test_a_function_is_shown_with_the_first_line_of_its_docstring():
    lines = figures.show(contexts.absorb.py_func).data.splitlines()
    assert lines[:2] == ["```python", "@helper"]
    assert lines[3] == '    """Add one context and its reward to a ridge regression, in place."""'
    assert lines[4] == "    v = np.empty(x.size)"
    assert lines[-1] == "```"
    closure = figures.show(exposure.fairx_linucb_rule.__wrapped__).data
    assert "    def rule(params, state, t, contexts, groups, ridge, past, rng, p):" in closure
    assert "        low, high, mu = np.empty(k), np.empty(k), np.empty(k)" in closure
