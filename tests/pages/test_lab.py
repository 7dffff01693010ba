"""The chapters as notebooks, and in JupyterLab."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import downloads
import jupytext
import nbformat
import pytest
from selenium import webdriver
from selenium.common.exceptions import ElementNotInteractableException, TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

import fairlib
from pages.browsing import ROOT, use_screen


def test_a_chapter_is_there_as_a_notebook(book: Path) -> None:
    for source in (ROOT / "chapters").glob("*.md"):
        cells = [cell.source for cell in jupytext.read(source).cells if cell.cell_type == "code"]
        notebook = book / "_sources" / "chapters" / f"{source.stem}.ipynb"
        assert notebook.exists() == bool(cells)
        if cells:
            chapter = nbformat.read(notebook, as_version=4)
            nbformat.validate(chapter)
            assert [cell.source for cell in chapter.cells if cell.cell_type == "code"] == cells
            first = chapter.cells[0].source
            assert f"version {fairlib.__version__}" in first, "it doesn't say which package it needs"
            assert "`pip install fairlib` brings another project" in first
            text = "\n".join(cell.source for cell in chapter.cells if cell.cell_type == "markdown")
            assert "$$" not in text, "JupyterLab would give it a number of its own"
            page = (book / "chapters" / f"{source.stem}.html").read_text(encoding="utf-8")
            boxes = re.findall(r"^:label: ([\w-]+)\n(?::enumerator: ([\d.]+)\n)?", text, re.MULTILINE)
            numbers = re.findall(
                r'id="([\w-]+)">\s*(?:<span.*</span>)?<p class="admonition-title"><span .*>\w+ (\S+) ', page
            )
            assert dict(boxes).items() <= dict(numbers).items(), "numbers are not those of the page"
            outputs = [output for cell in chapter.cells if cell.cell_type == "code" for output in cell.outputs]
            assert outputs, "it opens without what its cells came to"
            html = " ".join(output.get("data", {}).get("text/html", "") for output in outputs)
            assert not re.search("<(input|button|script|img)", html), "nothing would move it, or show it"
            drawn = [output["data"] for output in outputs if "image/svg+xml" in output.get("data", {})]
            assert all("image/png" in data for data in drawn), "JupyterLab shows no SVG of a notebook it does not trust"
            for linked in re.findall(r"\]\(([\w-]+\.ipynb)\)", text):
                assert (notebook.parent / linked).exists()


@pytest.fixture(scope="session")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the notebooks as `make lab` does, where nothing was executed; return their folder."""
    root = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "chapters", root / "chapters", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "benchmarks").mkdir()
    for path in (ROOT / "_config.yml", ROOT / "_toc.yml", *(ROOT / "benchmarks").glob("*.json")):
        shutil.copy(path, root / path.parent.relative_to(ROOT))
    command = re.findall(r"jupyter-book (build .* custom .*)", (ROOT / "Makefile").read_text(encoding="utf-8"))[0]
    options = command.removesuffix(" >/dev/null").split()
    made = subprocess.run(
        [Path(sys.executable).with_name("jupyter-book"), *options, "-W", "-n", "--keep-going"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not made.returncode, made.stdout[-3000:] + made.stderr[-3000:]
    return root / "notebooks"


def test_notebooks_are_complete(notebooks: Path, book: Path) -> None:
    assert {path.name for path in notebooks.iterdir()} == {
        path.name for path in (book / "_sources" / "chapters").glob("*.ipynb")
    }
    for path in notebooks.iterdir():
        chapter, download = (nbformat.read(at, 4) for at in (path, book / "_sources" / "chapters" / path.name))
        assert "Run All Cells" in chapter.cells[0].source
        first = re.sub(r" It needs the package .*", "", download.cells[0].source)  # which `make lab` has installed
        assert [cell.source for cell in chapter.cells] == [first, *(cell.source for cell in download.cells[1:])]
        text = "\n".join(cell.source for cell in chapter.cells if cell.cell_type == "markdown")
        assert set(re.findall(r"\{([\w:]+)\}`", text)) <= {"eq"}, "references that only the book resolves"
        assert "{solution-" not in text, "a box that ends in another cell"
        for cell in chapter.cells:
            assert "def bursts(" not in cell.source or cell.metadata["jupyter"]["outputs_hidden"], "a solution is open"


def test_a_reader_keeps_what_was_written_in_a_notebook(tmp_path: Path) -> None:
    def chapter(text: str) -> nbformat.NotebookNode:
        made: nbformat.NotebookNode = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text)])
        return made

    path = tmp_path / "chapter.ipynb"

    def now() -> str:
        return str(nbformat.read(path, as_version=4).cells[0].source)

    downloads.leave(chapter("1"), path)
    assert now() == "1"
    own = nbformat.read(path, as_version=4)
    own.cells[0].source = "mine"
    nbformat.write(own, path)
    downloads.leave(chapter("2"), path)
    assert now() == "mine"


