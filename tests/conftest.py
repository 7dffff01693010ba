"""How Hypothesis draws in all test files, and the browser that several of them open pages in."""

import os
import shutil
from collections.abc import Iterator

import printing
import pytest
import strategies
from hypothesis import HealthCheck, settings
from selenium import webdriver

# The same examples in each run, and no other ones kept on a disk; where all are asked for, others each time. However
# slow the machine is, or the game to be built: that is no failure.
settings.register_profile(
    "fairlib",
    deadline=None,
    database=None,
    derandomize=not strategies.FULL,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fairlib")


# What takes longest, in this order: all else is handed out while it runs.
LONGEST = ["test_phones.py", "test_desk.py", "test_lab.py", "test_notebooks.py", "test_compilation.py", "test_rules.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let what takes longest begin first, or one worker waits for another in the end."""

    def turn(item: pytest.Item) -> tuple[bool, int]:
        name = item.path.name
        return item.path.parent.name in ("tests", "pages"), LONGEST.index(name) if name in LONGEST else len(LONGEST)

    items.sort(key=turn)  # what has one turn stays in order: chapters and doctests before the tests


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Start one browser for all tests; it can reach this machine only."""
    chrome = next(filter(None, map(shutil.which, printing.BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if not (chrome and driver):
        need = "the pages are tested in Chromium: install chromium (or Google Chrome) and chromedriver"
        if os.environ.get("FAIRLIB_REQUIRE_BROWSER") == "1":
            pytest.fail(need, pytrace=False)
        pytest.skip(need)
    options = webdriver.ChromeOptions()
    options.binary_location = chrome
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
        f"--user-data-dir={tmp_path_factory.mktemp('browser')}",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    browser.set_script_timeout(240)  # axe takes ten seconds on a long page, and far more on a busy machine
    yield browser
    browser.quit()
