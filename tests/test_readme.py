"""What README.md shows is what the project does."""

import re
from pathlib import Path
from typing import Any

import jupytext
import numpy as np

ROOT = Path(__file__).parents[1]


def test_the_picture_has_the_numbers_of_the_landing_page():
    cells = [cell for cell in jupytext.read(ROOT / "chapters" / "index.md").cells if cell.cell_type == "code"]
    page: dict[str, Any] = {}
    exec(cells[0].source.partition("\ncolours = ")[0], page)  # the simulation, without the slider
    ends = np.array([result.share[:, -1].mean(axis=0) for result in page["shares"].values()])
    drawn = re.findall(r">([\d.]+) %<", (ROOT / "chapters" / "assets" / "front-page.svg").read_text(encoding="utf-8"))
    assert [float(number) for number in drawn] == (100 * ends.T).round(1).ravel().tolist()


def test_the_examples_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # one of them saves a file
    code = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    world: dict[str, Any] = {}
    exec("\n".join(code).replace("1_000_000", "10_000"), world)
    assert re.match(r"\[[\d. e-]+\]\n1 \[0\] \[1.\]\n", capsys.readouterr().out)
    assert world["player"].seen.observed.tolist() == [1, 0, 0, 0, 0, 0]
    assert world["result"].share[:, -1, 0].mean() > 0.5
