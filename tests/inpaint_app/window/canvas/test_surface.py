"""What a canvas draws: pixels, hatching, highlights, marks."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtGui import QColor
from windows import at

from inpaint_app.model.picture import Rect
from inpaint_app.window.canvas.image_pyramid import build_pyramid
from inpaint_app.window.canvas.layers import Content
from inpaint_app.window.canvas.mask_pyramid import MaskPyramid
from inpaint_app.window.theme.colors import OUTLINE

SHAPE = (60, 90)


def show(canvas, **layers) -> None:
    canvas.set_content(replace(canvas.content, **layers))


def color_at(canvas, row: float, column: float) -> tuple[int, int, int]:
    position = at(canvas, row, column)
    image = canvas.grab().toImage()
    return QColor(image.pixel(int(position.x()), int(position.y()))).getRgb()[:3]


def luminance(color) -> float:
    red, green, blue = ((value / 255) ** 2.2 for value in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_enlarged_pixels_are_squares_of_their_own_color(canvas, noise):
    canvas.viewport.set_zoom(20)
    for row, column in ((28, 44), (30, 45), (31, 47)):
        for inset in (0.1, 0.9):
            assert color_at(canvas, row + inset, column + inset) == tuple(noise[row, column])


def test_at_actual_size_every_screen_pixel_is_a_pixel_of_the_picture(canvas, noise):
    canvas.viewport.show_actual_size()
    image, corner = canvas.grab().toImage(), at(canvas, 0, 0)
    for row, column in ((0, 0), (59, 89), (13, 57)):
        found = image.pixel(int(corner.x()) + column, int(corner.y()) + row)
        assert QColor(found).getRgb()[:3] == tuple(noise[row, column])


def test_reduced_pictures_keep_their_brightness(canvas):
    checkered = (np.indices((2000, 3000)).sum(axis=0) % 2 * 255).astype(np.uint8)
    show(canvas, pyramid=build_pyramid(checkered))
    assert canvas.viewport.zoom < 0.2
    assert color_at(canvas, 1000, 1500)[0] == pytest.approx(127, abs=2)


@pytest.mark.parametrize("shade", [(0, 0, 0), (128, 128, 128), (255, 255, 255), (255, 72, 196), (34, 0, 58)])
def test_missing_pixels_are_hatched_in_two_shades_and_others_are_left_alone(canvas, noise, shade):
    mask = np.zeros(SHAPE, np.bool_)
    mask[10:50, 10:40] = True
    show(canvas, pyramid=build_pyramid(np.full_like(noise, shade)), mask=MaskPyramid(mask))
    seen = {color_at(canvas, 30, column) for column in np.arange(12, 38, 0.3)}
    brightness = sorted(luminance(color) for color in seen)
    assert (brightness[-1] + 0.05) / (brightness[0] + 0.05) > 1.5
    assert {color_at(canvas, 30, column) for column in (5, 50, 80)} == {shade}
    show(canvas, mask=None)
    assert color_at(canvas, 30, 20) == shade


@pytest.mark.parametrize("zoom", [0.1, 0.7, 1, 3])
def test_a_changed_part_of_the_mask_looks_as_if_it_were_set_as_a_whole(canvas, zoom):
    mask = np.zeros((2000, 1500), np.bool_)
    pyramid = MaskPyramid(mask)
    canvas.set_content(Content(build_pyramid(np.full(mask.shape, 90, np.uint8)), mask=pyramid))
    canvas.viewport.set_zoom(zoom)
    canvas.grab()
    mask[990:1013, 740:757] = True
    pyramid.update(mask, Rect(990, 740, 23, 17))
    canvas.update_pixels(Rect(990, 740, 23, 17))
    image = canvas.grab().toImage()
    show(canvas, mask=MaskPyramid(mask))
    assert image == canvas.grab().toImage()


def test_a_mask_of_another_size_is_not_drawn(canvas):
    before = canvas.grab().toImage()
    show(canvas, mask=MaskPyramid(np.ones((5, 5), np.bool_)))
    assert canvas.grab().toImage() == before


def test_highlights_darken_everything_else(canvas, noise):
    lit = MaskPyramid.of_rects([Rect(8, 8, 8, 8), Rect(48, 80, 40, 40)], SHAPE)
    show(canvas, mask=MaskPyramid(np.ones(SHAPE, np.bool_)), highlight=lit)
    assert sum(color_at(canvas, 30, 40)) < 0.6 * noise[30, 40].sum()
    assert color_at(canvas, 12, 12) == tuple(noise[12, 12]), "no hatching meanwhile"
    show(canvas, mask=None, highlight=None)
    assert color_at(canvas, 30.5, 40.5) == tuple(noise[30, 40])


def test_lines_are_drawn_around_what_is_highlighted_not_between_its_patches(canvas):
    canvas.viewport.set_zoom(4)
    middle = [Rect(row, column, 8, 8) for row in (24, 32) for column in (40, 48)]
    show(canvas, highlight=MaskPyramid.of_rects(middle, SHAPE))
    outline = OUTLINE.getRgb()[:3]
    for row, column in ((24, 44), (40, 52), (28, 40), (36, 56)):
        near = [color_at(canvas, row + dy, column + dx) for dy in (-0.2, 0.2) for dx in (-0.2, 0.2)]
        assert outline in near
    for row, column in ((32, 44), (28, 48)):
        near = [color_at(canvas, row + dy, column + dx) for dy in (-0.2, 0.2) for dx in (-0.2, 0.2)]
        assert outline not in near


def test_an_inset_lies_on_the_picture_where_it_belongs(canvas, noise):
    canvas.viewport.set_zoom(4)
    white = build_pyramid(np.full((20, 30, 3), 255, np.uint8))
    show(canvas, inset=(white, Rect(10, 20, 20, 30)))
    assert color_at(canvas, 20.5, 35.5) == (255, 255, 255)
    assert color_at(canvas, 40.5, 35.5) == tuple(noise[40, 35])


def test_marker_is_drawn_and_removed_without_a_trace(canvas):
    before = canvas.grab().toImage()
    canvas.set_marker((30, 40))
    assert canvas.grab().toImage() != before
    canvas.set_marker(None)
    assert canvas.grab().toImage() == before


def test_without_a_picture_words_say_so(canvas):
    show(canvas, pyramid=None)
    blank = canvas.grab().toImage()
    show(canvas, placeholder="Nothing restored yet")
    assert canvas.grab().toImage() != blank


def test_the_same_content_is_not_drawn_again(canvas, qtbot):
    drawn = []
    canvas.draw_pictures = lambda *_args: drawn.append(1)
    canvas.set_content(replace(canvas.content))
    qtbot.wait(20)
    assert drawn == []
    show(canvas, placeholder="Other words")
    qtbot.waitUntil(lambda: bool(drawn), timeout=600_000)
