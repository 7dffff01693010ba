"""The command that starts a service: ``python -m fairlib.deploy shop.db shop:policy --arms 4 --port 8000``."""

import argparse
import importlib
import signal
import sys
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from fairlib.deploy.service import Service, ServiceError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fairlib.deploy",
        description="Answer HTTP requests with a policy: POST /choose, POST /observe and GET /healthz, with JSON.",
        epilog="It has neither authentication nor TLS: let only your own programs reach it.",
    )
    parser.add_argument("path", help="the SQLite file, on a disk of this machine; it is made if there is none")
    parser.add_argument("policy", help="module:name of a policy, or of a function without arguments that makes one")
    parser.add_argument("--arms", type=int, help="number of arms, unless the policy is made for some number")
    parser.add_argument("--dimension", type=int, help="length of a context, where arms have contexts")
    parser.add_argument("--horizon", type=int, help="how many rounds may be played")
    parser.add_argument("--rewards", type=float, nargs=2, default=(0.0, 1.0), metavar=("LOW", "HIGH"))
    parser.add_argument("--seed", type=int, default=0, help="a secret, as it tells the choices to come; 0 by default")
    parser.add_argument("--snapshot-every", type=int, default=1000, metavar="ROUNDS", help="0 checks the whole log")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen at; this machine's own by default")
    parser.add_argument("--port", type=int, default=8000, help="port to listen at, 0 for a free one; 8000 by default")
    parser.add_argument("--body", type=int, default=100_000, metavar="BYTES", help="largest body of a request")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long a body may take to arrive")
    return parser


def _named(text: str) -> Any:
    """Return the object at ``module:name``, or the policy that it makes."""
    allowed = "policy must be module:name of a policy, or of a function without arguments that makes one"
    module, colon, name = text.partition(":")
    if not (module and colon and name):
        raise ValueError(f"{allowed}, such as fairlib:ucb1, not {text!r}")
    try:
        found = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there, and lacks another
        raise ValueError(f"{allowed}; there is no module {error.name!r}") from error
    except AttributeError as error:
        raise ValueError(f"{allowed}; {module} has no {name!r}") from error
    return found() if callable(found) else found


def _main(arguments: Sequence[str] | None = None) -> None:
    """Start a service and its server, and close the service when the server ends."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        import uvicorn

        from fairlib.deploy.http import app
    except ModuleNotFoundError as error:
        parser.error(f"the command needs the extra `service` of the package: {error}")
    try:
        if not 0 <= given.port < 2**16:
            raise ValueError(f"port must be a whole number from 0 to 65535, not {given.port}")
        more = {name: getattr(given, name) for name in ("dimension", "horizon", "rewards", "seed", "snapshot_every")}
        service = Service(given.path, _named(given.policy), given.arms, **more)
    except (TypeError, ValueError, ServiceError) as error:
        parser.error(str(error))
    with closing(service):
        try:
            front = app(service, body=given.body, seconds=given.seconds)
        except (TypeError, ValueError) as error:
            parser.error(str(error))
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # which uvicorn raises again when it has ended
        # Beyond this many connections the answer is 503, before they take all of the machine's.
        uvicorn.run(front, host=given.host, port=given.port, limit_concurrency=1000, server_header=False)


if __name__ == "__main__":
    _main()
