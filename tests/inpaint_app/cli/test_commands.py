"""The other commands: damage, score, compare, dictionary, tune, and the sample."""

import json

import numpy as np
import pytest
from cli_files import contents, pixels, scene, write_pair

from dictsel_core import RestoreSettings, __version__, psnr, restore, ssim, tune
from dictsel_core.evaluation import rmse
from inpaint_app.__main__ import main as start
from inpaint_app.cli import main
from inpaint_app.cli.program import COMMANDS
from inpaint_app.figures import Panel, comparison_figure
from inpaint_app.io.assets import DAMAGED, ORIGINAL, read_sample
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import write_picture
from inpaint_app.model.missing import detect_missing
from inpaint_app.model.picture import Picture


def run(*arguments) -> int:
    return main([str(argument) for argument in arguments])


def run_json(capsys, *arguments):
    assert run(*arguments, "--json", "--quiet") == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("ending", ["png", "tif", "webp"])
@pytest.mark.parametrize("kind", [("--missing", "0.8"), ("--scratches",), ("--text", "abc")])
def test_damage_marks_what_its_mask_says(tmp_path, capsys, kind, ending) -> None:
    write_picture(scene(shape=(60, 80)), tmp_path / "in.png")
    out, mask = tmp_path / f"out.{ending}", tmp_path / "mask.png"
    assert run("damage", tmp_path / "in.png", "-o", out, *kind, "--mask-out", mask) == 0
    picture = read_picture(out)
    missing = detect_missing(picture).mask
    np.testing.assert_array_equal(missing, pixels(mask) == 255)
    assert not picture.pixels[missing].any()
    np.testing.assert_array_equal(picture.pixels[~missing], pixels(tmp_path / "in.png")[~missing])


def test_damage_by_per_cent_and_seed(tmp_path, capsys) -> None:
    write_picture(scene(), tmp_path / "in.png")
    for name, part, seed in (("a", "80%", 1), ("b", "0.8", 1), ("c", "0.8", 2)):
        how = ("--missing", part, "--seed", seed)
        assert run("damage", tmp_path / "in.png", "-o", tmp_path / f"{name}.png", *how) == 0
    files = contents(tmp_path)
    assert files["a.png"] == files["b.png"] != files["c.png"]


def test_score_equals_the_library(tmp_path, capsys) -> None:
    whole, broken = write_pair(tmp_path)
    mask = tmp_path / "mask.png"
    missing = read_picture(broken).alpha == 0
    write_picture(Picture(np.where(missing, np.uint8(255), np.uint8(0))), mask)
    document = run_json(capsys, "score", whole, broken, "--mask", mask)
    assert document == {
        "psnr": psnr(pixels(whole), pixels(broken)),
        "psnr_missing": psnr(pixels(whole), pixels(broken), mask=missing),
        "ssim": ssim(pixels(whole), pixels(broken)),
        "ssim_missing": ssim(pixels(whole), pixels(broken), mask=missing),
        "rmse": rmse(pixels(whole), pixels(broken)),
        "rmse_missing": rmse(pixels(whole), pixels(broken), mask=missing),
        "data_range": 255,
    }
    assert run_json(capsys, "score", whole, broken, "--data-range", "2550")["psnr"] == document["psnr"] + 20
    assert run("score", whole, broken) == 0
    assert f"{document['psnr']:.2f} dB" in capsys.readouterr().out


def test_score_of_equal_pictures_is_infinite(tmp_path, capsys) -> None:
    whole, _ = write_pair(tmp_path)
    assert run_json(capsys, "score", whole, whole)["psnr"] is None
    assert run("score", whole, whole) == 0
    assert "infinite" in capsys.readouterr().out


def test_compare_measures_both_constraints(tmp_path, capsys) -> None:
    whole, broken = write_pair(tmp_path)
    document = run_json(capsys, "compare", broken, "--reference", whole)
    picture = read_picture(broken)
    for constraint in ("individual", "average"):
        settings = RestoreSettings(constraint=constraint, rounds=0)
        restored = restore(picture.pixels, detect_missing(picture).mask, settings).image
        assert document[constraint]["psnr"] == psnr(pixels(whole), restored)
    figure = read_picture(tmp_path / "broken_comparison.png")
    assert document["output"] == str(tmp_path / "broken_comparison.png")
    assert figure.width > 3 * 200
    assert figure.is_color
    assert (figure.pixels[:4] == 255).all()


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_compare_draws_every_depth(tmp_path, capsys, dtype) -> None:
    original = scene(dtype, color=False)
    holes = original.pixels.copy()
    holes[10:14, 5:30] = 0 if dtype == np.uint16 else np.nan
    write_picture(Picture(holes), tmp_path / "in.tif")
    write_picture(original, tmp_path / "whole.tif")
    key = ["--key", "0"] if dtype == np.uint16 else []
    assert run("compare", tmp_path / "in.tif", "--reference", tmp_path / "whole.tif", *key) == 0
    assert read_picture(tmp_path / "in_comparison.png").depth == 8


