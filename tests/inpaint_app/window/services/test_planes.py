"""Pages and bands of a file: one is shown, what is done with the others is kept, all are restored."""

import numpy as np
import pytest
import tifffile
from windows import FAST, opened, settle

from inpaint_app.engine.source import Plane
from inpaint_app.io.atomic import write_files
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import Output
from inpaint_app.model.look import Look
from inpaint_app.model.picture import Rect
from inpaint_app.window.canvas.tools.brushes import CloneStamp
from inpaint_app.window.canvas.tools.tool import Place
from inpaint_app.window.document.project import read_project
from inpaint_app.window.document.project_writer import project_file


@pytest.fixture(params=["pages", "bands"])
def stack(tmp_path, request):
    """A file of three pages, or of one with five bands, with a hole in each."""
    shape = (3, 24, 24) if request.param == "pages" else (24, 24, 5)
    values = np.random.default_rng(0).random(shape, np.float32)
    hole = np.s_[:, 8:10, 8:10] if request.param == "pages" else np.s_[8:10, 8:10, :]
    values[hole] = np.nan
    path = tmp_path / f"{request.param}.tif"
    planar = {} if request.param == "pages" else {"planarconfig": "contig"}
    tifffile.imwrite(path, values, photometric="minisblack", **planar)
    return path


def values_of(path) -> np.ndarray:
    """Return the planes of a file, (N, H, W)."""
    values = tifffile.imread(path)
    return values if path.stem.startswith("pages") else np.moveaxis(values, -1, 0)


def go_to(session, qtbot, number: int) -> None:
    is_page = session.state.source.n_pages > 1
    session.opening.show_plane(**{"page" if is_page else "band": number})
    settle(session, qtbot)


def test_every_plane_can_be_shown(session, qtbot, stack) -> None:
    opened(session, qtbot, stack)
    for number, values in enumerate(values_of(stack)):
        go_to(session, qtbot, number)
        assert np.array_equal(session.state.source.picture.pixels, values, equal_nan=True)
        assert np.array_equal(session.document.mask, np.isnan(values))
    assert session.complaints == []


def test_the_work_on_a_plane_is_kept(session, qtbot, stack) -> None:
    opened(session, qtbot, stack)
    session.running.restore()
    settle(session, qtbot)
    result = session.state.runs.current
    go_to(session, qtbot, 1)
    assert session.state.runs.current is None
    session.masking.fill(Rect(2, 2, 3, 3))
    settle(session, qtbot)
    assert not session.state.planes[_plane(stack, 0)].mask.unpack()[2:5, 2:5].any()
    go_to(session, qtbot, 0)
    assert session.state.runs.current is result
    assert session.state.has_unsaved_result
    go_to(session, qtbot, 1)
    assert session.document.mask[2:5, 2:5].all()


def _plane(path, number: int) -> Plane:
    return Plane(number, None) if path.stem == "pages" else Plane(0, number)


def test_all_planes_are_restored_with_their_masks(session, qtbot, stack, tmp_path) -> None:
    opened(session, qtbot, stack)
    go_to(session, qtbot, 1)
    session.masking.fill(Rect(2, 2, 3, 3))
    settle(session, qtbot)
    session.whole_file.restore_pages(Output(tmp_path / f"{stack.stem}_restored.tif"))
    assert session.state.activity.kind == "file"
    settle(session, qtbot)
    assert session.complaints == []
    given, written = values_of(stack), values_of(tmp_path / f"{stack.stem}_restored.tif")
    assert np.isfinite(written).all()
    changed = ~np.isclose(given, written, equal_nan=True)
    expected = np.isnan(given)
    expected[1, 2:5, 2:5] = True
    assert not (changed & ~expected).any()
    assert changed[1, 2:5, 2:5].all()


def test_a_project_holds_all_planes_and_how_they_are_shown(session, qtbot, stack, tmp_path) -> None:
    opened(session, qtbot, stack)
    session.running.restore()
    settle(session, qtbot)
    first = session.state.runs.current
    go_to(session, qtbot, 2)
    session.masking.fill(Rect(2, 2, 3, 3))
    session.running.restore()
    settle(session, qtbot)
    second = session.state.runs.current
    session.document.apply(look=Look((0.25, 0.75), "heat"))
    path = tmp_path / "work.inpaint"
    write_files([project_file(path, session.state)])
    session.document.discard()
    assert not session.state.has_unsaved_result
    session.opening.open_project(path)
    settle(session, qtbot)
    assert session.complaints == []
    assert session.state.source.plane == _plane(stack, 2)
    assert session.state.look == Look((0.25, 0.75), "heat")
    assert np.array_equal(session.state.runs.current.image, second.image)
    assert session.document.mask[2:5, 2:5].all()
    go_to(session, qtbot, 0)
    assert np.array_equal(session.state.runs.current.image, first.image)
    assert not session.state.has_unsaved_result


