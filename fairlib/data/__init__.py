"""Real data: what ships with the packages that the project needs, and loaders for files that the reader brings.

A loader reads numbers and nothing else: no file is ever unpickled, imported or evaluated. Data that must be exactly
these are checked by a SHA-256 hash; whatever else is wrong with a file is an error that names the file and the line.
A file of this package a source: `labels`, `people`, `news`, `ads`; `files` reads for all of them, and `stand_ins` draws
what can't come with the book.
"""

from fairlib.data.ads import WEEK, Ads, criteo_arms, read_criteo
from fairlib.data.files import FilePath
from fairlib.data.labels import MEDIAMILL, MultiLabel, arm_contexts, fourier_features, mediamill, read_arff, yeast
from fairlib.data.news import Event, Pool, read_today
from fairlib.data.people import ACS_NUMBERS, ACS_ONE_HOT, People, read_acs, standardized, twoyear
from fairlib.data.stand_ins import (
    INTERESTS,
    KnownLog,
    frequencies_like_mediamill,
    labels_like_mediamill,
    visits_like_today,
)

__all__ = [
    "FilePath",
    "MultiLabel",
    "yeast",
    "MEDIAMILL",
    "mediamill",
    "read_arff",
    "fourier_features",
    "arm_contexts",
    "People",
    "twoyear",
    "ACS_NUMBERS",
    "ACS_ONE_HOT",
    "read_acs",
    "standardized",
    "Pool",
    "Event",
    "read_today",
    "Ads",
    "criteo_arms",
    "read_criteo",
    "WEEK",
    "frequencies_like_mediamill",
    "labels_like_mediamill",
    "KnownLog",
    "INTERESTS",
    "visits_like_today",
]
