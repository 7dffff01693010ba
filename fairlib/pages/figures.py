"""One style for every figure of the book: a hue and a dash for each algorithm, direct labels, readable on a phone."""

import ast
import hashlib
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Annotated, Any

import matplotlib.style
import numpy as np
from IPython.core.getipython import get_ipython
from IPython.display import Markdown
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.scale import LinearScale, register_scale
from matplotlib.ticker import ScalarFormatter
from matplotlib_inline.backend_inline import set_matplotlib_formats
from numpy.typing import ArrayLike

from fairlib import checks
from fairlib.checks import checked
from fairlib.rules.rule import Rule

__all__ = ["INK", "FAINT", "use_style", "look", "curve", "label_ends", "show"]

INK = "#1b1f24"
FAINT = "#6b7280"

# Okabe and Ito's colours, which colour-blind readers can tell apart, darkened for thin lines; each with a dash,
# so that colour is never the only sign. No two have both in common.
_LOOKS: dict[str, tuple[str, Any]] = {
    "UCB1": ("#0072b2", "-"),
    "Thompson sampling": ("#b8421f", (0, (6, 2))),
    "epsilon-greedy": ("#007a5a", (0, (4, 1.5, 1, 1.5))),
    "uniform": ("#666b73", (0, (1, 1.5))),
    "FAIR-UCB": ("#7b3f9e", (0, (9, 1.5))),
    "LFG": ("#8a5a00", (0, (3, 1))),
    "T-FAIR-UCB": ("#a0264f", (0, (5, 1, 1, 1, 1, 1))),
    "upper merit": ("#00707a", (0, (14, 2, 2, 2))),
    "FairX-UCB": ("#3b3fb6", (0, (7, 1.5, 1, 1.5, 1, 1.5))),
    "FairX-TS": ("#c2185b", (0, (2.5, 1))),
    "FairX-EG": ("#5d7a00", (0, (10, 2))),
    # With contexts an algorithm keeps the colour that it has on arms.
    "FairX-LinUCB": ("#3b3fb6", (0, (10, 1.5, 1, 1.5))),
    "FairX-LinTS": ("#c2185b", (0, (4.5, 1))),
    "FairX-LinEG": ("#5d7a00", (0, (6, 2, 2, 2))),
    "LinUCB": ("#0072b2", (0, (18, 1.5))),
    "LinTS": ("#b8421f", (0, (4, 1.5))),
    "FCUCB-D": ("#0b5cad", (0, (12, 1))),
    "FCTS-D": ("#c2410c", (0, (6, 1.2))),
    "OP-FCUCB-D": ("#6d28d9", (0, (5, 1, 1.2, 1))),
    "OP-FCTS-D": ("#be185d", (0, (3, 1, 1.2, 1))),
    "CUCB-D": ("#0f766e", (0, (1.2, 1))),
    "MP-TS-D": ("#854d0e", (0, (2.2, 1.2))),
    "FGreedy-D": ("#4d7c0f", (0, (8, 1.5, 2, 1.5))),
    "Two-box": ("#374151", (0, (16, 2))),
    "recent half": ("#b45309", (0, (9, 1.5, 3, 1.5))),
    # Ranks and pools; V2 and the oracles keep to the family of Fair-Greedy.
    "Fair-Greedy": ("#00707a", "-"),
    "Fair-Greedy V2": ("#00707a", (0, (8, 1.5))),
    "Fair-Greedy, rarely": ("#2f6b2f", (0, (5, 1.5, 1, 1.5))),
    "oracle CDF": ("#9c4f86", (0, (4, 1, 1, 1, 1, 1))),
    "oracle rewards": ("#6b4226", (0, (7, 1.5, 1.5, 1.5))),
    "GMF": (INK, (0, (3, 1))),
    "reward-optimal": ("#4650a8", (0, (9, 2))),
    "Greedy": ("#b8421f", (0, (2.5, 1))),
    "OFUL": ("#0072b2", (0, (6, 2))),
    "bound": (INK, (0, (2, 2))),
    "fair share": ("#9c4f86", (0, (8, 2, 1, 2))),
}


