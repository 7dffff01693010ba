"""Sliders over a figure: live where a kernel answers, and on a page that has none.

A page without a kernel stores the pictures of all settings, or, with `fairlib.pages.live`, one that it changes itself;
``explorers.html`` is its template. A Jupyter front end draws the setting that the reader asks for.
"""

import html
import io
import itertools
import os
import re
import traceback
from collections.abc import Callable
from string import Template
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from fairlib import checks
from fairlib.checks import checked
from fairlib.pages.live import Live, LiveFigure
from fairlib.pages.scripts import asset, script_json
from fairlib.pages.sliders import MOST_SETTINGS, Slider, check_sliders, setting_text, slider_text

# Text stays text, laid out for DejaVu Sans; a reader without it should get the font it was modelled on.
_SVG: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fairlib",
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


class Frame(NamedTuple):
    """One picture of an explorer, and its description in words."""

    svg: str
    alt: str


class Explorer:
    """A figure with sliders, made by `explore`; its `settings` are all that they offer, the last moving fastest."""

    @checked
    def __init__(
        self,
        figure: Annotated[Callable[..., Figure], checks.Function()],
        sliders: dict[str, Slider],
        autoplay: Annotated[bool, checks.Flag()],
        live: Live | None = None,
    ) -> None:
        check_sliders(sliders)
        self._played = next((name for name, slider in sliders.items() if not slider.named), None)  # by the button
        if autoplay and self._played is None:
            raise ValueError("autoplay must be False where there are only lists of names, none of which is played")
        if live is not None and autoplay:
            raise ValueError("autoplay must be False for a live explorer, which plays nothing of its own accord")
        self.settings = [
            dict(zip(sliders, values, strict=True))
            for values in itertools.product(*(slider.values for slider in sliders.values()))
        ]
        if len(self.settings) > MOST_SETTINGS:
            raise ValueError(f"sliders must offer at most {MOST_SETTINGS} settings in all, not {len(self.settings)}")
        self._live = None if live is None else LiveFigure(figure, sliders, live)
        self._figure: Callable[..., Figure] = self._live or figure
        self._sliders = sliders
        self._id = re.sub("[^a-z0-9]+", "-", getattr(figure, "__name__", "").lower()).strip("-") or "explorer"
        self._autoplay = autoplay
        self._start = {name: slider.start for name, slider in sliders.items()}
        # All drawing is done here and none in the repr, whose exceptions IPython swallows.
        self._frames: dict[str, Frame] = {}
        self._widget: Any = None
        if _is_live():
            self._widget = self._live_view()
        else:
            stored = self.settings if live is None else [self._start]
            png = io.BytesIO()
            self._frames = {
                setting_text(setting): _draw(self._figure, setting, png if setting == self._start else None)
                for setting in stored
            }
            self._png = png.getvalue()  # of the start: what a notebook shows that was not run
            self._data = self._live.page() if self._live else self._stored()

    def frame(self, **values: float | str) -> Frame:
        """Return the picture at one setting."""
        return self._frames.get(setting_text(values)) or _draw(self._figure, values)

    def __repr__(self) -> str:
        return f"Explorer({', '.join(self._sliders)}: {len(self.settings)} settings)"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        if self._widget is None:
            return {"text/plain": repr(self), "text/html": self._static_view(), "image/png": self._png}
        return {**self._widget._repr_mimebundle_(**kwargs), "text/plain": repr(self)}

    def _static_view(self) -> str:
        return _PAGE.substitute(
            id=self._id,
            mark="data-live" if self._live else f'data-autoplay="{str(self._autoplay).lower()}"',
            picture=_img(self._frames[setting_text(self._start)]),
            controls="\n".join(self._controls() + self._luck()),
            data=script_json(self._data),
            script="" if self._live else f"<script>\n{_STORED}</script>\n",
        )

    def _controls(self) -> list[str]:
        """Return the sliders and the lists of names; before the first slider, the button that plays it."""
        controls = [(_select if each.named else _range_input)(name, each) for name, each in self._sliders.items()]
        if self._played is not None:
            controls.insert(list(self._sliders).index(self._played), '<button type="button" class="play">Play</button>')
        return controls

    def _luck(self) -> list[str]:
        """Return the controls besides the sliders: for the seed, and for the means of the arms."""
        if not (self._live and self._live.plays):
            return []
        plays, live = self._live.plays, self._live.live
        button = f'<button type="button">Other luck</button><output>seed {live.seed}</output>'
        said = [f'<div class="chance">{button}</div>']
        if live.means:
            number = '<input type="number" min="0" max="1" step="any" autocomplete="off" value'
            means = enumerate(plays.start[0].problem.arms.means, start=1)
            inputs = "".join(f'<label>arm {a} {number}="{mean:g}"></label>' for a, mean in means)
            label = html.escape(live.means)
            group = f'<div role="group" aria-label="{label}">{inputs}</div>'
            said.append(f"<details><summary>{label}</summary>{group}</details>")
        return said

    def _stored(self) -> dict[str, Any]:
        """Return the pictures of all settings."""
        frames = list(self._frames.values())
        chunks, indices = _pack([frame.svg for frame in frames])
        texts = [slider.texts for slider in self._sliders.values()]
        return {"texts": texts, "chunks": chunks, "frames": indices, "alts": [frame.alt for frame in frames]}

    def _live_view(self) -> Any:
        import ipywidgets  # not above: only this view needs it

        full = ipywidgets.Layout(width="100%", max_width="40rem")
        picture = ipywidgets.HTML(_img(_draw(self._figure, self._start)))
        controls = {
            name: (ipywidgets.Dropdown if slider.named else ipywidgets.SelectionSlider)(
                options=list(zip(slider.texts, slider.values, strict=True)),
                value=slider.start,
                description=slider.label,
                style={"description_width": "initial"},
                layout=full,
            )
            for name, slider in self._sliders.items()
        }

        def show(change: Any) -> None:
            try:
                frame = _draw(self._figure, {name: control.value for name, control in controls.items()})
                picture.value = _img(frame)
            except Exception as error:  # any error: one that is not shown here is lost
                lines = html.escape("".join(traceback.format_exception(error)))
                picture.value = f'<pre role="alert" style="color:#a00;background:#fff">{lines}</pre>'

        for control in controls.values():
            control.observe(show, names="value")
        shown = [picture, *controls.values()]
        if self._played is not None:
            moved = controls[self._played]
            # The link starts from the button's value.
            play = ipywidgets.Play(value=moved.index, max=len(moved.options) - 1, interval=200)
            ipywidgets.jslink((play, "value"), (moved, "index"))
            shown.insert(shown.index(moved), play)
        return ipywidgets.VBox(shown)


