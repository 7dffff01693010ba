"""Figures as lines of text: one line for each artist, with its numbers.

``notebooks.py`` sends this into the kernel of a chapter. There each figure and each explorer that a cell shows gets one
format more than it has for a reader, `FORMAT`: what it draws, at several settings where it has sliders. So a picture is
compared in the numbers that it was drawn from, not in the places of its strokes.
"""

from typing import Any

import numpy as np
from IPython.core.formatters import BaseFormatter
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection, PathCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure, FigureBase
from matplotlib.image import AxesImage
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedLocator
from traitlets import ObjectName, Unicode

FORMAT = "application/x-picture"
FEW = 8  # numbers that are written one by one


class Format(BaseFormatter):
    """What a shell needs to have `FORMAT` among its own."""

    format_type = Unicode(FORMAT)
    print_method = ObjectName("_repr_picture_")  # which nothing has
    _return_type = dict


def watch(shell: Any) -> None:
    """Let a shell say what is drawn, of each figure and each explorer that it shows."""
    display = shell.display_formatter
    display.formatters[FORMAT] = added = Format(parent=display)
    # By its base class: what is known of Figure is forgotten when a chapter sets its style.
    added.for_type(FigureBase, lambda figure: {"drawn": drawn(figure)})
    added.for_type_by_name("fairlib.book.explorers", "Explorer", explored)


