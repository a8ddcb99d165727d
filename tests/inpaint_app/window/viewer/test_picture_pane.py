"""A pane with a picture: what is drawn, and what the user's gestures mean."""

import numpy as np
import pytest
from gestures import LEFT, MIDDLE, double_click, drag, move, press, release, wheel
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from inpaint_app.image.rect import Rect
from inpaint_app.window.canvas.mask_pyramid import MaskPyramid
from inpaint_app.window.canvas.painting_canvas import Tool
from inpaint_app.window.canvas.viewport import Viewport
from inpaint_app.window.theme.colors import LIGHT
from inpaint_app.window.viewer.picture_pane import PicturePane

HEIGHT, WIDTH = 60, 90


@pytest.fixture
def picture():
    return np.random.default_rng(0).integers(40, 216, (HEIGHT, WIDTH, 3), np.uint8)


@pytest.fixture
def pane(qtbot, picture):
    shown = PicturePane(Viewport(), "Damaged")
    qtbot.addWidget(shown)
    shown.resize(400, 360)
    shown.set_image(picture)
    shown.show()
    qtbot.waitExposed(shown)
    return shown


def grabbed(pane) -> QImage:
    return pane.canvas.grab().toImage()


def color_at(pane, row: float, column: float) -> tuple[int, int, int]:
    position = pane.canvas.position_of(column, row)
    return QColor(grabbed(pane).pixel(int(position.x()), int(position.y()))).getRgb()[:3]


