"""The panes of a session: they draw what is resolved, and tools work on them."""

from dataclasses import replace

import numpy as np
import pytest
from gestures import drag, move
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QColorSpace
from PySide6.QtWidgets import QVBoxLayout, QWidget
from windows import FAST, at, drawn, opened, restored, settle, shown_pixels

from inpaint_app.io.read import read_picture
from inpaint_app.io.write import Output, write_picture
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Metadata, Picture
from inpaint_app.window.canvas.image_pyramid import as_uint32, to_image
from inpaint_app.window.commands.mime_data import image_of, picture_of
from inpaint_app.window.document.view_state import COMPARISON, ERROR_MAP, SIDE_BY_SIDE, SPLIT, VIEW_MODES
from inpaint_app.window.viewer import viewer as viewer_module
from inpaint_app.window.viewer.viewer import Viewer


class Shown(QWidget):
    """A viewer in a window of its own, settled when its session is."""

    def __init__(self, session) -> None:
        super().__init__()
        self.session, self.viewer = session, Viewer(session)
        QVBoxLayout(self).addWidget(self.viewer)
        self.resize(900, 500)

    @property
    def is_settled(self) -> bool:
        return self.session.is_settled and self.viewer.is_settled

    def view(self, mode) -> None:
        self.session.document.set_view(self.session.state.view.with_mode(mode))

    def choose(self, tool: str, *panes: str) -> None:
        self.session.document.set_view(self.session.state.view.with_tool(tool, panes))

    def hold(self, held: bool) -> None:
        self.session.document.set_view(replace(self.session.state.view, is_before_held=held))

    def __getitem__(self, name: str):
        return self.viewer.panes[name]


@pytest.fixture
def shown(session, qtbot):
    made = Shown(session)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.hide()
    made.viewer.close_workers()


def test_every_mode_shows_its_pictures(shown, qtbot, files) -> None:
    opened(shown, qtbot, files["damaged"], reference=files["whole"])
    shown.session.running.compare()
    settle(shown, qtbot)
    for mode in VIEW_MODES.values():
        shown.view(mode)
        settle(shown, qtbot)
        visible = {name for name, pane in shown.viewer.panes.items() if pane.isVisible()}
        assert visible == set(mode.panes)
        assert all(shown[name].canvas.has_picture for name in visible)
        assert all(shown[name].caption.text() for name in visible - {"error", "result"})


def test_the_restored_picture_is_drawn_when_it_is_there(shown, qtbot, files) -> None:
    opened(shown, qtbot, files["damaged"])
    assert not shown["restored"].canvas.has_picture
    assert "F5" in shown["restored"].canvas.content.placeholder
    shown.session.running.restore()
    settle(shown, qtbot)
    current = shown.session.state.runs.current
    assert np.array_equal(shown_pixels(shown["restored"]), drawn(current.image))
    assert shown["restored"].caption.text() == shown.viewer.display.panes["restored"].caption[0] != ""


def test_a_preview_is_an_inset_while_it_is_there(shown, qtbot, files) -> None:
    restored(shown, qtbot, files["damaged"])
    shown.session.set_settings(replace(FAST, n_atoms=3, sparsity=1))
    assert shown["restored"].badge.text() == "preview …"
    settle(shown, qtbot)
    assert shown["restored"].badge.text() == "preview"
    pyramid, rect = shown["restored"].canvas.content.inset
    preview = shown.session.state.preview
    assert rect == preview.rect
    assert np.array_equal(as_uint32(pyramid.images[0]), drawn(preview.image))
    shown.session.running.restore()
    settle(shown, qtbot)
    assert shown["restored"].canvas.content.inset is None


def test_the_split_view_hatches_the_damaged_side_alone(shown, qtbot, files) -> None:
    restored(shown, qtbot, files["damaged"])
    shown.view(SPLIT)
    settle(shown, qtbot)
    canvas = shown["split"].canvas
    with_mask = canvas.grab().toImage()
    shown.session.document.set_view(replace(shown.session.state.view, shows_mask=False))
    differ = np.argwhere(as_uint32(with_mask) != as_uint32(canvas.grab().toImage()))
    assert len(differ) > 0
    assert differ[:, 1].max() < canvas.width() / 2


def test_an_atom_lights_up_its_patches(shown, qtbot, files) -> None:
    restored(shown, qtbot, files["damaged"])
    shown.session.measuring.choose_atom(1)
    settle(shown, qtbot)
    lit = shown["restored"].canvas.content.highlight
    assert 0 < lit.level(0).mean() < 255
    assert shown["damaged"].canvas.content.highlight is lit
    shown.session.measuring.choose_atom(None)
    assert shown["restored"].canvas.content.highlight is None


