"""Detection of damage in files, and how it joins the mask."""

import json

import numpy as np
import pytest

from dictsel_core import RestoreSettings
from inpaint_app.cli import main
from inpaint_app.engine.control import CancelledError, JobControl, Progress
from inpaint_app.engine.detect import DetectRequest, detect_file
from inpaint_app.engine.restore_file import FileOptions, FileRequest, restore_file
from inpaint_app.engine.source import load_recipe, load_source
from inpaint_app.errors import UserError
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import Output, write_picture
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Picture


@pytest.fixture
def scan(tmp_path):
    """A scratched picture, 80 x 64."""
    pixels = np.random.default_rng(0).normal(110, 2, (64, 80)).round().astype(np.uint8)
    pixels[30:32, 8:72] = 190
    write_picture(Picture(pixels), tmp_path / "scan.png")
    return tmp_path / "scan.png"


def test_the_mask_is_written_and_progress_reported(scan, tmp_path):
    reports = []
    request = DetectRequest(scan, Output(tmp_path / "mask.png"), ("scratches", "dust"))
    result = detect_file(request, JobControl(reports.append))
    assert result.mask[30:32, 12:68].all()
    assert result.found["scratches"].n_regions == 1
    np.testing.assert_array_equal(read_picture(tmp_path / "mask.png").pixels == 255, result.mask)
    fractions = [report.fraction for report in reports if isinstance(report, Progress)]
    assert fractions[0] == 0
    assert fractions == sorted(fractions)


def test_nothing_is_written_after_cancelling_or_in_a_lossy_format(scan, tmp_path):
    control = JobControl()
    control.cancel()
    with pytest.raises(CancelledError):
        detect_file(DetectRequest(scan, Output(tmp_path / "mask.png"), ("dust",)), control)
    with pytest.raises(UserError, match="blur"):
        detect_file(DetectRequest(scan, Output(tmp_path / "mask.jpg"), ("dust",)), JobControl())
    assert list(tmp_path.iterdir()) == [scan]


def test_restoring_reports_the_detection_and_can_be_cancelled_in_it(scan, tmp_path):
    reports = []

    def cancel_at_first(report):
        reports.append(report)
        control.cancel()

    control = JobControl(cancel_at_first)
    options = FileOptions(RestoreSettings(), MaskSpec(detect=("scratches", "dust")))
    request = FileRequest(scan, Output(tmp_path / "restored.png"), options)
    with pytest.raises(CancelledError):
        restore_file(request, control)
    assert [report.stage for report in reports] == ["detecting damage"]
    assert list(tmp_path.iterdir()) == [scan]


def test_batch_detects_in_every_picture(scan, tmp_path):
    write_picture(read_picture(scan), tmp_path / "other.png")
    options = ["--detect", "scratches", "--preset", "fast", "--no-estimate", "--quiet"]
    assert main(["batch", str(tmp_path), "-o", str(tmp_path / "out"), *options]) == 0
    for name in ("scan", "other"):
        (written,) = (tmp_path / "out").glob(f"{name}*.png")
        assert read_picture(written).pixels[30:32, 12:68].max() < 130


def test_detected_damage_joins_the_mask(scan):
    missing = load_source(scan, MaskSpec(detect=("scratches",))).missing
    assert missing.sources == ("detected",)
    assert missing.mask[30:32, 12:68].all()


def test_finding_no_damage_is_an_error(tmp_path):
    write_picture(Picture(np.full((40, 40), 90, np.uint8)), tmp_path / "plain.png")
    with pytest.raises(UserError, match="No damage"):
        load_source(tmp_path / "plain.png", MaskSpec(detect=("scratches",)))


def test_command_tells_what_was_found(scan, capsys):
    assert main(["detect", str(scan), "--json", "--quiet"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["found"]["scratches"]["regions"] == 1
    assert document["found"]["scratches"]["pixels"] >= 128
    mask = read_picture(scan.with_name("scan_mask.png")).pixels == 255
    assert document["missing_fraction"] == pytest.approx(mask.mean())


def test_restore_detects_and_the_recipe_remembers(scan, tmp_path):
    options = [
        "--detect",
        "scratches",
        "--sensitivity",
        "0.6",
        "--preset",
        "fast",
        "--no-estimate",
        "--quiet",
    ]
    assert main(["restore", str(scan), *options, "--write-recipe"]) == 0
    restored = read_picture(tmp_path / "scan_restored.png").pixels
    assert restored[30:32, 12:68].max() < 130
    recipe = load_recipe(tmp_path / "scan_restored.json")
    assert recipe.mask_spec == MaskSpec(detect=("scratches",), sensitivity=0.6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["detect", "a.png", "--kinds", "rust"], "scratches,dust"),
        (["detect", "a.png", "--sensitivity", "2"], "from 0 to 1"),
        (["restore", "a.png", "--sensitivity", "0.4"], "--detect"),
        (["restore", "a.png", "--grow-mask", "-1"], "whole number"),
    ],
)
def test_wrong_options_are_refused(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_picture(Picture(np.zeros((8, 8), np.uint8)), tmp_path / "a.png")
    assert main(arguments) == 2
    assert words in capsys.readouterr().err
