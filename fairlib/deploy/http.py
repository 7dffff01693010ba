"""The HTTP front of a service: an ASGI application that checks a request before the service sees it."""

import json
import logging
import sqlite3
from collections.abc import Callable
from typing import Annotated, Any

try:
    import anyio
    import anyio.to_thread
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"fairlib.deploy.app needs the extra `service` of the package: {error}") from error

from fairlib import checks
from fairlib.checks import Positive, PositiveInt, checked
from fairlib.deploy.service import Service, ServiceError

__all__ = ["app"]

_LOG = logging.getLogger("fairlib.deploy")


@checked
def app(
    service: Annotated[Service, checks.Instance(Service, "a Service")],
    *,
    body: PositiveInt = 100_000,
    seconds: Positive = 10.0,
) -> Starlette:
    """Return an ASGI application that answers HTTP requests with a service.

    A request is a JSON object, and so is the answer. All other answers have a status from 400 on and an object with one
    field, `error`, a sentence.

    ============== ======================================= =========================================
    path           fields of the request                   fields of the answer
    ============== ======================================= =========================================
    POST /choose   `request`; `contexts` where arms have   `round`, `arms` and `chances`, the
                   some                                    probability of each of these arms
    POST /observe  `request`, `reward`; `arm` if several   `new`, false if it had been told before
                   were chosen
    GET /healthz   none                                    `rounds` played so far
    ============== ======================================= =========================================

    A request that the service refuses is answered with 400, and has changed nothing. If the database fails, the status
    is 503, and the same request may be sent again: it is never played twice. The service works in a thread of its own,
    so that the server goes on taking requests while it waits for the disk.

    It has neither authentication nor TLS: only the shop's own programs should be able to reach it.

    Parameters
    ----------
    service : Service
        The service that answers. The caller must still close it.
    body : int
        The largest body of a request, in bytes, whatever its headers say.
    seconds : float
        How long a body may take to arrive.

    Returns
    -------
    starlette.applications.Starlette
        The application, for uvicorn or another ASGI server.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.
    ModuleNotFoundError
        If Starlette, of the extra `service`, is not installed.

    See Also
    --------
    Service : answers the requests.

    Examples
    --------
    >>> import tempfile
    >>> import fairlib as fl
    >>> from fairlib.deploy import Service
    >>> service = Service(tempfile.mkdtemp() + "/shop.db", fl.ucb1(), 3)
    >>> [route.path for route in app(service).routes]
    ['/choose', '/observe', '/healthz']
    >>> service.close()
    """
    front = _Front(service, body, seconds)
    routes = [
        Route("/choose", front.choose, methods=["POST"]),
        Route("/observe", front.observe, methods=["POST"]),
        Route("/healthz", front.healthz, methods=["GET"]),
    ]
    made = Starlette(routes=routes, exception_handlers={HTTPException: _refusal, ClientDisconnect: _nobody})
    made.router.redirect_slashes = False  # /choose/ is a mistyped path like any other
    return made


class _Front:
    """The common part of the paths of the application."""

    def __init__(self, service: Service, body: int, seconds: float) -> None:
        self.service, self.body, self.seconds = service, body, seconds
        # The service does one thing at a time. More threads would wait for it, and leave none for the health check.
        self.turn = anyio.CapacityLimiter(1)

    async def choose(self, request: Request) -> Response:
        given = await self.read(request, ("request",), ("contexts",))
        choice = await self.ask(self.service.choose, given["request"], given.get("contexts"))
        return JSONResponse(choice._asdict())

    async def observe(self, request: Request) -> Response:
        given = await self.read(request, ("request", "reward"), ("arm",))
        new = await self.ask(self.service.observe, given["request"], given["reward"], given.get("arm"))
        return JSONResponse({"new": new})

    async def healthz(self, request: Request) -> Response:
        try:
            return JSONResponse({"rounds": await anyio.to_thread.run_sync(self.service.rounds)})
        except sqlite3.Error as error:
            raise _unavailable(error) from error

    async def ask(self, method: Callable[..., Any], *given: Any) -> Any:
        """Return the answer of the service; it must not hold up the event loop."""
        try:
            return await anyio.to_thread.run_sync(method, *given, limiter=self.turn)
        except (TypeError, ValueError, RecursionError) as error:
            raise HTTPException(400, str(error)) from error
        except sqlite3.Error as error:
            raise _unavailable(error) from error
        except ServiceError as error:
            _LOG.exception("the log can't be played on")
            raise HTTPException(500, "the log can't be played on; the server's own log says why") from error

    async def read(self, request: Request, needed: tuple[str, ...], more: tuple[str, ...]) -> dict[str, Any]:
        """Return the fields of a request, or refuse it."""
        kind = request.headers.get("content-type", "")
        if kind.partition(";")[0].strip().lower() != "application/json":
            raise HTTPException(415, f"the content type must be application/json, not {checks.shown(kind)}")
        text, size = bytearray(), 0
        with anyio.move_on_after(self.seconds) as scope:
            async for part in request.stream():
                size += len(part)
                if size <= self.body:  # the rest is read to the end, or its sender would not hear the answer
                    text += part
        if size > self.body or scope.cancelled_caught:
            headers = {"Connection": "close"} if scope.cancelled_caught else None
            if size > self.body:
                raise HTTPException(413, f"the body must be of at most {self.body} bytes", headers)
            raise HTTPException(408, f"the body must arrive within {self.seconds:g} seconds", headers)
        try:
            given = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise HTTPException(400, f"the body must be JSON: {error}") from error
        allowed = f"a JSON object with {_listed(needed)}{f', and perhaps {_listed(more)}' if more else ''}"
        if not isinstance(given, dict):
            raise HTTPException(400, f"the body must be {allowed}, not {checks.shown(given)}")
        if wrong := [each for each in needed if each not in given]:
            raise HTTPException(400, f"the body must be {allowed}; it lacks {_listed(wrong)}")
        if wrong := [each for each in given if each not in needed + more]:
            raise HTTPException(400, f"the body must be {allowed}, without {checks.shown(wrong[0])}")
        return given


def _listed(names: Any) -> str:
    return " and ".join(f"`{each}`" for each in names)


def _unavailable(error: sqlite3.Error) -> HTTPException:
    """Return the refusal of a request that the database could not take."""
    _LOG.error("the database failed: %s", error)
    return HTTPException(503, "the database failed, and nothing was answered: ask again", {"Retry-After": "1"})


async def _refusal(request: Request, error: Exception) -> Response:
    """Answer with a sentence, also where Starlette refuses."""
    assert isinstance(error, HTTPException)
    text, headers = error.detail, error.headers
    if error.status_code == 404:
        text = f"path must be /choose, /observe or /healthz, not {checks.shown(request.url.path)}"
    if error.status_code == 405:
        allowed = ", ".join(sorted((headers or {})["Allow"].split(", ")))  # of a set, whose order changes
        text = f"method must be {allowed}, not {request.method}"
    return JSONResponse({"error": text}, error.status_code, headers)


async def _nobody(request: Request, error: Exception) -> Response:
    """Answer a client that has gone."""
    return Response(status_code=400)
