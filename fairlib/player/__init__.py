"""A policy at work: a player with its journal, and a monitor of the promises that it keeps."""

from fairlib.player.monitor import Audit, Monitor, audit
from fairlib.player.player import Choice, Player

__all__ = ["Player", "Choice", "Monitor", "Audit", "audit"]
