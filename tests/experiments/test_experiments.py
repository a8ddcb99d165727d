"""Every experiment in its smallest form, interrupted and resumed."""

import sys

import numpy as np
import pytest
from PIL import Image

from experiments import __main__ as program
from experiments.results import Results, ResultsError


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["experiments", *map(str, arguments)])
    return program.main()


@pytest.mark.parametrize("name", program.EXPERIMENTS)
def test_every_experiment_runs_draws_and_is_not_done_twice(name, tmp_path, monkeypatch, capsys):
    command = ("run", name, "--scale", "smoke", "--out", tmp_path, "--method", "K-SVD")
    assert run(monkeypatch, *command) == 0
    printed = capsys.readouterr().out
    folder = tmp_path / "smoke"
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / f"{name}.svg").read_text()
    table = (folder / f"{name}.csv").read_text()
    assert run(monkeypatch, *command) == 0
    assert (folder / f"{name}.csv").read_text() == table
    assert capsys.readouterr().out == printed


def test_list_names_them_all(monkeypatch, capsys):
    assert run(monkeypatch, "list") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(program.EXPERIMENTS)


@pytest.mark.parametrize("number", ["0", "-3", "few"])
def test_no_trials_are_refused_in_words(number, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        run(monkeypatch, "run", "average", f"--trials={number}")
    assert f"the number of trials must be at least 1, but is {number}." in capsys.readouterr().err


def test_photographs_may_come_from_a_folder(tmp_path, monkeypatch, capsys):
    pictures = tmp_path / "pictures" / "deep"
    pictures.mkdir(parents=True)
    noise = np.random.default_rng(0).integers(0, 255, (120, 130, 3), dtype=np.uint8)
    Image.fromarray(noise).save(pictures / "noise.jpg")
    command = ("run", "average", "--scale", "smoke", "--out", tmp_path / "out")
    assert run(monkeypatch, *command, "--images", tmp_path / "pictures") == 0
    capsys.readouterr()
    assert run(monkeypatch, *command) == 1
    assert "choose another folder with --out" in capsys.readouterr().err
    elsewhere = tmp_path / "elsewhere" / "pictures"
    elsewhere.mkdir(parents=True)
    assert run(monkeypatch, *command, "--images", elsewhere) == 1
    assert "choose another folder with --out" in capsys.readouterr().err
    (pictures / "noise.jpg").unlink()
    assert run(monkeypatch, *command, "--images", tmp_path / "pictures") == 1
    assert "There is no picture in" in capsys.readouterr().err


def test_rows_of_a_task_that_was_broken_off_are_left_out(tmp_path):
    results = Results(tmp_path, "some", "here")
    results.add("first", [{"a": 1, "b": "x"}, {"a": 2.5, "b": "y"}])
    with (tmp_path / "some.csv").open("a") as file:
        file.write("second,3,z\n")
    again = Results(tmp_path, "some", "here")
    assert "first" in again and "second" not in again
    assert again.rows(["first"]) == [{"a": 1, "b": "x"}, {"a": 2.5, "b": "y"}]
    again.add("second", [{"a": 3, "b": "z"}])
    assert Results(tmp_path, "some", "here").rows(["second"]) == [{"a": 3, "b": "z"}]
    with pytest.raises(ResultsError, match="holds results for here"):
        Results(tmp_path, "some", "elsewhere")


def test_a_first_task_that_was_broken_off_is_not_doubled(tmp_path):
    Results(tmp_path, "some", "here").add("first", [{"a": 1}])
    (tmp_path / "some.json").unlink()
    Results(tmp_path, "some", "here").add("first", [{"a": 1}])
    assert Results(tmp_path, "some", "here").rows(["first"]) == [{"a": 1}]