@pytest.fixture
def lab(tmp_path: Path, notebooks: Path, browser: webdriver.Chrome) -> Iterator[str]:
    """Start JupyterLab with no settings of its own; return its address."""
    folders = {
        f"JUPYTER{name}": str(tmp_path / name)
        for name in ("_CONFIG_DIR", "_RUNTIME_DIR", "LAB_SETTINGS_DIR", "LAB_WORKSPACES_DIR")
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"]
    command += [
        f"--ServerApp.root_dir={notebooks.parent}",
        "--IdentityProvider.token=",
        "--LabApp.expose_app_in_browser=True",
    ]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | folders
    settings = tmp_path / "LAB_SETTINGS_DIR" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"windowingMode": "none"}', encoding="utf-8")  # cells stay when they are out of sight
    with (tmp_path / "log").open("w") as log, subprocess.Popen(command, env=env, stdout=log, stderr=log) as server:
        try:
            for _ in range(600):
                if running := [*tmp_path.glob("_RUNTIME_DIR/jpserver-*.json")]:
                    break
                time.sleep(0.1)
            yield json.loads(running[0].read_text(encoding="utf-8"))["url"]
        finally:
            browser.get("about:blank")  # or JupyterLab's page goes on asking for a server that is gone
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:  # it may wait for a kernel without an end
                server.kill()


OPEN = """
const [path, end, done] = arguments;
const { commands, restored } = window.jupyterapp;
(async () => {
  await restored;
  const kernelPreference = { shouldStart: false, canStart: false };
  const chapter = await commands.execute("docmanager:open", { path, factory: "Notebook", kernelPreference });
  const shown = () => chapter.node.querySelector(".myst");
  while (!shown()?.textContent.includes(end)) await new Promise((again) => setTimeout(again, 100));
  const words = [];
  const walk = document.createTreeWalker(shown(), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) if (!walk.currentNode.parentNode.closest(".katex")) words.push(walk.currentNode.data);
  const boxes = shown().querySelectorAll("[class*=text-red-], .katex-error");
  const wrong = [...boxes].map((box) => box.parentNode.innerText);
  chapter.dispose();
  done([words.join(""), wrong]);
})().catch((error) => done(["", [String(error)]]));
"""


def test_jupyterlab_shows_every_notebook(lab: str, browser: webdriver.Chrome, notebooks: Path) -> None:
    """The text is one cell here: JupyterLab renders all cells again after each, which takes minutes."""
    use_screen(browser, 1280, 900)
    browser.get(f"{lab}lab")
    WebDriverWait(browser, 60).until(lambda browser: browser.execute_script("return !!window.jupyterapp"))
    browser.set_script_timeout(100)
    browser.get_log("browser")
    text, end, found = notebooks.with_name("text"), "This is the end.", {}
    text.mkdir()
    for path in sorted(notebooks.iterdir()):
        chapter = nbformat.read(path, as_version=4)
        prose = [cell.source for cell in chapter.cells if cell.cell_type == "markdown"]
        chapter.cells = [nbformat.v4.new_markdown_cell("\n\n".join([*prose, end]))]
        nbformat.write(chapter, text / path.name)
        words, wrong = browser.execute_async_script(OPEN, f"text/{path.name}", end)
        wrong += re.findall(r"</?[a-z]+[ >/].{0,40}", words)
        wrong += [entry["message"] for entry in browser.get_log("browser") if "control sequence" in entry["message"]]
        found[path.name] = wrong
    browser.set_script_timeout(20)
    assert len(found) > 20
    assert not {name: wrong for name, wrong in found.items() if wrong}


