"""The HTML of a table: what it names for a screen reader, and how its columns are aligned."""

from xml.etree import ElementTree

from fairlib.pages import Table


def test_the_html_names_rows_and_columns_and_aligns_numbers():
    shown = Table({"policy": name, "T": rounds, "regret": text} for name, rounds, text in ROWS)._repr_html_()
    table = ElementTree.fromstring(shown)[0]
    cells = [list(line) for line in table.iter("tr")]
    assert [[(cell.tag, cell.get("scope")) for cell in line] for line in cells] == [
        [("th", "col")] * 3,
        *[[("th", "row"), ("td", None), ("td", None)]] * 2,
    ]
    assert [cell.text for cell in cells[1]] == ["<UCB1> & more", "20,000", "41 ± 2\u2007"]
    assert [cell.text for cell in cells[2]] == ["uniform", "5", "-3 ± 10"]
    assert [cell.get("style") for cell in cells[1]] == ["text-align: left", None, None]


ROWS = [("<UCB1> & more", 20_000, "41 ± 2"), ("uniform", 5, "-3 ± 10")]
