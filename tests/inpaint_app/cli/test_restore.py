"""`inpaint restore`: figures, files, options, recipes."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from cli_files import contents, pixels, scene, write_pair

from dictsel_core import RestoreSettings, estimate_psnr, psnr, restore, ssim
from dictsel_core.grain import match_grain
from inpaint_app.cli import main
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import write_picture
from inpaint_app.model.damage import mask_picture, random_mask
from inpaint_app.model.missing import collect_missing
from inpaint_app.model.picture import Picture
from inpaint_app.text import format_percent

SCORES = ["psnr", "psnr_missing", "ssim", "ssim_missing", "rmse", "rmse_missing", "data_range"]
KEYS = [
    *SCORES,
    "estimated_psnr",
    "estimated_interval",
    "estimated_rmse",
    "n_invented",
    "missing_fraction",
    "marked_fraction",
    "found",
    "seconds",
    "settings",
    "output",
]


def run_json(capsys, *arguments):
    assert main([str(argument) for argument in arguments] + ["--json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def test_figures_are_those_of_the_library(tmp_path, capsys) -> None:
    whole, broken = write_pair(tmp_path)
    document = run_json(capsys, "restore", broken, "--reference", whole)
    assert list(document) == KEYS
    picture = read_picture(broken)
    mask = collect_missing(picture).mask
    expected = restore(picture.pixels, mask)
    output = tmp_path / "broken_restored.png"
    np.testing.assert_array_equal(pixels(output), expected.image)
    assert document["output"] == str(output)
    assert document["psnr"] == psnr(pixels(whole), expected.image)
    assert document["psnr_missing"] == psnr(pixels(whole), expected.image, mask=mask)
    assert document["ssim"] == ssim(pixels(whole), expected.image)
    assert document["missing_fraction"] == mask.mean()
    assert document["estimated_psnr"] is document["n_invented"] is None
    assert document["settings"] == asdict(expected.settings) | {"bases": list(expected.settings.bases)}
    assert {"read", "select", "code", "write", "total"} <= document["seconds"].keys()


def test_without_a_reference_the_psnr_is_estimated(tmp_path, capsys) -> None:
    _, broken = write_pair(tmp_path)
    document = run_json(capsys, "restore", broken)
    picture = read_picture(broken)
    settings = restore(picture.pixels, collect_missing(picture).mask).settings
    estimate = estimate_psnr(picture.pixels, collect_missing(picture).mask, settings)
    assert document["estimated_psnr"] == estimate.psnr
    assert document["estimated_interval"] == [estimate.low, estimate.high]
    assert document["psnr"] is document["psnr_missing"] is document["ssim"] is None
    document = run_json(capsys, "restore", broken, "--overwrite", "--no-estimate")
    assert document["estimated_psnr"] is None


def test_report_says_what_was_found_and_done(tmp_path, capsys) -> None:
    whole, broken = write_pair(tmp_path)
    assert main(["restore", str(broken), "--reference", str(whole)]) == 0
    printed = capsys.readouterr()
    for words in (
        "40 x 32",
        "8-bit color",
        "50.0 %",
        "transparent",
        "atoms",
        "dB over all",
        "SSIM",
        "Written",
    ):
        assert words in printed.out
    assert printed.err == ""


def test_estimate_is_called_one(tmp_path, capsys) -> None:
    _, broken = write_pair(tmp_path)
    assert main(["restore", str(broken)]) == 0
    assert "an estimate" in capsys.readouterr().out


def test_with_json_the_report_goes_to_stderr(tmp_path, capsys) -> None:
    _, broken = write_pair(tmp_path)
    assert main(["restore", str(broken), "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["output"]
    assert "Missing:" in printed.err


def test_quiet_prints_nothing(tmp_path, capsys) -> None:
    _, broken = write_pair(tmp_path)
    assert main(["restore", str(broken), "--quiet"]) == 0
    printed = capsys.readouterr()
    assert printed.out == printed.err == ""


def test_rounds_may_be_left_to_held_out_pixels(tmp_path, capsys) -> None:
    _, broken = write_pair(tmp_path)
    documents = [
        run_json(capsys, "restore", broken, "-o", tmp_path / f"{option[1]}.png", "--no-estimate", *option)
        for option in (("--rounds", "auto"), ("--preset", "best"))
    ]
    assert documents[0]["settings"] == documents[1]["settings"]
    assert documents[0]["settings"]["rounds"] is None


def test_perfect_result_is_still_valid_json(tmp_path, capsys) -> None:
    flat = Picture(np.full((16, 16), 90, np.uint8))
    write_picture(flat, tmp_path / "flat.png")
    write_picture(mask_picture(random_mask((16, 16), 0.3)), tmp_path / "mask.png")
    document = run_json(
        capsys,
        *("restore", tmp_path / "flat.png", "--mask", tmp_path / "mask.png"),
        *("--reference", tmp_path / "flat.png"),
    )
    assert document["psnr"] is None
    assert document["ssim"] == pytest.approx(1)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("color", [True, False])
def test_depth_and_kind_are_kept_and_alpha_goes(tmp_path, dtype, color) -> None:
    whole, broken = write_pair(tmp_path, dtype=dtype, color=color)
    assert main(["restore", str(broken), "--quiet", "--no-estimate"]) == 0
    restored = read_picture(tmp_path / "broken_restored.png")
    assert restored.mode == read_picture(whole).mode


def test_options_reach_the_settings(tmp_path, capsys) -> None:
    _, broken = write_pair(tmp_path)
    arguments = (
        "--preset paper --constraint individual --atoms 9 --sparsity 3 --coding-sparsity 4 --patch-size 6 "
        "--bases dct,haar --selector rompd --fill texture --threads 1 --seed 5"
    )
    settings = run_json(capsys, "restore", broken, *arguments.split())["settings"]
    expected = {
        "constraint": "individual",
        "n_atoms": 9,
        "sparsity": 3,
        "coding_sparsity": 4,
        "patch_size": 6,
        "bases": ["dct", "haar"],
        "selector": "rompd",
        "fill": "texture",
        "keep_observed": False,
        "threads": 1,
        "seed": 5,
    }
    assert expected.items() <= settings.items()
    assert (
        run_json(capsys, "restore", broken, "--overwrite", "--mean-sparsity", "2.5")["settings"][
            "mean_sparsity"
        ]
        == 2.5
    )


def test_observed_pixels_are_kept_unless_told_otherwise(tmp_path, capsys) -> None:
    whole, broken = write_pair(tmp_path)
    observed = read_picture(broken).alpha > 0
    run_json(capsys, "restore", broken, "-o", tmp_path / "a.png")
    run_json(capsys, "restore", broken, "-o", tmp_path / "b.png", "--replace-observed")
    np.testing.assert_array_equal(pixels(tmp_path / "a.png")[observed], pixels(whole)[observed])
    assert (pixels(tmp_path / "b.png")[observed] != pixels(whole)[observed]).any()


def test_mask_key_and_inverted_mask_find_the_same_pixels(tmp_path, capsys) -> None:
    original, mask = scene(), random_mask((32, 40), 0.4)
    painted = original.pixels.copy()
    painted[mask] = (255, 0, 250)
    write_picture(Picture(painted), tmp_path / "in.png")
    write_picture(mask_picture(mask), tmp_path / "mask.png")
    write_picture(mask_picture(~mask), tmp_path / "dark.png")
    ways = {
        "a.png": ("--mask", tmp_path / "mask.png"),
        "b.png": ("--mask", tmp_path / "dark.png", "--invert-mask"),
        "c.png": ("--key", "magenta", "--tolerance", "6"),
    }
    for name, way in ways.items():
        run_json(capsys, "restore", tmp_path / "in.png", "-o", tmp_path / name, *way)
    files = contents(tmp_path)
    assert files["a.png"] == files["b.png"] == files["c.png"]


def test_auto_restores_with_the_tuned_settings(tmp_path, capsys, few_trials) -> None:
    _, broken = write_pair(tmp_path)
    tuned = run_json(capsys, "tune", broken)
    document = run_json(capsys, "restore", broken, "--auto")
    assert document["settings"] == tuned["settings"]
    assert document["estimated_interval"][0] < document["estimated_psnr"]
    assert document["seconds"]["tune"] > 0


def test_same_seed_same_bytes(tmp_path, capsys) -> None:
    _, broken = write_pair(tmp_path)
    for name in ("a.png", "b.png"):
        run_json(capsys, "restore", broken, "-o", tmp_path / name, "--seed", "7", "--threads", "2")
    run_json(capsys, "restore", broken, "-o", tmp_path / "c.png", "--seed", "7", "--threads", "1")
    files = contents(tmp_path)
    assert files["a.png"] == files["b.png"] == files["c.png"]


def test_recipe_repeats_a_restoration(tmp_path, capsys) -> None:
    original, mask = scene(), random_mask((32, 40), 0.4)
    write_picture(original, tmp_path / "in.png")
    write_picture(mask_picture(mask), tmp_path / "mask.png")
    first = run_json(
        capsys,
        *("restore", tmp_path / "in.png", "-o", tmp_path / "a.png", "--mask", tmp_path / "mask.png"),
        *("--atoms", "11", "--write-recipe"),
    )
    assert (tmp_path / "a.json").exists()
    again = run_json(
        capsys,
        *("restore", tmp_path / "in.png", "-o", tmp_path / "b.png", "--recipe", tmp_path / "a.json"),
    )
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    assert again["settings"] == first["settings"]
    other = run_json(
        capsys,
        *("restore", tmp_path / "in.png", "-o", tmp_path / "c.png", "--recipe", tmp_path / "a.json"),
        *("--atoms", "7"),
    )
    assert other["settings"]["n_atoms"] == 7


def test_recipe_of_tune_serves_restore(tmp_path, capsys, few_trials) -> None:
    _, broken = write_pair(tmp_path)
    tuned = run_json(capsys, "tune", broken, "--write-recipe", tmp_path / "best.json")
    document = run_json(capsys, "restore", broken, "--recipe", tmp_path / "best.json")
    assert document["settings"] == tuned["settings"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_atoms": -3}, "n_atoms"),
        ({"flavour": 1}, "flavour"),
        ({"bases": "dct"}, "bases"),
        ({"constraint": "total"}, "constraint"),
        ({"patch_size": 7}, "even"),
        ({"bases": ["dct", "foo"]}, "foo"),
    ],
)
def test_recipe_with_wrong_settings_is_refused(tmp_path, capsys, change, words) -> None:
    _, broken = write_pair(tmp_path)
    settings = {"constraint": "average"} | change
    recipe = {"recipe": 1, "version": "0", "settings": settings, "mask": {}}
    (tmp_path / "r.json").write_text(json.dumps(recipe))
    before = contents(tmp_path)
    assert main(["restore", str(broken), "--recipe", str(tmp_path / "r.json")]) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.err.count("\n") == 1
    assert contents(tmp_path) == before


def test_other_formats_and_depths_are_written(tmp_path, capsys) -> None:
    _, broken = write_pair(tmp_path, dtype=np.uint16)
    run_json(capsys, "restore", broken, "-o", tmp_path / "a.tif")
    assert read_picture(tmp_path / "a.tif").depth == 16
    run_json(capsys, "restore", broken, "-o", tmp_path / "a.jpg", "--depth", "8", "--quality", "90")
    assert read_picture(tmp_path / "a.jpg").depth == 8


def test_float_picture_with_nan(tmp_path, capsys) -> None:
    original = scene(np.float32, color=False)
    holes = original.pixels.copy()
    holes[random_mask((32, 40), 0.3)] = np.nan
    write_picture(Picture(holes), tmp_path / "nan.tif")
    write_picture(original, tmp_path / "whole.tif")
    document = run_json(capsys, "restore", tmp_path / "nan.tif", "--reference", tmp_path / "whole.tif")
    assert document["psnr"] > 30
    assert np.isfinite(pixels(tmp_path / "nan_restored.tif")).all()


def test_percent_is_never_rounded_to_nothing_or_all() -> None:
    assert format_percent(1e-7) == "under 0.1 %"
    assert format_percent(1 - 1e-7) == "over 99.9 %"
    assert format_percent(0.5) == "50.0 %"


def test_defaults_of_the_help_are_those_of_the_library(capsys) -> None:
    assert main(["restore", "--help"]) == 0
    text = capsys.readouterr().out
    assert f"(default {RestoreSettings().sparsity})" in text
    assert ",".join(RestoreSettings().bases) in text.replace("\n", "").replace(" ", "")


def test_a_mask_that_looks_inverted_is_asked_about(tmp_path, capsys) -> None:
    write_picture(scene(), tmp_path / "a.png")
    mask = np.ones((32, 40), bool)
    mask[:4, :20] = False
    write_picture(mask_picture(mask), tmp_path / "mask.png")
    command = ["restore", str(tmp_path / "a.png"), "--mask", str(tmp_path / "mask.png"), "--no-estimate"]
    command += ["--preset", "fast", "--grow-mask", "0", "--overwrite"]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert (
        "marks 93.8 % of the picture, and seems to mark what is intact; invert it with --invert-mask" in error
    )
    assert main([*command, "--invert-mask"]) == 0
    recipe = str(tmp_path / "recipe.json")
    assert main([*command, "--trust-mask", "--write-recipe", recipe]) == 0
    assert main([*command[:2], "--recipe", recipe, "--no-estimate", "--overwrite"]) == 0
    write_picture(mask_picture(~mask), tmp_path / "mask.png", overwrite=True)
    capsys.readouterr()
    assert main([*command, "--invert-mask"]) == 2
    assert "; leave --invert-mask out" in capsys.readouterr().err


def test_growth_is_told(tmp_path, capsys) -> None:
    write_picture(scene(), tmp_path / "a.png")
    mask = np.zeros((32, 40), bool)
    mask[10, 4:36] = True
    write_picture(mask_picture(mask), tmp_path / "mask.png")
    command = ["restore", str(tmp_path / "a.png"), "--mask", str(tmp_path / "mask.png"), "--no-estimate"]
    assert main([*command, "--preset", "fast", "--json"]) == 0
    printed = capsys.readouterr()
    marked, missing = 32 / mask.size, 3 * 34 / mask.size
    assert (
        f"{100 * missing:.1f} % of the pixels (in the mask file: {100 * marked:.1f} % marked" in printed.err
    )
    assert "grown by 1 pixel; see --grow-mask" in printed.err
    document = json.loads(printed.out)
    assert (document["marked_fraction"], document["missing_fraction"]) == (marked, missing)
    assert main([*command, "--preset", "fast", "--overwrite", "--grow-mask", "0"]) == 0
    assert "marked" not in capsys.readouterr().out


@pytest.mark.parametrize("narrow", [False, True])
def test_invented_pixels_are_counted(tmp_path, capsys, narrow: bool) -> None:
    mask = np.zeros((160, 160), bool)
    mask[60:110, 60:110] = True  # wide
    mask[10:12] = narrow
    write_picture(Picture(texture(160)), tmp_path / "a.png")
    write_picture(mask_picture(mask), tmp_path / "mask.png")
    command = ("restore", tmp_path / "a.png", "--mask", tmp_path / "mask.png", "--grow-mask", "0")
    document = run_json(capsys, *command, "--preset", "fast")
    assert document["n_invented"] == 50 * 50
    assert (document["estimated_psnr"] is not None) == narrow


def texture(side: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (side, side)).astype(np.uint8)


def test_stopped_after_the_picture_was_written(tmp_path, capsys, monkeypatch) -> None:
    _, broken = write_pair(tmp_path)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("inpaint_app.engine.measure.estimate", interrupt)
    assert main(["restore", str(broken), "--preset", "fast"]) == 130
    assert "broken_restored.png was written" in capsys.readouterr().err
    assert (tmp_path / "broken_restored.png").exists()


def test_grain_changes_restored_pixels_alone_and_no_figure(tmp_path, capsys) -> None:
    noise = np.random.default_rng(0).normal(0, 8, (96, 96))
    grainy = Picture(np.rint(120 + noise).astype(np.uint8))
    mask = np.zeros((96, 96), bool)
    mask[20:80, 45:50] = True
    picture, marks = tmp_path / "film.png", tmp_path / "marks.png"
    write_picture(grainy, picture)
    write_picture(mask_picture(mask), marks)
    options = ("--mask", marks, "--grow-mask", 0, "--reference", picture, "--seed", 3)
    plain = run_json(capsys, "restore", picture, *options)
    output = tmp_path / "grainy.png"
    with_grain = run_json(capsys, "restore", picture, *options, "--grain", "-o", output)
    restored = pixels(tmp_path / "film_restored.png")
    np.testing.assert_array_equal(pixels(output), match_grain(restored, mask, rng=3))
    assert pixels(output)[mask].std() > 2 * restored[mask].std()
    assert [with_grain[key] for key in SCORES] == [plain[key] for key in SCORES]