def test_dictionary_is_drawn(tmp_path, capsys) -> None:
    _, broken = write_pair(tmp_path)
    assert run("dictionary", broken, "-o", tmp_path / "few.png", "--atoms", "5") == 0
    assert run("dictionary", broken, "-o", tmp_path / "many.png", "--atoms", "60") == 0
    few, many = read_picture(tmp_path / "few.png"), read_picture(tmp_path / "many.png")
    assert many.height > few.height
    assert "Dictionary:" in capsys.readouterr().out


def test_tune_equals_the_library(tmp_path, capsys, few_trials) -> None:
    _, broken = write_pair(tmp_path)
    picture = read_picture(broken)
    expected = tune(picture.pixels, detect_missing(picture).mask, rng=3)
    assert run("tune", broken, "--seed", 3, "--json") == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert document["estimated_psnr"] == expected.estimated_psnr
    assert document["given_psnr"] == expected.given_psnr
    assert document["settings"]["n_atoms"] == expected.settings.n_atoms
    assert len(document["trials"]) == len(expected.trials)
    assert "Chosen:" in printed.err


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(capsys, command) -> None:
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert "examples:" in text
    assert f"inpaint {command} " in text
    assert main(["--help"]) == 0
    assert f"  {command}" in capsys.readouterr().out


def test_help_is_shown_even_if_something_else_is_wrong(capsys) -> None:
    for words in (["--wrong", "--help"], ["-h", "a.png", "b.png", "--seed", "many"]):
        assert main(["restore", *words]) == 0
        assert "examples:" in capsys.readouterr().out


def test_values_after_an_equals_sign(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    write_picture(scene(), tmp_path / "whole.png")
    assert run("damage", "whole.png", "--scratches", "-o=out.png", "--mask-out=mask.png", "--quiet") == 0
    (tmp_path / "--mask").write_bytes((tmp_path / "mask.png").read_bytes())
    assert run("score", "whole.png", "out.png", "--mask=--mask") == 0
    assert "over missing ones" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"whole.png", "out.png", "mask.png", "--mask"}


def test_version(capsys) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"inpaint {__version__}\n"


def test_without_arguments_the_help_is_shown(capsys) -> None:
    for arguments in ([], ["help"]):
        assert main(arguments) == 0
        assert "examples:" in capsys.readouterr().out


def test_sample_is_damaged_as_its_readme_says() -> None:
    original, damaged = read_sample(ORIGINAL), read_sample(DAMAGED)
    missing = detect_missing(damaged)
    assert missing.fraction == pytest.approx(0.8)
    np.testing.assert_array_equal(original.pixels[~missing.mask], damaged.pixels[~missing.mask])
    assert not damaged.pixels[missing.mask].any()


def test_start_restores_the_sample_and_replaces_only_its_own_results(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    others, ours = tmp_path / "sample_restored.png", tmp_path / "sample_restored_2.png"
    others.write_text("mine")
    write_picture(read_sample(ORIGINAL), ours)  # an earlier result, as far as anybody can see
    assert start([]) == 0
    printed = capsys.readouterr().out
    assert "There is no display for the window" in printed
    assert "PSNR" in printed
    assert sorted(tmp_path.iterdir()) == [others, ours]
    assert others.read_text() == "mine"
    assert 27 < psnr(read_sample(ORIGINAL).pixels, pixels(ours)) < 60


def test_start_with_arguments_is_the_command(capsys) -> None:
    assert start(["--version"]) == 0
    assert capsys.readouterr().out == f"inpaint {__version__}\n"


@pytest.mark.parametrize("width", [5, 300, 4000])
def test_comparison_has_a_width_that_can_be_seen(width) -> None:
    panels = [Panel(Picture(np.zeros((4, width), np.uint8)), "a title", "12.34 dB") for _ in range(3)]
    assert 3 * 200 < comparison_figure(panels).width < 3 * 1600 + 400