STATE = """
const { x, y, width, height } = arguments[0].getBoundingClientRect();
const focused = document.activeElement.outerHTML.slice(0, 200);
const tabs = [...document.querySelectorAll(".lm-DockPanel-tabBar .lm-TabBar-tab")].map((tab) => tab.outerHTML);
const dialogs = [...document.querySelectorAll("[role=dialog], dialog")].map((dialog) => dialog.innerText);
return JSON.stringify({ x, y, width, height, focused, tabs, dialogs });
"""


def test_a_chapter_runs_in_jupyterlab(lab: str, browser: webdriver.Chrome) -> None:
    use_screen(browser, 1280, 900)
    browser.get(f"{lab}lab")
    WebDriverWait(browser, 60).until(lambda browser: browser.execute_script("return !!window.jupyterapp"))
    browser.set_script_timeout(400)
    browser.execute_async_script(
        """
        const done = arguments[0];
        const { commands, restored } = window.jupyterapp;
        (async () => {
          await restored;
          const kernelPreference = { name: "python3", autoStartDefault: true };
          const chapter = await commands.execute(
            "docmanager:open", { path: "notebooks/shares.ipynb", factory: "Notebook", kernelPreference });
          await chapter.context.ready;
          await chapter.sessionContext.ready;
          await commands.execute("notebook:run-all-cells");
        })().then(() => done(), done);
        """
    )
    browser.set_script_timeout(20)
    wrong = browser.find_elements(By.CSS_SELECTOR, ".jp-OutputArea-output[data-mime-type*=error]")
    assert not [output.text for output in wrong]
    for here in browser.find_elements(By.CSS_SELECTOR, ".jp-MarkdownCell a[href^='#']"):
        assert browser.find_elements(By.ID, (here.get_attribute("href") or "").partition("#")[2])
    first = browser.find_element(By.CSS_SELECTOR, ".jp-CodeCell")
    assert first.find_elements(By.CSS_SELECTOR, ".jp-InputPlaceholder"), "the code is not folded"
    assert not first.find_elements(By.CSS_SELECTOR, ".jp-InputArea-editor")

    def picture(slider: WebElement, what: str = "src") -> str | None:
        script = f"return arguments[0].closest('.jp-OutputArea').querySelector('img')?.{what}"
        found: str | None = browser.execute_script(script, slider)
        return found

    def move_to_the_end(slider: WebElement) -> bool:
        slider.send_keys(Keys.END)
        return True

    sliders = browser.find_elements(By.CSS_SELECTOR, ".jp-OutputArea :is([role=slider], .widget-dropdown select)")
    assert len(sliders) == 3
    # What a page computes by itself the kernel computes here.
    moved = (
        "16 per cent promised",
        "learner Thompson sampling, tolerance 2:",
        "learner Thompson sampling, tolerance 20:",
    )
    for slider, said in zip(sliders, moved, strict=True):
        before = (None, picture(slider))
        try:  # a key brings the slider into sight, where JupyterLab may still be about to lay it out
            WebDriverWait(slider, 20, 0.1, [ElementNotInteractableException]).until(move_to_the_end)
        except TimeoutException:
            pytest.fail(f"the control that sets {said!r} takes no key: {browser.execute_script(STATE, slider)}")
        for _ in range(600):
            if (now := picture(slider)) not in before:
                break
            time.sleep(0.1)
        assert now not in before, "the picture stays"
        assert said in str(picture(slider, "alt"))
