"""The built book, served on this machine, and its pages in a browser."""

import functools
import http.server
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from pages.browsing import ROOT, View, errors, network, visit

FAULTS = b"""<script>
window.faults = [];
const error = console.error;
console.error = (...said) => { faults.push(said.join(" ")); error(...said); };
const absent = ({ src, href }) => `${src ?? href} is not there`;
addEventListener("error", ({ message, target }) => faults.push(message ?? absent(target)), true);
addEventListener("unhandledrejection", ({ reason }) => faults.push(String(reason)));
</script>"""


@pytest.fixture(scope="session")
def book() -> Path:
    """Return the folder of the built pages, built anew if anything has changed since."""
    if os.name == "nt" or not shutil.which("make"):
        pytest.skip(
            "the pages are built with make, which is not here or, on Windows, does not know the folders of .venv"
        )
    import fcntl  # not on Windows

    (ROOT / "_build").mkdir(exist_ok=True)
    with (ROOT / "_build" / "book.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until it is closed: two processes must not build it at the same time
        build = subprocess.run(["make", "_build/book.done"], cwd=ROOT, capture_output=True, text=True, check=False)
    if build.returncode:
        pytest.fail(f"the book does not build:\n{build.stdout[-3000:]}\n{build.stderr[-6000:]}", pytrace=False)
    return ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def site(book: Path) -> Iterator[str]:
    """Serve the pages on this machine alone; return their address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/favicon.ico":  # the browser asks for it of its own accord
                self.send_response(204)
                self.end_headers()
            elif self.path.endswith("?faults"):  # for browsers whose drivers don't tell what went wrong in a page
                text = Path(self.translate_path(self.path)).read_bytes().replace(b"<head>", b"<head>" + FAULTS, 1)
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)
            else:
                super().do_GET()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(book))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def view(request: pytest.FixtureRequest, site: str, browser: webdriver.Chrome) -> View:
    """Open a page once for all tests that look at it at this width."""
    page, scheme, width = request.param
    visit(browser, f"{site}/{page}", scheme, width)
    return View(page, scheme, width, *network(browser), errors(browser))
