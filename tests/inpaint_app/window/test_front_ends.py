"""Every use case, through the command line and through the window: the same bytes and figures."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest

from dictsel_core import RestoreSettings
from inpaint_app.cli import main
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import Output, write_picture
from inpaint_app.model.damage import Damage, damaged, mask_picture
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Metadata, Picture
from inpaint_app.window.dialogs.batch_dialog import BatchDialog
from inpaint_app.window.services.exporting import Exporting
from inpaint_app.window.session import Session

SETTINGS = RestoreSettings(n_atoms=12, sparsity=4, coding_sparsity=4, rounds=1, seed=3)
OPTIONS = ["--atoms=12", "--sparsity=4", "--coding-sparsity=4", "--rounds=1", "--seed=3"]


@pytest.fixture
def files(tmp_path):
    """A whole picture, its damage as transparency and as a mask, all in one folder."""
    rows, columns = np.mgrid[:56, :64]
    values = 120 + 60 * np.sin(rows / 5) * np.cos(columns / 7)
    whole = Picture(
        np.uint8(np.stack([values, values[::-1], 255 - values], axis=2)),
        metadata=Metadata(dpi=(300.0, 300.0)),
    )
    mask = Damage("random", 0.6, seed=2).mask((56, 64))
    write_picture(whole, tmp_path / "whole.png")
    write_picture(damaged(whole, mask), tmp_path / "damaged.png")
    write_picture(mask_picture(mask), tmp_path / "mask.png")
    return tmp_path


@pytest.fixture
def session(qapp):
    made = Session()
    made.document.problem.connect(pytest.fail)
    made.set_settings(SETTINGS)
    yield made
    made.close()


def settle(session: Session, qtbot) -> None:
    qtbot.waitUntil(lambda: session.is_settled, timeout=600_000)


def restore_in_window(session: Session, qtbot, files, **more) -> Exporting:
    session.opening.open_file(files / "damaged.png", **more)
    settle(session, qtbot)
    session.running.restore()
    settle(session, qtbot)
    return session.exporting


def run(*arguments) -> None:
    assert main([str(argument) for argument in arguments]) == 0


def same_bytes(first, second) -> bool:
    return first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("suffix", ["png", "tif", "webp", "jpg"])
def test_a_restored_picture(session, qtbot, files, suffix) -> None:
    run("restore", files / "damaged.png", "-o", files / f"cli.{suffix}", "--no-estimate", *OPTIONS)
    exporter = restore_in_window(session, qtbot, files)
    exporter.write_restored(Output(files / f"window.{suffix}"))
    settle(session, qtbot)
    assert same_bytes(files / f"cli.{suffix}", files / f"window.{suffix}")


def test_marks_in_a_mask_file_and_a_measured_result(session, qtbot, files, capsys) -> None:
    damaged_whole = ["--mask", files / "mask.png", "--reference", files / "whole.png"]
    run("restore", files / "whole.png", "-o", files / "cli.png", "--json", *damaged_whole, *OPTIONS)
    figures = json.loads(capsys.readouterr().out)
    session.opening.open_file(files / "whole.png", MaskSpec(mask=files / "mask.png"), files / "whole.png")
    settle(session, qtbot)
    session.running.restore()
    settle(session, qtbot)
    record = session.state.runs.current
    assert np.array_equal(record.image, read_picture(files / "cli.png").pixels)
    scores = record.figures.scores
    assert (figures["psnr"], figures["psnr_missing"], figures["ssim"]) == (
        scores.psnr,
        scores.psnr_missing,
        scores.ssim,
    )


def test_an_estimate(session, qtbot, files, capsys) -> None:
    run("restore", files / "damaged.png", "-o", files / "cli.png", "--json", *OPTIONS)
    figures = json.loads(capsys.readouterr().out)
    restore_in_window(session, qtbot, files)
    assert figures["estimated_psnr"] == session.state.runs.current.figures.estimated_psnr


def test_a_comparison(session, qtbot, files, capsys) -> None:
    reference = files / "whole.png"
    run(
        "compare",
        files / "damaged.png",
        "--reference",
        reference,
        "-o",
        files / "cli.png",
        "--json",
        *OPTIONS,
    )
    figures = json.loads(capsys.readouterr().out)
    session.opening.open_file(files / "damaged.png", reference=reference)
    settle(session, qtbot)
    session.running.compare()
    settle(session, qtbot)
    for record in session.state.runs.compared:
        assert figures[record.settings.constraint]["psnr"] == record.figures.scores.psnr
    session.exporting.write_comparison(Output(files / "window.png"))
    settle(session, qtbot)
    assert same_bytes(files / "cli.png", files / "window.png")


def test_a_figure_of_the_dictionary(session, qtbot, files) -> None:
    run("dictionary", files / "damaged.png", "-o", files / "cli.png", *OPTIONS)
    session.set_settings(replace(SETTINGS, rounds=0))  # refinement uses no dictionary
    restore_in_window(session, qtbot, files).write_dictionary(Output(files / "window.png"))
    settle(session, qtbot)
    assert same_bytes(files / "cli.png", files / "window.png")


def test_a_recipe(session, qtbot, files) -> None:
    marks = ["--mask", files / "mask.png"]
    recipe = f"--write-recipe={files / 'cli.json'}"
    run("restore", files / "whole.png", "-o", files / "cli.png", recipe, "--no-estimate", *marks, *OPTIONS)
    session.opening.open_file(files / "whole.png", MaskSpec(mask=files / "mask.png"))
    settle(session, qtbot)
    session.running.restore()
    settle(session, qtbot)
    session.exporting.write_recipe(Output(files / "window.json"))
    settle(session, qtbot)
    assert same_bytes(files / "cli.json", files / "window.json")


#: A value of each setting that is not its default, and a way to mark pixels for each field of the marks.
CHANGED_SETTINGS = {
    "n_atoms": ["--atoms=9"],
    "sparsity": ["--sparsity=5"],
    "mean_sparsity": ["--mean-sparsity=3"],
    "coding_sparsity": ["--coding-sparsity=3"],
    "patch_size": ["--patch-size=6", "--bases=dct"],
    "bases": ["--bases=dct,haar"],
    "constraint": ["--constraint=individual"],
    "selector": ["--selector=romp"],
    "rounds": ["--rounds=2"],
    "keep_observed": ["--replace-observed", "--rounds=0"],
    "fill": ["--fill=smooth"],
    "literal": ["--literal"],
    "seed": ["--seed=7"],
    "threads": ["--threads=1"],
}
MASK = "--mask=mask.png"
CHANGED_MARKS = {
    "mask": [MASK],
    "invert_mask": ["--mask=inverted.png", "--invert-mask"],
    "trusts_mask": [MASK, "--trust-mask"],
    "key": ["--key=#ff00ff"],
    "tolerance": ["--key=#ff00ff", "--tolerance=4"],
    "grow": [MASK, "--grow-mask=0"],
    "detect": ["--detect=dead_pixels"],
    "sensitivity": ["--detect=dead_pixels", "--sensitivity=0.8"],
    "soft_edges": [MASK, "--keep-soft-edges"],
}


def test_every_field_of_a_recipe_is_tried() -> None:
    assert set(CHANGED_SETTINGS) == {each.name for each in fields(RestoreSettings)} - {"fill_weight"}
    assert set(CHANGED_MARKS) == {each.name for each in fields(MaskSpec)}


@pytest.mark.parametrize("field", [*CHANGED_SETTINGS, *CHANGED_MARKS])
def test_the_window_opens_what_the_command_line_wrote(session, qtbot, files, field, monkeypatch) -> None:
    monkeypatch.chdir(files)
    picture = read_picture(files / "whole.png").pixels.copy()
    picture[10:13, 20:30] = (255, 0, 255)
    picture[40, 12] = 255
    write_picture(Picture(picture), files / "marked.png")
    mask = read_picture(files / "mask.png").pixels
    write_picture(Picture(255 - mask), files / "inverted.png")
    options = CHANGED_MARKS.get(field) or [MASK, *CHANGED_SETTINGS[field]]
    fast = [] if field == "rounds" else ["--preset=fast"]
    run("restore", "marked.png", "-o", "cli.png", "--write-recipe=cli.json", "--no-estimate", *fast, *options)
    session.opening.open_file(files / "marked.png")
    settle(session, qtbot)
    session.opening.open_recipe(files / "cli.json")
    settle(session, qtbot)
    session.running.restore()
    settle(session, qtbot)
    exporter = session.exporting
    exporter.write_restored(Output(files / "window.png"))
    settle(session, qtbot)
    exporter.write_recipe(Output(files / "window.json"))
    settle(session, qtbot)
    assert same_bytes(files / "cli.json", files / "window.json")
    assert same_bytes(files / "cli.png", files / "window.png")


def test_a_mask(session, qtbot, files) -> None:
    run("damage", files / "whole.png", "-o", files / "cli.png", "--missing=0.6", "--seed=2",
        "--mask-out", files / "cli_mask.png")  # fmt: skip
    session.opening.open_file(files / "cli.png")
    settle(session, qtbot)
    session.exporting.write_mask(Output(files / "window.png"))
    settle(session, qtbot)
    assert same_bytes(files / "cli_mask.png", files / "window.png")


def test_a_batch(session, qtbot, files) -> None:
    folder = files / "in"
    folder.mkdir()
    for name in ("a.png", "b.png"):
        (folder / name).write_bytes((files / "damaged.png").read_bytes())
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert main(["batch", str(folder), "-o", str(files / "cli"), *OPTIONS]) == 1
    dialog = BatchDialog(session, folder)
    qtbot.addWidget(dialog)
    dialog.set_folders(folder, files / "window")
    dialog.start()
    settle(session, qtbot)
    assert sorted(path.name for path in (files / "window").iterdir()) == ["a.png", "b.png"]
    for name in ("a.png", "b.png"):
        assert same_bytes(files / "cli" / name, files / "window" / name)