def test_a_project_with_a_page_that_is_gone_is_refused(session, qtbot, stack, tmp_path) -> None:
    opened(session, qtbot, stack)
    go_to(session, qtbot, 2)
    path = tmp_path / "work.inpaint"
    write_files([project_file(path, session.state)])
    values = values_of(stack)[:1]
    tifffile.imwrite(stack, values[0])
    with pytest.raises(Exception, match=r"no page|not the picture") as caught:
        read_project(path)
    assert type(caught.value).__name__ == "UserError"


def test_another_file_has_no_planes_of_the_last_one(session, qtbot, stack, files) -> None:
    opened(session, qtbot, stack)
    go_to(session, qtbot, 1)
    session.document.apply(look=Look((0.0, 0.5)))
    opened(session, qtbot, files["whole"])
    assert (session.state.planes, session.state.look) == ({}, Look())


def test_a_mask_of_as_many_pages_marks_each_of_them(session, qtbot, tmp_path) -> None:
    from inpaint_app.model.missing import MaskSpec

    values = np.random.default_rng(0).integers(0, 255, (3, 24, 24), np.uint8)
    marks = np.zeros_like(values)
    for page in range(3):
        marks[page, 2 + 5 * page, 3:9] = 255
    for name, array in (("stack.tif", values), ("marks.tif", marks)):
        tifffile.imwrite(tmp_path / name, array, photometric="minisblack")
    session.set_settings(FAST)
    session.opening.open_file(tmp_path / "stack.tif", MaskSpec(mask=tmp_path / "marks.tif", grow=0))
    settle(session, qtbot)
    for page in (0, 2):
        go_to(session, qtbot, page)
        assert np.array_equal(session.document.mask, marks[page] > 0)


def test_work_on_other_planes_is_unsaved_after_it_was_recovered(session, qtbot, stack, tmp_path) -> None:
    opened(session, qtbot, stack)
    session.masking.fill(Rect(2, 2, 3, 3))
    session.running.restore()
    settle(session, qtbot)
    go_to(session, qtbot, 1)
    path = tmp_path / "work.inpaint"
    write_files([project_file(path, session.state)])
    session.document.discard()
    session.opening.open_project(path, is_saved=False)
    settle(session, qtbot)
    assert session.state.has_unsaved_result


def test_what_is_done_with_other_planes_while_a_project_is_saved_stays(session, qtbot, stack) -> None:
    opened(session, qtbot, stack)
    go_to(session, qtbot, 1)
    go_to(session, qtbot, 0)
    saving = session.state
    go_to(session, qtbot, 1)
    session.masking.fill(Rect(2, 2, 3, 3))
    settle(session, qtbot)
    go_to(session, qtbot, 0)
    session.document.mark_project_saved(saving, stack.with_suffix(".inpaint"))
    assert session.state.planes[_plane(stack, 1)].mask.unpack()[2:5, 2:5].all()
    assert session.state.has_unsaved_result
    session.document.mark_project_saved(session.state, stack.with_suffix(".inpaint"))
    assert not session.state.has_unsaved_result


def test_what_was_copied_on_a_plane_is_in_the_file(session, qtbot, stack, tmp_path) -> None:
    opened(session, qtbot, stack)
    session.document.set_view(session.state.view.with_brush(3))
    session.healing.choose_source(20.5, 20.5)
    stamp = CloneStamp(session)
    stamp.press(Place(4.5, 4.5))
    stamp.release()
    settle(session, qtbot)
    plane, retouch = session.state.source.plane, session.state.runs.retouch
    go_to(session, qtbot, 1)
    session.whole_file.restore_pages(Output(tmp_path / "restored.tif"))
    settle(session, qtbot)
    assert session.complaints == []
    written = read_picture(tmp_path / "restored.tif").pages[plane.page].pixels
    shown = written if plane.band is None else written[..., plane.band]
    copied = retouch.where.unpack()
    assert copied.any()
    assert np.array_equal(shown[copied], retouch.image[copied])
