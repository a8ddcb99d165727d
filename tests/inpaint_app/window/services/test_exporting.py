"""Files that leave the window: what was shown, never over the source unasked."""

from pathlib import Path

import numpy as np
import pytest
from windows import FAST, is_unsaved

from inpaint_app.engine.export import format_quality
from inpaint_app.io.read import read_picture
from inpaint_app.io.recipe import read_recipe, recipe_settings
from inpaint_app.io.write import Output, write_picture
from inpaint_app.model.picture import Metadata, Picture


@pytest.fixture
def restored(session, qtbot, files):
    session.set_settings(FAST)
    session.opening.open_file(files["damaged"])
    settle(session, qtbot)
    session.running.restore()
    settle(session, qtbot)
    return session


@pytest.fixture
def exporter(session):
    return session.exporting


def settle(session, qtbot) -> None:
    qtbot.waitUntil(lambda: session.workers.n_active == 0, timeout=600_000)


def test_the_file_is_what_was_shown(restored, exporter, qtbot, tmp_path) -> None:
    notices = []
    restored.document.notice.connect(notices.append)
    exporter.write_restored(Output(tmp_path / "out.png"))
    settle(restored, qtbot)
    written = read_picture(tmp_path / "out.png")
    assert np.array_equal(written.pixels, restored.state.runs.current.image)
    assert written.alpha is None, "restored pixels are opaque"
    assert not is_unsaved(restored)
    assert "out.png" in notices[-1]


def test_what_is_not_kept_of_a_replaced_file_is_told(restored, exporter, qtbot, tmp_path) -> None:
    notices = []
    restored.document.notice.connect(notices.append)
    (tmp_path / "out.png").touch()
    (tmp_path / "out.png").chmod(0o4755)
    exporter.write_restored(Output(tmp_path / "out.png", overwrite=True))
    settle(restored, qtbot)
    assert "out.png was replaced without its set-user-ID bit" in notices[-1]


@pytest.mark.parametrize("name", ["write_restored", "write_mask", "write_comparison", "write_dictionary"])
def test_nothing_is_written_over_unasked(restored, exporter, qtbot, files, name) -> None:
    before = files["damaged"].read_bytes()
    getattr(exporter, name)(Output(files["damaged"]))
    settle(restored, qtbot)
    assert "source" in restored.complaints[0]
    assert files["damaged"].read_bytes() == before


def test_a_mask_is_not_written_with_losses(restored, exporter, qtbot, tmp_path) -> None:
    exporter.write_mask(Output(tmp_path / "mask.jpg"))
    settle(restored, qtbot)
    assert "mask.jpg would blur the mask; write PNG or TIFF." in restored.complaints[0]
    assert not (tmp_path / "mask.jpg").exists()


def test_what_is_written_at_once_is_all_told_of(restored, exporter, qtbot, files, tmp_path) -> None:
    notices = []
    restored.document.notice.connect(notices.append)
    exporter.write_restored(Output(tmp_path / "out.png"))
    exporter.write_mask(Output(files["damaged"]))
    exporter.write_recipe(Output(tmp_path / "out.json"))
    assert exporter.activity is not None
    settle(restored, qtbot)
    assert exporter.activity is None
    assert sorted(Path(words.rpartition(" ")[2]).name for words in notices) == ["out.json", "out.png"]
    assert len(restored.complaints) == 1
    assert not is_unsaved(restored)


def paint(session) -> None:
    session.masking.begin_stroke(30, 30, diameter=9)
    session.masking.end_stroke()


def test_a_mask_is_safe_with_the_picture_restored_with_it(restored, exporter, qtbot, tmp_path) -> None:
    paint(restored)
    exporter.write_restored(Output(tmp_path / "before.png"))
    exporter.wait()
    assert restored.state.has_unsaved_mask, "that was restored with another mask"
    restored.running.restore()
    settle(restored, qtbot)
    exporter.write_restored(Output(tmp_path / "after.png"))
    exporter.wait()
    assert not is_unsaved(restored)


def test_what_was_written_of_another_document_saves_nothing(restored, qtbot, files) -> None:
    old = restored.state.runs.current
    restored.opening.open_file(files["damaged"])
    settle(restored, qtbot)
    restored.running.restore()
    settle(restored, qtbot)
    assert restored.state.runs.current.number == old.number
    restored.document.mark_saved(old)
    assert restored.state.has_unsaved_result


def test_a_mask_painted_on_while_it_is_written_is_unsaved(restored, exporter, qtbot, tmp_path) -> None:
    paint(restored)
    exporter.write_mask(Output(tmp_path / "first.png"))
    restored.masking.invert()
    exporter.wait()
    assert restored.state.has_unsaved_mask
    exporter.write_mask(Output(tmp_path / "second.png"))
    exporter.wait()
    assert not restored.state.has_unsaved_mask
    qtbot.waitUntil(lambda: restored.is_settled, timeout=600_000)


def test_a_recipe_is_read_back(restored, exporter, qtbot, tmp_path) -> None:
    path = tmp_path / "best.json"
    exporter.write_recipe(Output(path))
    settle(restored, qtbot)
    assert recipe_settings(read_recipe(path), path) == restored.state.runs.current.settings.as_request()


def test_mask_comparison_and_dictionary_are_pictures(restored, exporter, qtbot, tmp_path) -> None:
    for name in ("mask", "comparison", "dictionary"):
        getattr(exporter, f"write_{name}")(Output(tmp_path / f"my_{name}.png"))
        settle(restored, qtbot)
    mask = read_picture(tmp_path / "my_mask.png")
    assert np.array_equal(mask.pixels > 127, restored.document.mask)
    assert read_picture(tmp_path / "my_comparison.png").width > 2 * restored.state.source.picture.width
    assert read_picture(tmp_path / "my_dictionary.png").is_color
    assert restored.complaints == []


def test_depth_quality_and_metadata_are_as_asked(session, exporter, qtbot, tmp_path, picture) -> None:
    deep = Picture(picture.pixels.astype(np.uint16) * 257, metadata=Metadata(icc=None, dpi=(300.0, 300.0)))
    write_picture(deep, tmp_path / "deep.tif")
    session.set_settings(FAST)
    session.opening.open_file(tmp_path / "deep.tif")
    settle(session, qtbot)
    session.masking.begin_stroke(30, 30, diameter=9)
    session.masking.end_stroke()
    session.running.restore()
    settle(session, qtbot)
    kept, stripped = tmp_path / "kept.tif", tmp_path / "stripped.png"
    exporter.write_restored(Output(kept))
    settle(session, qtbot)
    exporter.write_restored(Output(stripped, depth=8, keep_metadata=False))
    settle(session, qtbot)
    assert (read_picture(kept).depth, read_picture(kept).metadata.dpi) == (16, (300.0, 300.0))
    assert (read_picture(stripped).depth, read_picture(stripped).metadata.dpi) == (8, None)
    exporter.write_restored(Output(tmp_path / "no.jpg"))
    settle(session, qtbot)
    assert "16-bit" in session.complaints[0]
    assert not (tmp_path / "no.jpg").exists()


def test_without_a_result_there_is_nothing_to_export(session, exporter, tmp_path) -> None:
    exporter.write_restored(Output(tmp_path / "out.png"))
    exporter.write_comparison(Output(tmp_path / "out.png"))
    exporter.write_mask(Output(tmp_path / "out.png"))
    assert len(session.complaints) == 3
    assert all(sentence.endswith(".") for sentence in session.complaints)


def test_figures_are_marked_where_they_are_estimates(restored) -> None:

    assert "estimated" in format_quality(restored.state.runs.current.figures)
    assert format_quality(None) == ""