def luminance(color) -> float:
    red, green, blue = ((value / 255) ** 2.2 for value in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def at(pane, row: float, column: float) -> QPointF:
    return pane.canvas.position_of(column, row)


def test_enlarged_pixels_are_squares_of_their_own_color(pane, picture):
    pane.canvas.viewport.set_zoom(20)
    for row, column in ((28, 44), (30, 45), (31, 47)):
        for inset in (0.1, 0.9):
            assert color_at(pane, row + inset, column + inset) == tuple(picture[row, column])


def test_at_actual_size_every_screen_pixel_is_a_pixel_of_the_picture(pane, picture):
    pane.canvas.viewport.show_actual_size()
    image = grabbed(pane)
    corner = pane.canvas.position_of(0, 0)
    for row, column in ((0, 0), (59, 89), (13, 57)):
        found = image.pixel(int(corner.x()) + column, int(corner.y()) + row)
        assert QColor(found).getRgb()[:3] == tuple(picture[row, column])


def test_reduced_pictures_keep_their_brightness(pane):
    checkered = (np.indices((2000, 3000)).sum(axis=0) % 2 * 255).astype(np.uint8)
    pane.set_image(checkered)
    assert pane.canvas.viewport.zoom < 0.2
    assert color_at(pane, 1000, 1500)[0] == pytest.approx(127, abs=2)


@pytest.mark.parametrize("shade", [(0, 0, 0), (128, 128, 128), (255, 255, 255), (255, 72, 196), (34, 0, 58)])
def test_missing_pixels_are_hatched_in_two_shades_and_others_are_left_alone(pane, picture, shade):
    pane.set_image(np.full_like(picture, shade))
    mask = np.zeros((HEIGHT, WIDTH), np.bool_)
    mask[10:50, 10:40] = True
    pane.set_mask(mask)
    seen = {color_at(pane, 30, column) for column in np.arange(12, 38, 0.3)}
    brightness = sorted(luminance(color) for color in seen)
    assert (brightness[-1] + 0.05) / (brightness[0] + 0.05) > 1.5
    assert {color_at(pane, 30, column) for column in (5, 50, 80)} == {shade}
    pane.show_mask(False)
    assert color_at(pane, 30, 20) == shade


@pytest.mark.parametrize("zoom", [0.1, 0.7, 1, 3])
def test_a_changed_part_of_the_mask_looks_as_if_it_were_set_as_a_whole(pane, zoom):
    pane.set_image(np.full((2000, 1500), 90, np.uint8))
    pane.canvas.viewport.set_zoom(zoom)
    mask = np.zeros((2000, 1500), np.bool_)
    pane.set_mask(mask)
    mask[990:1013, 740:757] = True
    pane.set_mask(mask, Rect(990, 740, 23, 17))
    image = grabbed(pane)
    pane.set_mask(mask.copy())
    assert image == grabbed(pane)


def test_a_mask_of_another_size_is_not_drawn(pane, picture):
    before = grabbed(pane)
    pane.set_mask(np.ones((5, 5), np.bool_))
    assert grabbed(pane) == before


def test_highlights_darken_everything_else(pane, picture):
    pane.set_mask(np.ones((HEIGHT, WIDTH), np.bool_))
    pane.set_highlights(MaskPyramid.of_rects([Rect(8, 8, 8, 8), Rect(48, 80, 40, 40)], (HEIGHT, WIDTH)))
    assert sum(color_at(pane, 30, 40)) < 0.6 * picture[30, 40].sum()
    assert color_at(pane, 12, 12) == tuple(picture[12, 12]), "no hatching meanwhile"
    pane.set_highlights(None)
    pane.show_mask(False)
    assert sum(color_at(pane, 30, 40)) > 0.8 * picture[30, 40].sum()


def test_lines_are_drawn_around_what_is_lit_not_between_its_patches(pane, picture):
    pane.canvas.viewport.set_zoom(4)
    middle = [Rect(row, column, 8, 8) for row in (24, 32) for column in (40, 48)]
    pane.set_highlights(MaskPyramid.of_rects(middle, (HEIGHT, WIDTH)))
    outline = LIGHT.outline.getRgb()[:3]
    for row, column in ((24, 44), (40, 52), (28, 40), (36, 56)):
        near = [color_at(pane, row + dy, column + dx) for dy in (-0.2, 0.2) for dx in (-0.2, 0.2)]
        assert outline in near
    for row, column in ((32, 44), (28, 48)):
        near = [color_at(pane, row + dy, column + dx) for dy in (-0.2, 0.2) for dx in (-0.2, 0.2)]
        assert outline not in near


def test_marker_is_drawn_and_taken_away_without_a_trace(pane):
    before = grabbed(pane)
    pane.set_marker((30, 40))
    assert grabbed(pane) != before
    pane.set_marker(None)
    assert grabbed(pane) == before


def test_without_a_picture_words_say_so(pane):
    pane.set_image(None)
    blank = grabbed(pane)
    pane.set_placeholder("Nothing restored yet")
    assert grabbed(pane) != blank


def test_wheel_zooms_at_the_pointer(pane):
    place = QPointF(120, 90)
    before = pane.canvas.place_at(place)
    assert wheel(pane.canvas, 2, place)
    wheel(pane.canvas, 2, place)
    assert pane.canvas.viewport.zoom > 4
    assert pane.canvas.place_at(place) == pytest.approx(before, abs=0.2)


def test_dragging_moves_the_picture(pane):
    pane.canvas.viewport.set_zoom(20)
    before = pane.canvas.place_at(QPointF(100, 100))
    drag(pane.canvas, QPointF(100, 100), QPointF(110, 105), QPointF(140, 120))
    assert pane.canvas.place_at(QPointF(140, 120)) == pytest.approx(before, abs=0.1)


def test_with_a_tool_middle_button_and_space_move_the_picture(pane):
    strokes = []
    pane.stroke_began.connect(lambda *place: strokes.append(place))
    pane.set_tool(Tool.BRUSH)
    pane.canvas.viewport.set_zoom(20)
    before = pane.canvas.viewport.center
    drag(pane.canvas, QPointF(100, 100), QPointF(140, 120), button=MIDDLE)
    middle = pane.canvas.viewport.center
    assert middle != before
    QTest.keyPress(pane.canvas, Qt.Key.Key_Space)
    drag(pane.canvas, QPointF(140, 120), QPointF(100, 100))
    QTest.keyRelease(pane.canvas, Qt.Key.Key_Space)
    assert pane.canvas.viewport.center == pytest.approx(before)
    assert strokes == []


def test_double_click_fits(pane):
    pane.canvas.viewport.set_zoom(20)
    double_click(pane.canvas)
    assert pane.canvas.viewport.is_fitted


def test_keys_move_and_zoom(pane):
    QTest.keyClick(pane.canvas, Qt.Key.Key_Plus)
    assert not pane.canvas.viewport.is_fitted
    pane.canvas.viewport.set_zoom(20)
    x, y = pane.canvas.viewport.center
    QTest.keyClick(pane.canvas, Qt.Key.Key_Right)
    QTest.keyClick(pane.canvas, Qt.Key.Key_Up)
    assert pane.canvas.viewport.center[0] > x
    assert pane.canvas.viewport.center[1] < y
    QTest.keyClick(pane.canvas, Qt.Key.Key_Minus)
    assert pane.canvas.viewport.zoom == pytest.approx(16)


def test_linked_panes_show_the_same_place(qtbot, pane, picture):
    second = PicturePane(pane.canvas.viewport, "Restored")
    qtbot.addWidget(second)
    second.resize(400, 360)
    second.set_image(picture)
    second.show()
    qtbot.waitExposed(second)
    wheel(pane.canvas, 5, QPointF(30, 40))
    assert grabbed(second) == grabbed(pane)


def test_hidden_panes_do_not_count_for_the_size(qtbot, pane, picture):
    zoom = pane.canvas.viewport.zoom
    second = PicturePane(pane.canvas.viewport, "Small")
    qtbot.addWidget(second)
    second.resize(150, 150)
    second.show()
    assert pane.canvas.viewport.zoom < zoom
    second.hide()
    assert pane.canvas.viewport.zoom == zoom


def test_the_pixel_under_the_pointer_is_told_once(pane):
    told = []
    pane.hovered.connect(lambda row, column: told.append((row, column)))
    pane.hover_left.connect(lambda: told.append(None))
    pane.canvas.viewport.set_zoom(20)
    move(pane.canvas, at(pane, 30.2, 45.2))
    move(pane.canvas, at(pane, 30.8, 45.8))
    move(pane.canvas, at(pane, 31.5, 45.8))
    QApplication.sendEvent(pane.canvas, QEvent(QEvent.Type.Leave))
    assert told == [(30, 45), (31, 45), None]


def test_beside_the_picture_there_is_no_pixel(pane):
    told = []
    pane.hovered.connect(lambda row, column: told.append((row, column)))
    for place in ((-1, 5), (5, -1), (HEIGHT + 1, 5), (5, WIDTH + 1)):
        move(pane.canvas, at(pane, *place))
    assert told == []
    move(pane.canvas, at(pane, HEIGHT - 0.5, WIDTH - 0.5))
    assert told == [(HEIGHT - 1, WIDTH - 1)]


@pytest.mark.parametrize("tool", [Tool.BRUSH, Tool.ERASER])
def test_strokes_are_told_in_order_and_in_places_of_the_picture(pane, tool):
    told = []
    pane.stroke_began.connect(lambda *place: told.append(("began", *place)))
    pane.stroke_moved.connect(lambda *place: told.append(("moved", *place)))
    pane.stroke_ended.connect(lambda: told.append(("ended",)))
    pane.set_tool(tool)
    drag(pane.canvas, at(pane, 10, 20), at(pane, 15, 25), at(pane, 20, 70))
    names = [name for name, *_ in told]
    assert names == ["began", "moved", "moved", "ended"]
    assert told[0][1:] == pytest.approx((10, 20), abs=0.3)
    assert told[2][1:] == pytest.approx((20, 70), abs=0.3)


def test_without_a_tool_nothing_is_painted(pane):
    strokes = []
    pane.stroke_began.connect(lambda *place: strokes.append(place))
    drag(pane.canvas, at(pane, 10, 20), at(pane, 15, 25))
    assert strokes == []


def test_escape_cancels_a_stroke(pane):
    told = []
    pane.stroke_canceled.connect(lambda: told.append("canceled"))
    pane.stroke_ended.connect(lambda: told.append("ended"))
    pane.set_tool(Tool.BRUSH)
    press(pane.canvas, at(pane, 10, 20))
    QTest.keyClick(pane.canvas, Qt.Key.Key_Escape)
    release(pane.canvas, at(pane, 10, 20))
    assert told == ["canceled"]


def test_escape_reaches_the_stroke_before_any_shortcut_of_the_window(qtbot, pane):
    shortcuts, canceled = [], []
    QShortcut(QKeySequence("Esc"), pane).activated.connect(lambda: shortcuts.append("Esc"))
    pane.stroke_canceled.connect(lambda: canceled.append("stroke"))
    pane.set_tool(Tool.BRUSH)
    pane.canvas.setFocus()
    press(pane.canvas, at(pane, 10, 20))
    QTest.keyClick(pane.canvas, Qt.Key.Key_Escape)
    assert (shortcuts, canceled) == ([], ["stroke"])
    QTest.keyClick(pane.canvas, Qt.Key.Key_Escape)
    assert shortcuts == ["Esc"]


@pytest.mark.parametrize("interrupt", [lambda pane: pane.hide(), lambda pane: pane.set_tool(Tool.NONE)])
def test_a_stroke_that_is_interrupted_ends(qtbot, pane, interrupt):
    pane.set_tool(Tool.BRUSH)
    press(pane.canvas, at(pane, 10, 20))
    with qtbot.waitSignal(pane.stroke_ended):
        interrupt(pane)


def test_rectangle_holds_the_pixels_that_it_touches_and_ends_at_the_border(pane):
    drawn = []
    pane.rectangle_drawn.connect(drawn.append)
    pane.set_tool(Tool.RECTANGLE)
    pane.canvas.viewport.set_zoom(4)
    drag(pane.canvas, at(pane, 20.5, 30.5), at(pane, 10.5, 50.5))
    drag(pane.canvas, at(pane, HEIGHT - 2.5, WIDTH - 3.5), at(pane, HEIGHT + 5, WIDTH + 5))
    assert drawn[0] == Rect(10, 30, 11, 21)
    assert drawn[1] == Rect(HEIGHT - 3, WIDTH - 4, 3, 4)


def test_escape_gives_a_rectangle_up(pane):
    drawn = []
    pane.rectangle_drawn.connect(drawn.append)
    pane.set_tool(Tool.RECTANGLE)
    before = grabbed(pane)
    press(pane.canvas, at(pane, 20.5, 30.5))
    move(pane.canvas, at(pane, 40.5, 60.5), LEFT)
    assert grabbed(pane) != before
    QTest.keyClick(pane.canvas, Qt.Key.Key_Escape)
    release(pane.canvas, at(pane, 40.5, 60.5))
    assert drawn == []
    assert grabbed(pane) == before


def test_brush_outline_follows_the_pointer_and_leaves_with_it(pane):
    before = grabbed(pane)
    pane.set_tool(Tool.BRUSH)
    pane.set_brush_diameter(12)
    move(pane.canvas, at(pane, 30, 40))
    there = grabbed(pane)
    move(pane.canvas, at(pane, 30, 60))
    assert there not in (before, grabbed(pane))
    QApplication.sendEvent(pane.canvas, QEvent(QEvent.Type.Leave))
    assert grabbed(pane) == before


def test_words_around_the_picture_are_also_there_for_screen_readers(pane):
    pane.set_title("Restored")
    pane.set_caption("PSNR 31.2 dB")
    pane.set_badge("preview")
    pane.set_readout("12, 7: 99")
    assert pane.canvas.accessibleName() == "Restored"
    assert pane.canvas.accessibleDescription() == "PSNR 31.2 dB"
