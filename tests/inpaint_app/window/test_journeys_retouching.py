"""A retoucher's journeys: dust, an object, and what is copied from elsewhere, by mouse and pen."""

import numpy as np
import pytest
from gestures import ALT, LEFT, click, drag, move, press, release
from PIL import Image
from PySide6.QtCore import QEvent, QPointF, QRect, Qt
from PySide6.QtGui import QPointingDevice, QTabletEvent
from PySide6.QtWidgets import QApplication
from windows import FAST, at, opened, settle, trigger

from inpaint_app.io.assets import ORIGINAL, read_sample
from inpaint_app.io.atomic import write_files
from inpaint_app.io.write import Output
from inpaint_app.window.document.project import read_project
from inpaint_app.window.document.project_writer import project_file


@pytest.fixture
def photograph() -> np.ndarray:
    return read_sample(ORIGINAL).pixels[:160, :200].copy()


def open_picture(window, qtbot, path, pixels):
    Image.fromarray(pixels).save(path)
    return opened(window, qtbot, path)


def test_dust_is_healed_speck_by_speck_and_undone(window, qtbot, tmp_path, photograph) -> None:
    specks = [(30, 40), (70, 150), (120, 90)]
    dusty = photograph.copy()
    for row, column in specks:
        dusty[row - 2 : row + 3, column - 2 : column + 3] = 255
    open_picture(window, qtbot, tmp_path / "dusty.png", dusty)
    canvas = window.viewer.panes["result"].canvas
    trigger(window, "softer")
    for row, column in specks:
        click(canvas, at(canvas, row + 0.5, column + 0.5))
        settle(window, qtbot)
    session = window.session
    healed = session.state.runs.current.image
    for row, column in specks:
        assert healed[row, column].astype(int).max() < 250, "the speck is gone"
    assert session.state.runs.current.n_strokes == 3
    for n_left in (2, 1):
        assert window.actions_["undo"].text() == "&Undo Healing"
        trigger(window, "undo")
        settle(window, qtbot)
        assert session.state.runs.current.n_strokes == n_left
    row, column = specks[-1]
    assert (session.state.runs.current.image[row, column] == 255).all()
    trigger(window, "undo")
    settle(window, qtbot)
    assert session.state.runs.current is None
    assert not session.document.mask.any()


def test_an_object_is_removed_in_two_actions(window, qtbot, tmp_path, photograph) -> None:
    rows, columns = np.mgrid[:160, :200]
    thing = (rows - 80) ** 2 + (columns - 100) ** 2 < 24**2
    photograph[thing] = (30, 60, 220)
    open_picture(window, qtbot, tmp_path / "object.png", photograph)
    trigger(window, "object")
    canvas = window.viewer.panes["result"].canvas
    around = [(80 + 38 * np.sin(angle), 100 + 38 * np.cos(angle)) for angle in np.linspace(0, 6.2, 30)]
    drag(canvas, *(at(canvas, *place) for place in around))
    settle(window, qtbot)
    mask = window.session.document.mask.copy()
    assert mask[thing].mean() > 0.98
    assert mask.sum() < 1.3 * thing.sum(), "the line has snapped to the object"
    trigger(window, "restore")
    settle(window, qtbot)
    restored = window.session.state.runs.current.image[thing].astype(int)
    assert np.median(restored[:, 2] - restored[:, 0]) < 60, "it is no longer blue"


def test_what_is_cloned_with_the_mouse_is_in_the_project(window, qtbot, tmp_path, photograph) -> None:
    open_picture(window, qtbot, tmp_path / "photo.png", photograph)
    trigger(window, "clone")
    canvas = window.viewer.panes["result"].canvas
    click(canvas, at(canvas, 120.5, 150.5), ALT)
    assert not window.session.document.mask.any(), "nothing is painted"
    drag(canvas, at(canvas, 40.5, 50.5), at(canvas, 40.5, 70.5))
    settle(window, qtbot)
    assert window.actions_["undo"].text() == "&Undo Cloning"
    record = window.session.state.runs.current
    assert np.array_equal(record.image[40, 50:70], photograph[120, 150:170])
    path = tmp_path / "saved.inpaint"
    write_files([project_file(path, window.session.state)])
    read = read_project(path).runs.current
    assert np.array_equal(read.image, record.image)
    assert read.touched.same_pixels(record.touched)


