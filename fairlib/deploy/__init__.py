"""A policy at work: a player, a service behind a database with an ASGI application in front of it, and a monitor."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what `__getattr__` finds
    from fairlib.deploy.http import app as app
    from fairlib.deploy.monitor import Audit as Audit
    from fairlib.deploy.monitor import Monitor as Monitor
    from fairlib.deploy.monitor import audit as audit
    from fairlib.deploy.monitor import seal as seal
    from fairlib.deploy.player import Choice as Choice
    from fairlib.deploy.player import Player as Player
    from fairlib.deploy.service import Service as Service
    from fairlib.deploy.service import ServiceError as ServiceError

__all__ = ["Player", "Choice", "Service", "ServiceError", "app", "Monitor", "Audit", "audit", "seal"]

_HOME = {
    **{"Player": "player", "Choice": "player", "Service": "service", "ServiceError": "service", "app": "http"},
    **dict.fromkeys(("Monitor", "Audit", "audit", "seal"), "monitor"),
}


def __getattr__(name: str) -> Any:
    """Import a part when it is first asked for: only the service needs SQLite, and only the application Starlette."""
    if name in _HOME:
        return getattr(importlib.import_module(f"fairlib.deploy.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
