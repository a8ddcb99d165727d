"""`inpaint repair`: what the library finds and restores, in one command."""

import json

import numpy as np
import pytest
from cli_files import contents, pixels

from dictsel_core import restore
from dictsel_core.damage_kinds import USUAL_KINDS
from dictsel_core.detection import analyze_damage
from dictsel_core.grain import match_grain
from inpaint_app.cli import main
from inpaint_app.io.assets import ORIGINAL, read_sample
from inpaint_app.io.write import write_picture
from inpaint_app.model.picture import Picture


@pytest.fixture
def photo(tmp_path):
    """A grainy photograph with a white crack."""
    image = read_sample(ORIGINAL).pixels[:160, :200].astype(float)
    image += np.random.default_rng(0).normal(0, 5, image.shape)
    rows = np.arange(20, 140)
    for row, column in zip(rows, (60 + 12 * np.sin(rows / 15)).astype(int), strict=True):
        image[row, column : column + 3] = 252
    write_picture(Picture(image.clip(0, 255).astype(np.uint8)), tmp_path / "photo.png")
    return tmp_path / "photo.png"


@pytest.fixture
def plain(tmp_path):
    """A picture without damage."""
    write_picture(Picture(np.full((96, 96), 120, np.uint8)), tmp_path / "plain.png")
    return tmp_path / "plain.png"


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.mark.parametrize("grain", [True, False])
def test_it_is_detect_restore_and_grain_of_the_library(photo, capsys, grain) -> None:
    source = photo.read_bytes()
    assert run("repair", photo, "--json", *([] if grain else ["--no-grain"])) == 0
    document = json.loads(capsys.readouterr().out)
    analysis = analyze_damage(pixels(photo), USUAL_KINDS)
    mask = analysis.mask(0.5)
    expected = restore(pixels(photo), mask).image
    assert mask.any()
    output = photo.with_name("photo_restored.png")
    np.testing.assert_array_equal(pixels(output), match_grain(expected, mask) if grain else expected)
    assert document["output"] == str(output)
    assert document["missing_fraction"] == mask.mean()
    assert document["found"] == {kind: found.n_regions for kind, found in analysis.found(0.5).items()}
    assert photo.read_bytes() == source


def test_it_says_what_was_found_in_two_lines(photo, capsys) -> None:
    assert run("repair", photo, "--preset", "fast", "--sensitivity", 0.6) == 0
    found, written = capsys.readouterr().out.splitlines()
    assert "scratch" in found
    assert "% of the picture was restored." in found
    assert "photo_restored.png" in written


def test_where_nothing_is_found_nothing_is_written(plain, capsys) -> None:
    before = contents(plain.parent)
    assert run("repair", plain) == 0
    assert "No damage was found in" in capsys.readouterr().out
    assert run("repair", plain, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["output"] is None
    assert document["found"] == {"scratches": 0, "dust": 0}
    assert contents(plain.parent) == before


def test_a_result_for_standard_output_must_exist(plain, capsys) -> None:
    assert run("repair", plain, "-o", "png:-") == 2
    captured = capsys.readouterr()
    assert not captured.out
    assert "No damage was found" in captured.err


def test_batch_repairs_what_is_damaged(photo, plain, tmp_path, capsys) -> None:
    folder = tmp_path / "repaired"
    assert run("batch", photo, plain, "-o", folder, "--repair", "--json") == 0
    first, second = json.loads(capsys.readouterr().out)["files"]
    assert first["found"]["scratches"] >= 1
    assert second["skipped"] == "intact"
    assert run("repair", photo) == 0
    np.testing.assert_array_equal(pixels(folder / "photo.png"), pixels(photo.with_name("photo_restored.png")))
    assert [path.name for path in folder.iterdir()] == ["photo.png"]