def test_the_pixel_under_the_pointer_is_read_and_marked_in_every_pane(shown, qtbot, files) -> None:
    opened(shown, qtbot, files["damaged"])
    told, mask = [], shown.session.document.mask
    shown.viewer.pixel_changed.connect(told.append)
    row, column = map(int, np.argwhere(~mask)[20])
    unmarked = shown["damaged"].canvas.grab().toImage()
    move(shown["restored"].canvas, at(shown["damaged"].canvas, row + 0.5, column + 0.5))
    assert told == [], "there is nothing under the pointer yet"
    shown.session.running.restore()
    settle(shown, qtbot)
    move(shown["restored"].canvas, at(shown["restored"].canvas, row + 0.5, column + 0.5))
    pixels = shown.session.state.source.picture.pixels
    assert shown["damaged"].readout.text() == shown["restored"].readout.text() == str(pixels[row, column])
    assert told == [f"row {row}, column {column}"]
    assert shown["damaged"].canvas.grab().toImage() != unmarked
    shown["restored"].canvas.hover_left.emit()
    assert shown["damaged"].readout.text() == ""


def test_the_mask_is_painted_on_the_damaged_picture(shown, qtbot, files) -> None:
    opened(shown, qtbot, files["whole"])
    shown.choose("brush", "damaged")
    shown.session.document.set_view(shown.session.state.view.with_brush(5))
    canvas = shown["damaged"].canvas
    drag(canvas, at(canvas, 30.5, 20.5), at(canvas, 30.5, 60.5))
    mask = shown.session.document.mask
    assert mask[29:32, 21:60].all()
    assert not mask[:20].any()
    assert canvas.content.mask.level(0).astype(bool).tobytes() == mask.tobytes()
    assert "% missing" in shown["damaged"].caption.text()
    shown.choose("pan")
    drag(canvas, at(canvas, 50.5, 20.5), at(canvas, 50.5, 60.5))
    assert not mask[50].any()
    settle(shown, qtbot)


def test_a_tool_works_only_on_its_panes(shown, qtbot, files) -> None:
    restored(shown, qtbot, files["damaged"])
    shown.choose("brush", "damaged")
    before, canvas = shown.session.document.mask.copy(), shown["restored"].canvas
    drag(canvas, at(canvas, 30.5, 20.5), at(canvas, 30.5, 60.5))
    assert np.array_equal(shown.session.document.mask, before)


def test_the_caption_follows_a_stroke_in_progress(shown, qtbot, files) -> None:
    opened(shown, qtbot, files["whole"])
    caption = shown["damaged"].caption
    assert caption.text() == "nothing missing"
    shown.session.masking.begin_stroke(30, 40, diameter=9)
    assert "% missing" in caption.text()
    shown.session.masking.end_stroke()
    settle(shown, qtbot)


def test_the_hatching_is_the_mask_after_edits_in_quick_succession(shown, qtbot, files, monkeypatch) -> None:
    monkeypatch.setattr(viewer_module, "LARGE_EDIT", 2000)  # inverting is taken over in another thread
    opened(shown, qtbot, files["damaged"])
    session = shown.session
    for _ in range(10):
        session.masking.invert()
        session.masking.begin_stroke(30, 40, diameter=9)
        session.masking.end_stroke()
        session.history.undo()
    settle(shown, qtbot)
    hatched = shown["damaged"].canvas.content.mask.level(0).astype(bool)
    assert hatched.tobytes() == session.document.mask.copy().tobytes()


