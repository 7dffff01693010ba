"""Real data: data that ship with the packages that the project needs, and loaders for files that the reader brings.

A loader reads numbers and nothing else: no file is ever unpickled, imported or evaluated. Data that must be exact are
checked by a SHA-256 hash; whatever else is wrong with a file is an error that names the file and, if there is one, the
column and the line.
"""

from fairlib.data import ads, files, labels, logs, news, people, stand_ins
from fairlib.data.ads import *
from fairlib.data.files import *
from fairlib.data.labels import *
from fairlib.data.logs import *
from fairlib.data.news import *
from fairlib.data.people import *
from fairlib.data.stand_ins import *

__all__ = [
    *files.__all__,
    *labels.__all__,
    *people.__all__,
    *news.__all__,
    *ads.__all__,
    *logs.__all__,
    *stand_ins.__all__,
]
