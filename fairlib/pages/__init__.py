"""The active parts of the book's pages: figures, explorers, live pictures, widgets and the playground."""

from fairlib.pages.explorers import Explorer, Frame, explore
from fairlib.pages.figures import FAINT, INK, curve, label_ends, look, show, use_style
from fairlib.pages.live import Live, LiveFigure, Plays, format_text, moving
from fairlib.pages.sliders import MOST_SETTINGS, Slider
from fairlib.pages.tables import Table
from fairlib.pages.widgets import Attack, Guess

__all__ = [
    "use_style",
    "look",
    "curve",
    "label_ends",
    "show",
    "INK",
    "FAINT",
    "explore",
    "Explorer",
    "Frame",
    "Slider",
    "MOST_SETTINGS",
    "Live",
    "Plays",
    "LiveFigure",
    "moving",
    "format_text",
    "Table",
    "Attack",
    "Guess",
]
