"""The example scripts do what they say, in their quick form."""

import re
import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"


def numbers(name, pattern, monkeypatch, capsys):
    """Run an example and return the numbers in what it prints."""
    monkeypatch.setattr(sys, "argv", [name, "--quick"])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return [float(found) for found in re.findall(pattern, capsys.readouterr().out)]


def test_sharing_atoms_within_blocks_lowers_the_error(monkeypatch, capsys):
    noisy, individual, block = numbers("block_sparsity.py", r"error ([\d.]+)", monkeypatch, capsys)
    assert block < individual < noisy


def test_patches_keep_the_caps_of_the_partition(monkeypatch, capsys):
    waves, edges = numbers("partition_matroid.py", r"([\d.]+) used by a patch", monkeypatch, capsys)
    assert 0 < waves <= 3
    assert 0 < edges <= 2


def test_shared_budget_explains_more_than_equal_shares(monkeypatch, capsys):
    equal, shared = numbers("average_without_cap.py", r"([\d.]+)% of the variance", monkeypatch, capsys)
    assert shared < equal


def test_chosen_pictures_explain_more_than_random_ones(monkeypatch, capsys):
    chosen, random = numbers("media_summary.py", r"([\d.]+)%", monkeypatch, capsys)
    assert chosen > random


def test_selected_waves_fill_lost_samples(monkeypatch, capsys):
    lines, waves = numbers("audio_frames.py", r"(-?[\d.]+) dB", monkeypatch, capsys)
    assert waves > lines + 5


def test_intact_patches_bring_lost_bands_back(monkeypatch, capsys):
    means, patches = numbers("multispectral.py", r"leaves ([\d.]+)%", monkeypatch, capsys)
    assert patches < means / 10


def test_a_lazy_restoration_is_that_of_the_whole(monkeypatch, capsys):
    pytest.importorskip("dask.array")
    tiles, whole = numbers("restore_with_dask.py", r"(\d+\.\d+) dB", monkeypatch, capsys)
    assert tiles == pytest.approx(whole, abs=0.3)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_every_example_is_tested_above(path):
    assert f'"{path.name}"' in Path(__file__).read_text()
