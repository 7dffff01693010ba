"""A log, from whatever it is made of: named columns, named arms, and a rule for what is missing."""

import importlib.util
import itertools
import json
from collections import namedtuple
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import fairlib as fl
from fairlib import Log

FRAME = pd.DataFrame({"arm": [0, 1, 0], "reward": [1.5, -2.0, 0.5], "propensity": [0.5, 0.25, 0.5], "day": [7, 8, 9]})
THEIRS = {"arm": "item", "reward": "click", "propensity": "p"}
ROWS = FRAME.rename(columns=THEIRS).to_dict("records")
Row = namedtuple("Row", ["item", "click", "p", "day"])


class Frame:
    """A frame as polars has it: columns by their names, and no method of pandas."""

    columns = tuple(ROWS[0])

    def __getitem__(self, name):
        return [each[name] for each in ROWS]


@pytest.mark.parametrize(
    "table",
    [
        FRAME.rename(columns=THEIRS),
        ROWS,
        (Row(**each) for each in ROWS),
        {name: [each[name] for each in ROWS] for name in ROWS[0]},
        Frame(),
    ],
    ids=["data frame", "dicts", "named tuples", "columns", "another frame"],
)
def test_a_log_is_made_of_any_table(table):
    log = Log(table, THEIRS)
    pd.testing.assert_frame_equal(log.table, FRAME)
    assert (len(log), log.arms, log.dropped) == (3, None, 0)
    assert repr(log) == "Log: 3 rows"


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "json"])
def test_a_file_is_read_as_its_ending_says(tmp_path, ending):
    path = tmp_path / f"log.{ending}"
    if "csv" in ending:
        pd.DataFrame(ROWS).to_csv(path, index=False)
    else:
        path.write_text(json.dumps(ROWS) if ending == "json" else "\n\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    pd.testing.assert_frame_equal(Log(path, THEIRS).table, FRAME)
    assert fl.evaluate(Log(str(path), THEIRS), [0.5, 0.5], method="ips").reward.value == pytest.approx(-2 / 3)


def test_numbers_of_a_database_are_taken():
    log = Log(FRAME.assign(reward=[Decimal(f"{each}") for each in FRAME["reward"]]))
    pd.testing.assert_frame_equal(log.table, FRAME)


def test_parquet_is_read_by_pandas_which_says_what_it_needs(tmp_path):
    path = tmp_path / "log.parquet"
    if importlib.util.find_spec("pyarrow"):
        FRAME.to_parquet(path)
        pd.testing.assert_frame_equal(Log(path).table, FRAME)
    else:
        path.touch()
        with pytest.raises(ImportError, match="pyarrow"):
            Log(path)


def test_arms_have_names():
    named = FRAME.assign(arm=["tea", "coffee", "tea"])
    assert Log(named).arms == ("coffee", "tea")
    assert Log(named).table["arm"].tolist() == [1, 0, 1]
    menu = Log(named, arms=["tea", "water", "coffee"])
    assert menu.table["arm"].tolist() == [0, 2, 0]
    assert repr(menu) == "Log: 3 rows of 3 arms"
    numbered = Log(FRAME.assign(arm=[205.0, 101.0, 205.0]), arms=np.array([101, 205]))
    assert (numbered.arms, numbered.table["arm"].tolist()) == ((101, 205), [1, 0, 1])
    assert Log(FRAME, arms=4).arms == (0, 1, 2, 3)


def test_rows_that_lack_something_are_refused_or_dropped_and_counted():
    gaps = FRAME.assign(arm=["tea", None, "tea"], reward=[1.0, 2.0, np.nan])
    said = r'^reward of log must be there in each row, and is not in row 2 \(1 such rows in all\): give missing="drop"'
    with pytest.raises(ValueError, match=said):
        Log(gaps.assign(arm=0))
    log = Log(gaps, missing="drop")
    assert (len(log), log.dropped, log.arms) == (1, 2, ("tea",))
    assert repr(log) == "Log: 1 row of 1 arm, 2 rows dropped"
    with pytest.raises(ValueError, match=r"^log must have a row that lacks nothing, and has none"):
        Log(gaps.assign(propensity=None), missing="drop")


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"table": 7}, TypeError, "table must be a data frame, the rows of a log, or the path of a file, not 7"),
        ({"table": []}, ValueError, "log must have a column 'arm' for its arm, and has none: give your names as"),
        ({"table": [(0, 1.0, 0.5)]}, ValueError, "log must have a column 'arm' for its arm, and has 0, 1, 2"),
        ({"table": FRAME[:0]}, ValueError, "log must have a row"),
        ({"columns": ["arm"]}, TypeError, "columns must be names by names"),
        ({"columns": {"arm": "item"}}, ValueError, "log must have a column 'item' for its arm, and has arm, reward"),
        ({"columns": {"visit": "page"}}, ValueError, "log must have a column 'page' for its visit"),
        ({"missing": "ignore"}, ValueError, "missing must be 'raise' or 'drop', not 'ignore'"),
        ({"arms": 1}, ValueError, r"arm of log must be one of \[0\], not 1 \(row 1\)"),
        ({"arms": ["tea"]}, ValueError, r"arm of log must be one of \['tea'\], not 0 \(row 0\)"),
        ({"arms": [0, 0]}, ValueError, "arms must be different names, at least one"),
        ({"arms": "tea"}, TypeError, "arms must be a number or a list of names, not 'tea'"),
        ({"arms": 0}, ValueError, "arms must be a whole number of at least 1, not 0"),
        ({"table": FRAME.assign(arm=[0, -1, 0])}, ValueError, r"arm of log must .* at least 0, not -1 \(row 1\)"),
        (
            {"table": FRAME.assign(arm=[0, 2**63, 0])},
            ValueError,
            r"arm of log must .* not 9223372036854775808 \(row 1\)",
        ),
        ({"table": FRAME.assign(arm=[0, 0.5, 0])}, ValueError, r"arm of log must .* not 0.5 \(row 1\)"),
        ({"table": FRAME.assign(arm=[0, "tea", 0])}, ValueError, r"arm of log must .* not 'tea' \(row 1\)"),
        ({"table": FRAME.assign(arm=[True, False, True])}, ValueError, r"arm of log must .* not (np\.)?True"),
        ({"table": FRAME.assign(arm=[[0], [1], [0]])}, TypeError, r"arm of log must .* not \[0\] \(row 0\)"),
        ({"table": FRAME.assign(reward="1")}, TypeError, "reward of log must be a list of numbers, one a row"),
        ({"table": FRAME.assign(reward=np.inf)}, ValueError, r"reward of log must be numbers, not inf \(row 0\)"),
        ({"table": FRAME.assign(propensity=[0.5, 0, 1])}, ValueError, r"propensity of log .*, not 0.0 \(row 1\)"),
        ({"table": FRAME.assign(propensity=1.5)}, ValueError, r"propensity of log must .*, not 1.5 \(row 0\)"),
    ],
    ids=itertools.count(),
)
def test_what_is_no_log_is_refused_by_name(given, kind, message):
    with pytest.raises(kind, match=f"^{message}"):
        Log(**{"table": FRAME, **given})
