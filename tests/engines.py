"""The browsers in which pages are tested, by Selenium: Chromium, Firefox and WebKitGTK, on this machine alone."""

import contextlib
import itertools
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import printing
import pytest
from selenium import webdriver
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.remote_connection import RemoteConnection

CHROMIUM, FIREFOX, WEBKIT = "chromium", "firefox", "webkit"
in_every_browser = pytest.mark.parametrize("browser", [CHROMIUM, FIREFOX, WEBKIT], indirect=True)
LONGEST = 300  # seconds that anything may take
NOWHERE = "127.0.0.1:9"  # where nothing listens: the proxy for all but this machine


class AbsentError(Exception):
    """A browser, or what drives it, is not installed."""


def _installed(*names: str) -> str:
    """Return the path of the first program that there is."""
    found = next(filter(None, map(shutil.which, names)), None)
    if not found:
        raise AbsentError
    return found


@contextlib.contextmanager
def ending(process: subprocess.Popen[Any]) -> Iterator[subprocess.Popen[Any]]:
    """Let a process end with the block, by force if it doesn't in half a minute."""
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(30)


@contextlib.contextmanager
def _chromium(folder: Path) -> Iterator[webdriver.Remote]:
    options = webdriver.ChromeOptions()
    options.binary_location = _installed(*printing.BROWSERS)
    for argument in (
        "--headless",
        "--no-sandbox",  # or it does not start for root, as in a container
        "--disable-gpu",
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        f"--user-data-dir={folder}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(_installed("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as browser:
        yield browser


# Debian has Firefox but not its driver. Marionette, which the driver talks to, speaks WebDriver under other names.
_MARIONETTE = {
    "newSession": "NewSession",
    "setTimeouts": "SetTimeouts",
    "get": "Navigate",
    "getTitle": "GetTitle",
    "getCurrentUrl": "GetCurrentURL",
    "setWindowRect": "SetWindowRect",
    "getWindowRect": "GetWindowRect",
    "w3cExecuteScript": "ExecuteScript",
    "w3cExecuteScriptAsync": "ExecuteAsyncScript",
    "findElement": "FindElement",
    "findElements": "FindElements",
    "findChildElement": "FindElement",
    "findChildElements": "FindElements",
    "w3cGetActiveElement": "GetActiveElement",
    "clickElement": "ElementClick",
    "clearElement": "ElementClear",
    "sendKeysToElement": "ElementSendKeys",
    "getElementText": "GetElementText",
    "getElementTagName": "GetElementTagName",
    "getElementProperty": "GetElementProperty",
    "getElementRect": "GetElementRect",
    "getElementAriaLabel": "GetComputedLabel",
    "actions": "PerformActions",
    "clearActionState": "ReleaseActions",
    "screenshot": "TakeScreenshot",
}


class Marionette:
    """Sends Selenium's commands to a Firefox that was started with ``--marionette``."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), LONGEST)
        self._stream = self._socket.makefile("rwb")
        self._ids = itertools.count(1)
        self._read()  # it says who it is

    def _read(self) -> Any:
        long = b""
        while (digit := self._stream.read(1)) != b":":
            if not digit:
                raise ConnectionError("Firefox has ended")
            long += digit
        return json.loads(self._stream.read(int(long)))

    def execute(self, command: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a command, and return its answer as a driver would."""
        if command == "quit":
            return {"value": None}
        given = {name: value for name, value in params.items() if name != "sessionId"}
        if command == "newSession":
            given = given["capabilities"]["alwaysMatch"]
        if command.startswith("findChild"):
            given["element"] = given.pop("id")
        message = json.dumps([0, next(self._ids), f"WebDriver:{_MARIONETTE[command]}", given]).encode()
        self._stream.write(b"%d:%s" % (len(message), message))
        self._stream.flush()
        _, _, error, result = self._read()
        if error:
            return {"status": 500, "value": json.dumps({"value": error})}
        return {"value": result["value"] if isinstance(result, dict) and set(result) == {"value"} else result}

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()
        self._socket.close()


PREFERENCES: dict[str, Any] = {
    "marionette.port": 0,  # one that is free, which it writes into a file
    "network.proxy.type": 1,
    "network.proxy.http": NOWHERE.partition(":")[0],
    "network.proxy.http_port": int(NOWHERE.partition(":")[2]),
    "network.proxy.ssl": NOWHERE.partition(":")[0],
    "network.proxy.ssl_port": int(NOWHERE.partition(":")[2]),
    "network.proxy.no_proxies_on": "127.0.0.1",
    "ui.prefersReducedMotion": 1,
}


@contextlib.contextmanager
def _firefox(folder: Path) -> Iterator[webdriver.Remote]:
    program = _installed("firefox-esr", "firefox")
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()]
    (folder / "user.js").write_text("".join(lines), encoding="utf-8")
    command = [program, "--headless", "--marionette", "--no-remote", "--profile", str(folder)]
    started = subprocess.Popen(
        command, env={**os.environ, "HOME": str(folder)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    with ending(started) as process:
        place = folder / "MarionetteActivePort"
        _wait(lambda: place.exists() and place.read_text(encoding="utf-8"), process)
        with contextlib.closing(Marionette(int(place.read_text(encoding="utf-8")))) as marionette:
            yield webdriver.Remote(marionette, options=webdriver.FirefoxOptions())  # type: ignore[arg-type]


def _wait(done: Callable[[], object], process: subprocess.Popen[Any]) -> None:
    end = time.monotonic() + 120
    while not done():
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"{process.args!r} did not start")
        time.sleep(0.05)


@contextlib.contextmanager
def _webkit(folder: Path) -> Iterator[webdriver.Remote]:
    driver, screen = _installed("WebKitWebDriver"), _installed("Xvfb")
    browsers = [*Path("/usr/lib").glob("*/webkit2gtk-4.*/MiniBrowser"), *Path("/usr/libexec").glob("*/MiniBrowser")]
    if not browsers:
        raise AbsentError
    shown = folder / "display"
    with shown.open("wb") as out:
        started = subprocess.Popen(
            [screen, "-displayfd", str(out.fileno()), "-screen", "0", "1600x1400x24", "-nolisten", "tcp"],
            pass_fds=[out.fileno()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    with ending(started) as process:
        _wait(lambda: shown.read_text(encoding="utf-8").endswith("\n"), process)
        own = {name: str(folder) for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
        display = {"DISPLAY": f":{shown.read_text(encoding='utf-8').strip()}", "GDK_BACKEND": "x11"}
        # In this language, navigator.language is "C", which is none.
        service = webdriver.WebKitGTKService(driver, env={**os.environ, **own, **display, "LC_ALL": "C"})
        options = webdriver.WebKitGTKOptions()
        options.binary_location = str(browsers[0])
        for argument in ("--automation", f"--proxy=http://{NOWHERE}", "--ignore-host=127.0.0.1"):
            options.add_argument(argument)
        service.start()
        try:
            # Selenium's own class for it makes this connection in a way of which Selenium itself warns.
            config = ClientConfig(remote_server_addr=service.service_url, timeout=LONGEST)
            with webdriver.Remote(RemoteConnection(client_config=config), options=options) as browser:
                yield browser
        finally:
            service.stop()


_START = {CHROMIUM: _chromium, FIREFOX: _firefox, WEBKIT: _webkit}
_NEEDS = {
    CHROMIUM: "chromium (or Google Chrome) and chromedriver; on Debian: chromium chromium-driver",
    FIREFOX: "Firefox; on Debian: firefox-esr",
    WEBKIT: "WebKitGTK's driver, MiniBrowser and Xvfb; on Debian: webkit2gtk-driver xvfb",
}


class Engines:
    """The browsers, each started when it is first asked for."""

    def __init__(self, new_folder: Callable[[str], Path]) -> None:
        self._new_folder = new_folder
        self._started: dict[str, webdriver.Remote] = {}
        self._all = contextlib.ExitStack()

    def get(self, name: str) -> webdriver.Remote:
        """Return a browser; skip the test, or let it fail, if it is not installed."""
        if name not in self._started:
            try:
                browser = self._all.enter_context(_START[name](self._new_folder(name)))
            except AbsentError:
                need = f"the pages are tested in {name} too: install {_NEEDS[name]}"
                if os.environ.get("FAIRLIB_REQUIRE_BROWSER") == "1":
                    pytest.fail(need, pytrace=False)
                pytest.skip(need)
            self._started[name] = browser
        self._started[name].set_script_timeout(240)  # axe takes ten seconds on a long page, more on a busy machine
        return self._started[name]

    def close(self) -> None:
        """End them."""
        self._all.close()


def is_chromium(browser: webdriver.Remote) -> bool:
    """Return whether it has Chromium's own commands."""
    return isinstance(browser, webdriver.Chrome)