def explore(
    figure: Callable[..., Figure],
    *,
    autoplay: bool = False,
    live: Live | None = None,
    **sliders: Slider,
) -> Explorer:
    """Put sliders on a figure, and lists of names to choose from.

    In a Jupyter front end the figure is drawn anew at each move. Anywhere else it is drawn at every setting at once,
    and the page needs neither a kernel nor a network; with `live` it is drawn once, and the page computes what moves.

    Parameters
    ----------
    figure : callable
        ``figure(**values)`` returns a matplotlib Figure whose label says in words what it shows.
    autoplay : bool
        Whether the page plays the first slider once when the picture is scrolled into sight, unless the reader has
        asked for less motion. A list of names is never played.
    live : Live, optional
        The code that fills the picture. `figure` is then also called with all filled arrays, marks the parts that
        follow them by `fairlib.pages.live.moving`, and leaves the label to it.
    **sliders : Slider
        One or two sliders, each under the name of the parameter of `figure` that it moves; at most 60 settings in
        all.

    Returns
    -------
    Explorer
        The picture with its sliders, as the last line of a cell shows it.

    Raises
    ------
    TypeError, ValueError
        If `figure` can't be called with these parameters or returns no Figure with a label, there are no sliders or too
        many settings, an argument is of the wrong kind, or the page can't fill the picture.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> def powers(p):
    ...     fig = Figure(label=f"x to the power {p}, from 0 to 1.")
    ...     x = np.linspace(0, 1, 50)
    ...     _ = fig.subplots().plot(x, x**p)
    ...     return fig
    >>> explore(powers, p=Slider("Power", [1, 2, 3]))
    Explorer(p: 3 settings)
    """
    return Explorer(figure, sliders, autoplay, live)