def pen(canvas, kind: QEvent.Type, at: QPointF, pressure: float) -> None:
    event = QTabletEvent(
        kind,
        QPointingDevice.primaryPointingDevice(),
        at,
        canvas.mapToGlobal(at),
        pressure,
        0,
        0,
        0,
        0,
        0,
        Qt.KeyboardModifier.NoModifier,
        LEFT,
        LEFT,
    )
    QApplication.sendEvent(canvas, event)


def test_a_pen_heals_as_wide_as_it_is_pressed(window, qtbot, tmp_path, photograph) -> None:
    open_picture(window, qtbot, tmp_path / "photo.png", photograph)
    session = window.session
    session.document.set_view(session.state.view.with_brush(20))
    canvas = window.viewer.panes["result"].canvas
    begin, end = at(canvas, 80.5, 40.5), at(canvas, 80.5, 160.5)
    pen(canvas, QEvent.Type.TabletPress, begin, 0.2)
    press(canvas, begin)
    pen(canvas, QEvent.Type.TabletMove, end, 1.0)
    move(canvas, end, LEFT)
    pen(canvas, QEvent.Type.TabletRelease, end, 0.0)
    release(canvas, end)
    settle(window, qtbot)
    widths = session.document.mask.sum(axis=0)
    assert widths[38] <= 20 <= widths[160] + 1
    assert session.state.runs.current.n_strokes == 1


def test_the_wand_takes_as_much_as_its_tolerance_says(window, qtbot, tmp_path) -> None:
    pixels = np.tile(np.repeat(np.arange(0, 100, 10, dtype=np.uint8), 10), (60, 1))
    open_picture(window, qtbot, tmp_path / "steps.png", pixels)
    window.session.set_settings(FAST)
    canvas = window.viewer.panes["result"].canvas
    trigger(window, "wand")
    marked = []
    for tolerance in (0, 12, 24):
        window.session.document.set_view(type(window.session.state.view)(tool="wand", tolerance=tolerance))
        click(canvas, at(canvas, 30.5, 45.5))
        settle(window, qtbot)
        marked.append(int(window.session.document.mask[30].sum()))
        trigger(window, "undo")
        settle(window, qtbot)
    assert marked == [10, 30, 50]


def test_a_project_is_among_the_recent_files(window, qtbot, tmp_path, photograph) -> None:
    open_picture(window, qtbot, tmp_path / "photo.png", photograph)
    window.session.exporting.write_project(Output(tmp_path / "work.inpaint"))
    settle(window, qtbot)
    files = window._preferences
    assert [*files.now.recent] == [tmp_path / "work.inpaint", tmp_path / "photo.png"]
    assert window.session.state.project == tmp_path / "work.inpaint"
    files.store(recent=())
    window.session.close_picture()
    assert window.session.state.project is None
    window.files.open_recent(tmp_path / "work.inpaint")
    settle(window, qtbot)
    assert files.now.recent[0] == tmp_path / "work.inpaint"
    assert window.session.state.source.path == tmp_path / "photo.png"


def test_the_line_around_an_object_is_gone_once_that_is_found(
    window, qtbot, tmp_path, photograph, monkeypatch
) -> None:
    pixels = photograph.copy()
    pixels[60:100, 60:100] = (30, 60, 220)
    open_picture(window, qtbot, tmp_path / "photo.png", pixels)
    window.actions_.tools["object"].trigger()
    canvas = window.viewer.panes["result"].canvas
    masking, line, updated = window.session.masking, at(canvas, 45, 80).toPoint(), []

    def update(area: QRect | None = None) -> None:
        if area is None or area.contains(line):
            updated.append(masking.task.is_active)

    monkeypatch.setattr(canvas, "update", update)
    drag(canvas, *(at(canvas, *place) for place in ((45, 45), (45, 115), (115, 115), (115, 45), (47, 45))))
    settle(window, qtbot)
    assert window.session.document.mask[70:90, 70:90].all()
    assert updated[-1] is False, "it is drawn again without the line"