def explored(explorer: Any) -> dict[str, Any]:
    """Draw an explorer where it starts, and with each slider at its first, middle and last value."""
    from fairlib.book.explorers import _draw  # the kernel's, not the tester's own
    from fairlib.book.sliders import setting_text  # the kernel's, not the tester's own

    def told_at(setting: dict[str, Any]) -> list[str]:
        pictures: list[Figure] = []

        def figure(**values: Any) -> Figure:
            pictures.append(explorer._figure(**values))
            return pictures[-1]

        frame = _draw(figure, setting)
        return [f"says: {frame.alt}", *drawn(pictures.pop())]

    settings = [start := explorer._start]
    for name, slider in explorer._sliders.items():
        settings += [start | {name: slider.values[at]} for at in (0, (len(slider.values) - 1) // 2, -1)]
    named = {setting_text(setting): setting for setting in settings}
    said = {reads: told_at(setting) for reads, setting in named.items()}
    ends = next(iter(named)), list(named)[-1]
    explorer._altered = lambda: [reads for reads in ends if told_at(named[reads]) != said[reads]]
    written = getattr(explorer._figure, "figure", explorer._figure)  # by the chapter
    return {"name": written.__name__, "drawn": said}


def drawn(figure: Figure) -> list[str]:
    """Return a line for each artist of a figure, below one for its axes."""
    lines = artists(figure)
    for ax in figure.findobj(Axes):
        titles = [ax.get_title(loc) for loc in ("left", "center", "right")]
        scales = f"x {scale(ax.xaxis)}; y {scale(ax.yaxis)}" if ax.axison else "without scales"
        lines += [f"axes {''.join(titles)!r}: {scales}", *("  " + line for line in artists(ax))]
    return lines


def scale(axis: Axis) -> str:
    """Say what an axis measures, from where to where, and what is written at ticks that were placed by hand."""
    what = [repr(axis.get_label_text()), numbers(axis.get_view_interval())]
    if axis.get_scale() != "linear":
        what.append(axis.get_scale())
    if isinstance(axis.get_major_locator(), FixedLocator):
        what.append("ticks " + " ".join(repr(label.get_text()) for label in axis.get_ticklabels() if shown(label)))
    return ", ".join(what)


def artists(place: Any) -> list[str]:
    """Return a line for each artist of axes, or of a figure outside of its axes."""
    bars = [group for group in getattr(place, "containers", []) if isinstance(group, BarContainer)]
    patches = [patch for patch in place.patches if not any(patch in group for group in bars)]
    legends = place.legends if isinstance(place, Figure) else filter(None, [place.get_legend()])
    found = [*patches, *place.lines, *getattr(place, "collections", []), *place.images, *place.texts, *legends]
    return [told(each) for each in [*bars, *found, *place.artists] if isinstance(each, BarContainer) or shown(each)]


def shown(artist: Any) -> bool:
    """Return whether there is something to see of an artist."""
    return bool(artist.get_visible() and not (isinstance(artist, Text) and not artist.get_text()))


def told(artist: Any) -> str:
    """Say what an artist is, what it is called, and where it lies in its own coordinates."""
    if isinstance(artist, Text):
        x, y = artist.xy if isinstance(artist, Annotation) else artist.get_position()
        where = f": {numbers([x, y])}" if artist.axes else ""  # where a figure's own lie depends on its fonts
        return f"text {artist.get_text()!r}{where}"
    if isinstance(artist, Legend):
        return "legend: " + ", ".join(repr(text.get_text()) for text in artist.get_texts())
    label = str(artist.get_label())
    called = f" {label!r}" if label and not label.startswith("_") else ""  # or else by matplotlib
    parts = {name: numbers(values, reach(artist, name)) for name, values in lies(artist).items()}
    return f"{type(artist).__name__}{called}: " + "; ".join(f"{name} {said}" for name, said in parts.items())


def lies(artist: Any) -> dict[str, Any]:
    """Return the numbers that an artist was drawn from, by name."""
    if isinstance(artist, BarContainer):
        sides = np.reshape([bar.get_bbox().extents for bar in artist], (-1, 4)).T
        return dict(zip(("left", "bottom", "right", "top"), sides, strict=True))
    if isinstance(artist, AxesImage):
        return {"extent": artist.get_extent(), "values": artist.get_array()}
    if isinstance(artist, Line2D):
        return dict(zip("xy", np.transpose(artist.get_xydata()), strict=True))
    if isinstance(artist, Patch):
        around = artist.get_patch_transform().transform(artist.get_path().vertices)
        return dict(zip("xy", around.T, strict=True))
    if not isinstance(artist, Collection):
        raise TypeError(f"nothing is known of {artist!r}: tests/figure_text.py has to be told what its numbers are")
    more = {} if artist.get_array() is None else {"values": artist.get_array()}
    if isinstance(artist, PathCollection):
        return dict(zip("xy", np.transpose(artist.get_offsets()), strict=True)) | {"sizes": artist.get_sizes()} | more
    corners = np.concatenate([np.empty((0, 2)), *(path.vertices for path in artist.get_paths())])
    return dict(zip("xy", corners.T, strict=True)) | more


def reach(artist: Any, name: str) -> float:
    """Return how far from 0 the axis reaches that an artist's x or y is drawn along; 0 where it must not be used."""
    ax = getattr(artist, "axes", None)
    if ax is None or name not in ("x", "y"):
        return 0.0
    axis = ax.xaxis if name == "x" else ax.yaxis
    of_data = artist.get_transform().contains_branch_seperately(ax.transData)[name == "y"]
    return float(np.max(np.abs(axis.get_view_interval()))) if of_data and axis.get_scale() == "linear" else 0.0


def numbers(values: Any, reach: float = 0.0) -> str:
    """Write few numbers one by one, and of many their ends, their range and the means of both halves.

    Examples
    --------
    >>> numbers([1, 2.5, 1e-17])
    '1, 2.5, 0'
    >>> numbers([0, 1e-17]), numbers([0, 1e-17], reach=1)
    ('0, 1e-17', '0, 0')
    >>> numbers(range(10))
    '10 from 0 to 9, between 0 and 9, mean 2 then 7'
    """
    array: np.ndarray = np.ma.filled(np.ma.asarray(values, float), np.nan).ravel()
    finite = array[np.isfinite(array)]
    beside = np.append(finite, reach)
    if array.size <= FEW or not finite.size:
        return ", ".join(written(array[:FEW], beside)) or "none"
    halves = [half[np.isfinite(half)].mean() for half in np.array_split(array, 2) if np.isfinite(half).any()]
    first, last, least, most, *means = written([array[0], array[-1], finite.min(), finite.max(), *halves], beside)
    return f"{array.size} from {first} to {last}, between {least} and {most}, mean {' then '.join(means)}"


def written(values: Any, beside: Any) -> list[str]:
    """Write numbers with six digits; what is nothing beside others is 0, for its digits are those of rounding."""
    nothing = 1e-9 * np.max(np.abs(beside))
    return [f"{0 if abs(value) <= nothing else value:.6g}" for value in np.asarray(values, float)]
