"""A policy at work for others: a player behind a database, and an ASGI application in front of it."""

from typing import TYPE_CHECKING, Any

from fairlib.service.log import Service, ServiceError

if TYPE_CHECKING:  # what `__getattr__` finds
    from fairlib.service.front import app as app

__all__ = ["Service", "ServiceError", "app"]


def __getattr__(name: str) -> Any:
    """Import the application when it is first asked for: only it needs Starlette."""
    if name == "app":
        from fairlib.service.front import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
