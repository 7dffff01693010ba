"""The active parts of the book's pages: figures, explorers, live pictures, widgets and the playground."""

from fairlib.pages import explorers, figures, live, sliders, tables, widgets
from fairlib.pages.explorers import *
from fairlib.pages.figures import *
from fairlib.pages.live import *
from fairlib.pages.sliders import *
from fairlib.pages.tables import *
from fairlib.pages.widgets import *

__all__ = [
    *figures.__all__,
    *explorers.__all__,
    *sliders.__all__,
    *live.__all__,
    *tables.__all__,
    *widgets.__all__,
]