class PaintWatcher(QObject):
    """Writes down which parts of a widget are painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.rects = []
        widget.installEventFilter(self)

    def eventFilter(self, _watched, event) -> bool:  # noqa: N802  (Qt's name)
        if event.type() is QEvent.Type.Paint:
            self.rects.append(event.rect())
        return False


@pytest.mark.parametrize(("diameter", "everywhere"), [(9, False), (60, True)])
def test_all_hatching_is_drawn_again_only_when_it_turns_faint(
    shown, qtbot, files, diameter, everywhere
) -> None:
    opened(shown, qtbot, files["whole"])
    canvas = shown["damaged"].canvas
    qtbot.wait(50)
    painted = PaintWatcher(canvas)
    masking = shown.session.masking
    masking.begin_stroke(60, 10, diameter=diameter)
    masking.extend_stroke(40, 90)
    masking.end_stroke()
    qtbot.waitUntil(lambda: bool(painted.rects), timeout=600_000)
    assert canvas.content.mask.is_dense is everywhere
    assert (canvas.rect() in painted.rects) is everywhere
    settle(shown, qtbot)


def test_a_result_beyond_the_comparison_comes_into_sight(shown, qtbot, files) -> None:
    opened(shown, qtbot, files["damaged"])
    shown.view(SPLIT)
    shown.session.running.compare()
    settle(shown, qtbot)
    assert shown.session.state.view.mode is COMPARISON
    shown.session.set_settings(replace(FAST, n_atoms=5))
    shown.session.running.restore()
    settle(shown, qtbot)
    assert shown.session.state.view.mode is SPLIT, "the mode before"
    shown.view(COMPARISON)
    settle(shown, qtbot)
    assert not shown["compared_2"].canvas.has_picture, "that pair has other parameters"
    shown.session.go_back(1)
    settle(shown, qtbot)
    assert shown.session.state.view.mode is COMPARISON
    assert shown["compared_2"].canvas.has_picture


def test_another_mode_keeps_what_is_ready(shown, qtbot, files) -> None:
    restored(shown, qtbot, files["damaged"], reference=files["whole"])
    shown.view(ERROR_MAP)
    settle(shown, qtbot)
    error = shown["error"].canvas.content.pyramid
    shown.view(SIDE_BY_SIDE)
    shown.view(ERROR_MAP)
    assert shown["error"].canvas.content.pyramid is error


@pytest.fixture
def soft(tmp_path, picture):
    """A hole with a soft rim, and a soft spot elsewhere, in colors of a wide profile."""
    alpha = np.full(picture.pixels.shape, 255, np.uint8)
    alpha[20:40, 20:40], alpha[60:66, 60:66] = 120, 120
    alpha[24:36, 24:36] = 0
    pixels = np.stack([picture.pixels, picture.pixels // 2, picture.pixels // 3], axis=2)
    wide = QColorSpace(QColorSpace.NamedColorSpace.ProPhotoRgb).iccProfile().data()
    write_picture(Picture(pixels, alpha, Metadata(icc=wide)), tmp_path / "soft.png")
    return tmp_path / "soft.png"


def test_the_profile_of_the_screen_changes_what_is_shown_and_nothing_else(shown, qtbot, soft) -> None:
    restored(shown, qtbot, soft)
    record, given = shown.session.state.runs.current, read_picture(soft)
    screen = QColorSpace(QColorSpace.NamedColorSpace.DisplayP3).iccProfile().data()
    before = shown_pixels(shown["damaged"])
    shown.viewer.set_screen_profile(screen)
    settle(shown, qtbot)
    drawn = to_image(given.pixels, alpha=given.alpha, icc=given.metadata.icc, screen=screen)
    assert np.array_equal(shown_pixels(shown["damaged"]), as_uint32(drawn))
    assert not np.array_equal(shown_pixels(shown["damaged"]), before)
    assert shown.session.state.runs.current is record
    shown.viewer.set_screen_profile(None)
    settle(shown, qtbot)
    assert np.array_equal(shown_pixels(shown["damaged"]), before)


def test_what_is_exported_is_what_is_shown(shown, qtbot, soft, tmp_path) -> None:
    restored(shown, qtbot, soft)
    shown.session.exporting.write_restored(Output(tmp_path / "out.png"))
    settle(shown, qtbot)
    exported, given = read_picture(tmp_path / "out.png"), read_picture(soft)
    drawn_file = to_image(exported.pixels, alpha=exported.alpha, icc=exported.metadata.icc)
    assert np.array_equal(shown_pixels(shown["restored"]), as_uint32(drawn_file))
    assert exported.metadata.icc == given.metadata.icc
    observed = ~shown.session.document.mask
    assert np.array_equal(exported.pixels[observed], given.pixels[observed]), (
        "colors are converted to be shown"
    )
    assert (exported.alpha[20:40, 20:40] == 255).all(), "no rim is left"
    assert (exported.alpha[60:66, 60:66] == 120).all(), "what borders no hole stays"
    copied = picture_of(image_of(exported, given.pixels))
    assert np.array_equal(copied.alpha, exported.alpha)
    shown.session.opening.set_mask_spec(MaskSpec(soft_edges=False))
    settle(shown, qtbot)
    assert shown.session.document.mask.sum() == 144
