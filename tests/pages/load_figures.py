"""What a chapter loads and how long it takes on a slow phone: ``.venv/bin/pytest -n0 -s tests/pages/load_figures.py``.

Seconds depend on the machine, so no test asks for them; `test_weight.py` does for the bytes.
"""

import time
from statistics import median
from urllib.parse import unquote

import pytest
from selenium import webdriver

from pages.browsing import use_screen, visit
from pages.test_weight import weights

SHOWN = ("shares", "delays", "api")
TIMES = """
const done = arguments[0];
const [paint] = performance.getEntriesByName("first-contentful-paint");
const { domContentLoadedEventEnd, loadEventEnd } = performance.getEntriesByType("navigation")[0];
const said = () => done([paint?.startTime, domContentLoadedEventEnd, loadEventEnd, rest, performance.now()]);
const seen = (part) => part.checkVisibility({ contentVisibilityAuto: true });
const all = () => [...document.querySelectorAll(".bd-article :is(h2, dt)")].every(seen);
let rest = 0;
const calm = () => requestIdleCallback(() => {
  rest ||= performance.now();
  return all() ? said() : setTimeout(calm, 20);
});
document.fonts.ready.then(() => requestAnimationFrame(calm));
"""


@pytest.mark.parametrize("page", SHOWN)
def test_figures(page: str, site: str, browser: webdriver.Chrome) -> None:
    """Print kilobytes, and seconds with the processor slowed four times: the median of three."""
    visit(browser, f"{site}/chapters/{page}.html", width=390, height=844)
    heavy = weights(browser, site)
    print(f"\n{page}: {sum(heavy.values()) / 1000:.0f} kB compressed")
    for name, size in sorted(heavy.items(), key=lambda each: -each[1])[:12]:
        print(f"    {size / 1000:6.1f}  {unquote(name)}")
    taken = []
    for _ in range(3):
        browser.get("about:blank")
        browser.execute_cdp_cmd("Network.clearBrowserCache", {})
        use_screen(browser, 390, 844)
        browser.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 4})
        started = time.perf_counter()
        browser.get(f"{site}/chapters/{page}.html")
        times = browser.execute_async_script(TIMES)
        taken.append((*times, 1000 * (time.perf_counter() - started)))
        browser.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 1})
    names = ("first paint", "scripts have run", "loaded", "at rest", "all laid out", "by the clock")
    middle = [median(each) / 1000 for each in zip(*taken, strict=True)]
    print("    " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in zip(names, middle, strict=True)))