_PAGE = Template(asset("explorers.html"))
_STORED = asset("link.js") + asset("stored.js")


def _is_live() -> bool:
    # A Jupyter server sets the name of the session for its kernels; nothing that builds the book does.
    return os.environ.get("FAIRLIB_LIVE", "1" if "JPY_SESSION_NAME" in os.environ else "0") == "1"


def _draw(figure: Callable[..., Figure], setting: dict[str, Any], png: io.BytesIO | None = None) -> Frame:
    """Draw the picture of a setting as text; and into a file as PNG, if one is given."""
    open_before = plt.get_fignums()
    try:
        # No point of a moving part may be left out.
        with plt.rc_context(_SVG | {"path.simplify": not isinstance(figure, LiveFigure)}):
            picture = figure(**setting)
            if not isinstance(picture, Figure):
                raise TypeError(f"figure must return a matplotlib Figure, not {checks.shown(picture)}")
            alt = " ".join(str(picture.get_label()).split())
            if not alt:
                raise ValueError(
                    "figure must return a Figure with a label that says what it shows: fig.set_label('...')"
                )
            file = io.StringIO()
            picture.savefig(file, format="svg", metadata=_NO_METADATA)
            if png is not None:
                picture.set_layout_engine("none")  # or the parts would lie elsewhere than in the text
                picture.savefig(png, format="png")
    except Exception as error:
        error.add_note(f"while the explorer drew {setting_text(setting)}")
        raise
    finally:
        for number in set(plt.get_fignums()).difference(open_before):
            plt.close(number)
    # Matplotlib names one font for mathematics, and a browser without it would take a serif.
    return Frame(re.sub(r"(font-family: '[^']+')", r"\1, Verdana, sans-serif", file.getvalue()), alt)


def _pack(svgs: list[str]) -> tuple[list[str], list[list[int]]]:
    """Cut pictures at their groups; return the different chunks, and each picture as indices into them."""
    numbers: dict[str, int] = {}
    frames = [[numbers.setdefault(chunk, len(numbers)) for chunk in re.split(r"(?=<g id=)", svg)] for svg in svgs]
    return list(numbers), frames


def _img(frame: Frame) -> str:
    source = "data:image/svg+xml," + quote(frame.svg, safe="!~*'()")  # as encodeURIComponent does
    # A theme darkens pictures on a dark page unless they are of class dark-light.
    return f'<img class="dark-light" style="max-width:100%;height:auto" alt="{html.escape(frame.alt)}" src="{source}">'


def _range_input(name: str, slider: Slider) -> str:
    label, text = html.escape(slider.label), html.escape(slider_text(slider.start))
    last, start = len(slider.values) - 1, slider.texts.index(slider_text(slider.start))
    # A browser that remembers a moved slider over a reload (autocomplete) would show it beside the first picture.
    return (
        f'<div class="slider"><label><span>{label}</span><input type="range" name="{name}" min="0" max="{last}" '
        f'value="{start}" aria-valuetext="{text}" autocomplete="off"></label>'
        f'<output aria-live="off">{text}</output></div>'
    )


def _select(name: str, slider: Slider) -> str:
    options = "".join(
        f'<option value="{i}"{" selected" * (value == slider.start)}>{html.escape(text)}</option>'
        for i, (value, text) in enumerate(zip(slider.values, slider.texts, strict=True))
    )
    label = html.escape(slider.label)
    return (
        f'<div class="slider"><label><span>{label}</span><select name="{name}" autocomplete="off">{options}</select>'
        "</label></div>"
    )
