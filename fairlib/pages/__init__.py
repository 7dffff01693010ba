"""The active parts of the book's pages: figures, explorers, live pictures, widgets and the playground."""

from fairlib.pages.explorers import explore as explore
from fairlib.pages.figures import FAINT as FAINT
from fairlib.pages.figures import INK as INK
from fairlib.pages.figures import curve as curve
from fairlib.pages.figures import label_ends as label_ends
from fairlib.pages.figures import look as look
from fairlib.pages.figures import show as show
from fairlib.pages.figures import use_style as use_style
from fairlib.pages.live import Live as Live
from fairlib.pages.live import moving as moving
from fairlib.pages.sliders import Slider as Slider
from fairlib.pages.tables import Table as Table
from fairlib.pages.widgets import Attack as Attack
from fairlib.pages.widgets import Guess as Guess
