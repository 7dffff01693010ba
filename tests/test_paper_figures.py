"""`make figures`: what it plays, what it writes, and that it names a curve which is not the book's."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import paper_figures
import pytest
from scipy.stats import ttest_ind

import fairlib as fl

ROOT = Path(__file__).parents[1]
PAGE = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {display_name: Python 3, language: python, name: python3}
---
# A page

```{code-cell} ipython3
import matplotlib.pyplot as plt

import fairlib as fl
from fairlib.pages import curve, use_style

use_style()
elsewhere = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.uniform(), 100, runs=2)
```

```{code-cell} ipython3
:name: two-arms
result = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.uniform(), 1000, runs=20, seed=3)
assert (result.seed, result.reward.shape[0]) == (3, 20)
fig, ax = plt.subplots()
curve(ax, result.rounds, result.regret, "uniform")
plt.show()
assert elsewhere.reward.shape[0] == 2
```
"""


@pytest.fixture
def small(tmp_path):
    """Make a book of one page and three figures, one of which needs data that must be brought."""
    folder = tmp_path / "chapters"
    folder.mkdir()
    (folder / "page.md").write_text(PAGE, encoding="utf-8")
    said = 'one,two-arms,1000,50,"1,000 by 20",…', "two,,,,,…", 'three,two-arms,,,"1,000 by 30",…'
    (folder / "figures.csv").write_text("\n".join(["id,pictures,rounds,runs,book,claim", *said]), encoding="utf-8")
    kinds = {"one": "simulated as in the paper", "two": "a stand-in", "three": "simulated as in the paper"}
    items = [f"{name},1,Figure {name},figure,,{data}" for name, data in kinds.items()]
    (folder / "items.csv").write_text("\n".join(["id,paper,number,kind,test,data", *items]), encoding="utf-8")
    return tmp_path


def test_a_figure_is_played_anew_drawn_written_and_compared(small, capsys):
    here = Path.cwd()
    assert paper_figures.main(small) == 1
    assert Path.cwd() == here
    printed = capsys.readouterr().out
    assert "one: 1,000 by 50; in the book 1,000 by 20" in printed
    assert "1 assertions" in printed
    assert "page.md, two-arms: assert (result.seed, result.reward.shape[0]) == (3, 20)" in printed
    assert "no chapter plays them: Figure two of paper 1" in printed
    assert "three: figures.csv says that the book has '1,000 by 30'" in printed
    folder = small / "_build" / "figures"
    assert {path.name for path in folder.glob("one.*")} == {"one.csv", "one.json", "one.two-arms.svg"}
    assert not list(folder.glob("two.*"))
    assert (folder / "one.two-arms.svg").read_text(encoding="utf-8").startswith("<?xml")
    (series,) = json.loads((folder / "one.json").read_text(encoding="utf-8"))["series"].values()
    assert (series["runs"], series["runs of the book"], series["horizon"]) == (50, 20, 1000)
    game = fl.Bandit(fl.bernoulli([0.9, 0.5]))
    table = pd.read_csv(folder / "one.csv").set_index(["quantity", "round"]).loc[("regret", 1000)]
    for seed, runs, of in ((3, 20, " of the book"), (series["seed"], 50, "")):
        regret = fl.estimate(fl.simulate(game, fl.uniform(), 1000, runs=runs, seed=seed).regret[:, -1])
        assert np.allclose(table[[f"mean{of}", f"error{of}"]].astype(float), (regret.mean, regret.error))


def series(factor: float = 1.0) -> paper_figures.Series:
    """Two policies' worth of numbers, of which what is played anew may be off by a factor."""
    game = fl.Bandit(fl.bernoulli([0.9, 0.5]))
    book, made = (fl.simulate(game, fl.uniform(), 1000, runs=50, seed=seed) for seed in (1, 2))
    found = paper_figures.compared("cell", "uniform", (made, 0.1), (book, 0.2))
    table = found.numbers
    regret = table.index.get_level_values("quantity") == "regret"
    table.loc[regret, ["mean", "error"]] *= factor
    return found


def test_a_curve_that_is_five_per_cent_off_is_named():
    good = series()
    assert paper_figures.differ({"figure": [good, good]})[0] == []
    found, count = paper_figures.differ({"figure": [good, series(1.05)], "another": [good]})
    assert count == 3 * len(paper_figures.MOMENTS) * 2  # reward and regret of three
    assert found
    assert all("figure, Policy('uniform')" in each and ", regret after round" in each for each in found)


def test_two_means_are_as_far_apart_as_in_students_test():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=5), rng.normal(1, 1, 30)
    index = pd.MultiIndex.from_product([[10], ["regret"]], names=["round", "quantity"])
    columns: dict[str, float] = {}
    for of, values in (("", one), (" of the book", other)):
        said = fl.estimate(values)
        columns |= {f"mean{of}": said.mean, f"error{of}": said.error, f"runs{of}": len(values)}
    (row,) = paper_figures.distances(pd.DataFrame(columns, index=index)).itertuples(index=False)
    assert np.isclose(row.apart, abs(ttest_ind(one, other).statistic))
    assert row.free == 33


def test_every_figure_that_needs_no_download_is_made():
    with (ROOT / "chapters" / "figures.csv").open(newline="", encoding="utf-8") as file:
        table = {row["id"]: row for row in csv.DictReader(file)}
    made, left_out = paper_figures.to_make(ROOT)
    assert len(made) + len(left_out) == len(table)
    for key, row in table.items():
        assert bool(row["book"]) == (key in made), "what the book plays is said of those that are made"
        assert key not in made or row["pictures"], "nothing would be made of it"
        rounds = row["rounds"].partition(" ")[0] if key in made else ""
        assert f"; {rounds}" in f"; {row['book']}", "it is played over other rounds than the paper's"
