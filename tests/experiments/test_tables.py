"""The tables and figures of docs/reproduction.md are those of the CSV files beside it."""

import re
from pathlib import Path

import numpy as np
import pytest

from experiments.__main__ import EXPERIMENTS
from experiments.results import read_rows
from experiments.tables import TABLES, markdown

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "reproduction"
#: Its figure has pictures, which the table has not.
DRAWN = [name for name in EXPERIMENTS if name != "restoration"]


def test_every_experiment_has_a_table():
    assert set(TABLES) == set(EXPERIMENTS)


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_those_of_the_rows(name):
    text = (DOCS / "reproduction.md").read_text()
    rows = read_rows(FOLDER / f"{name}.csv")
    for table in TABLES[name]:
        lines = markdown(table(rows))
        assert "\n".join(lines) in text


def coordinates(path):
    """Return all coordinates of the curves of a figure."""
    paths = re.findall(r' d="([^"]*)"', path.read_text())
    return np.array([float(number) for each in paths for number in re.findall(r"-?\d+\.\d+", each)])


@pytest.mark.parametrize("name", DRAWN)
def test_figures_are_those_of_the_rows(name, tmp_path, capsys):
    EXPERIMENTS[name].report(read_rows(FOLDER / f"{name}.csv"), tmp_path)
    capsys.readouterr()
    again, kept = coordinates(tmp_path / f"{name}.svg"), coordinates(FOLDER / f"{name}.svg")
    assert again.shape == kept.shape
    np.testing.assert_allclose(again, kept, atol=0.05)