class _Commas(ScalarFormatter):
    """Write thousands in a tick label as the text does: 20,000."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return re.sub(r"(?<![.\d])\d{4,}", lambda digits: f"{int(digits[0]):,}", super().__call__(x, pos))


class _Linear(LinearScale):
    """The scale that each axis begins with: Matplotlib has no setting for the labels of its ticks."""

    def __init__(self) -> None:
        pass

    def set_default_locators_and_formatters(self, axis: Axis) -> None:
        super().set_default_locators_and_formatters(axis)
        axis.set_major_formatter(_Commas())


def use_style() -> None:
    """Set the book's style for every figure made from now on; in a notebook, show figures as SVG after their cell.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> use_style()
    >>> mpl.rcParams["svg.fonttype"]
    'none'

    Labels of ticks have commas from then on.

    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> _ = ax.set(xticks=[0, 500, 20_000])
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['0', '500', '20,000']
    >>> plt.close(fig)
    """
    if (shell := get_ipython()) is not None:
        shell.run_line_magic("matplotlib", "inline")
        set_matplotlib_formats("svg", "png")  # a downloaded notebook shows no SVG before its reader trusts or runs it
    register_scale(_Linear)
    matplotlib.style.use("fairlib.pages.book")


@checked
def look(name: Annotated[str, checks.Text()]) -> dict[str, Any]:
    """Return the hue and the dash that an algorithm has in every figure.

    Parameters
    ----------
    name : str
        The policy's name, or ``"bound"`` or ``"fair share"``. A name that the book does not know gets a look as well,
        the same wherever it is drawn.

    Returns
    -------
    dict
        Keyword arguments for matplotlib's ``plot``.

    Raises
    ------
    TypeError
        If the name is not a string.

    Examples
    --------
    >>> look("UCB1")
    {'color': '#0072b2', 'linestyle': '-'}
    >>> look("my own") == look("my own") != look("another")
    True
    """
    if name not in _LOOKS:
        return _look_of_its_own(name)
    color, dash = _LOOKS[name]
    return {"color": color, "linestyle": dash}


_COLORS = sorted({color for color, _ in _LOOKS.values()} - {INK})


def _look_of_its_own(name: str) -> dict[str, Any]:
    """Return a colour of the palette, and a dash that no algorithm has: two long strokes and a short one."""
    number = int.from_bytes(hashlib.sha256(name.encode(errors="surrogatepass")).digest()[:8], "big")
    number, color = divmod(number, len(_COLORS))
    number, first = divmod(number, 20)
    number, second = divmod(number, 8)
    short = number % 4
    strokes = (4 + 0.5 * first, 1.2, 2 + 0.5 * second, 1.2, 0.6 + 0.3 * short, 1.2)
    return {"color": _COLORS[color], "linestyle": (0, strokes)}


@checked
def curve(
    ax: Annotated[Axes, checks.Instance(Axes, "a matplotlib Axes, as plt.subplots() gives")],
    rounds: Annotated[ArrayLike, checks.Table()],
    values: ArrayLike,
    name: Annotated[str, checks.Text()],
    label: Annotated[str, checks.Text()] | None = None,
) -> None:
    """Draw the mean over runs as a line, with a band from the 10th to the 90th percentile of the runs.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    rounds : array_like, shape (R,)
        The recorded rounds.
    values : array_like, shape (runs, R)
        One curve a run.
    name : str
        The algorithm whose look to take (see `look`); any name has one.
    label : str, optional
        The label of the line; by default `name`.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, or the shapes don't fit.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> curve(ax, [1, 2, 3], [[0, 1, 2], [0, 2, 4]], "UCB1")
    >>> ax.lines[0].get_ydata()
    array([0. , 1.5, 3. ])
    >>> plt.close(fig)
    """
    style = look(name)
    x, sample = np.asarray(rounds), checks.floats("values", values, "numbers, a row a run")
    if x.ndim != 1 or sample.ndim != 2 or sample.shape[1] != x.size or not sample.size:
        raise ValueError(
            f"values must be of shape (runs, R), where rounds is of shape (R,), not {sample.shape} and {x.shape}"
        )
    low, high = np.quantile(sample, [0.1, 0.9], axis=0)
    ax.fill_between(x, low, high, color=style["color"], alpha=0.15, linewidth=0)
    ax.plot(x, sample.mean(axis=0), label=label or name, **style)


@checked
def label_ends(ax: Annotated[Axes, checks.Instance(Axes, "a matplotlib Axes, as plt.subplots() gives")]) -> None:
    """Write each line's label at its right end, moved apart where two would overlap.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes whose labelled lines are drawn and whose limits are set.

    Raises
    ------
    TypeError
        If `ax` is not a matplotlib Axes.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> _ = ax.plot([1, 2], [3, 4], label="rising")
    >>> label_ends(ax)
    >>> ax.texts[0].get_text()
    'rising'
    >>> plt.close(fig)
    """
    lines = [line for line in ax.lines if not str(line.get_label()).startswith("_")]
    to_axes = ax.transData + ax.transAxes.inverted()
    # A line that leaves the picture is labelled at the edge.
    ends = [np.clip(to_axes.transform(np.asarray(line.get_xydata())[-1])[1], 0, 1) for line in lines]
    step = 0.085
    heights: list[float] = []
    for i in np.argsort(ends):
        heights.append(max(ends[i], heights[-1] + step if heights else -np.inf))
    excess = max(0.0, heights[-1] - 1.0) if heights else 0.0
    for i, height in zip(np.argsort(ends), heights, strict=True):
        ax.annotate(
            str(lines[i].get_label()),
            (1.01, height - excess),
            xycoords="axes fraction",
            va="center",
            color=lines[i].get_color(),
            annotation_clip=False,
        )


def show(function: Callable[..., Any] | Rule) -> Markdown:
    """Show a function's source in a chapter: the code that is read is the code that runs.

    Parameters
    ----------
    function : callable or Rule
        The function.

    Returns
    -------
    IPython.display.Markdown
        Its source as a block of Python, with the first line of its docstring, and without the line ``@rule``.

    Raises
    ------
    TypeError
        If it is not defined by def or class, or its source can't be read.

    Examples
    --------
    >>> from fairlib.baselines.classic import ucb1_rule
    >>> print(show(ucb1_rule).data.splitlines()[1])
    def ucb1_rule(seen, p, available=None):
    """
    try:
        lines = inspect.getsource(function.function if isinstance(function, Rule) else function).splitlines()
        definition = ast.parse(textwrap.dedent("\n".join(lines))).body[0]
    except (TypeError, OSError, SyntaxError):  # no function, typed at a prompt, or a lambda within a line
        definition = None
    if not isinstance(definition, ast.FunctionDef | ast.ClassDef):
        raise TypeError(
            f"function must be one defined by def or class, whose source can be read, not {checks.shown(function)}"
        )
    if (doc := ast.get_docstring(definition)) is not None:
        text = definition.body[0]
        indent = " " * (len(lines[text.lineno - 1]) - len(lines[text.lineno - 1].lstrip()))
        lines[text.lineno - 1 : text.end_lineno] = [f'{indent}"""{doc.splitlines()[0]}"""']
    for mark in reversed(definition.decorator_list):
        if ast.unparse(mark).split(".")[-1] in ("rule", "checked"):
            del lines[mark.lineno - 1 : mark.end_lineno]
    return Markdown("\n".join(["```python", *lines, "```"]))
