"""Marks stand out from the picture they are drawn on."""

import numpy as np
import pytest
from PySide6.QtGui import QColor

from inpaint_app.window.canvas.image_pyramid import to_image
from inpaint_app.window.canvas.mark_color import mark_color
from inpaint_app.window.theme.colors import MARKS, Looks, stripes


def picture(*colors) -> np.ndarray:
    """A picture that holds some colors, with noise."""
    rng = np.random.default_rng(0)
    chosen = np.array(colors, float)[rng.integers(0, len(colors), (64, 64))]
    return np.clip(chosen + rng.normal(0, 12, chosen.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize(
    "colors",
    [[(128, 128, 128)], [(40, 90, 30), (120, 150, 220)], [(90, 60, 30), (20, 15, 8)], [(220, 170, 140)]],
)
def test_the_usual_color_is_used_where_it_stands_out(colors) -> None:
    assert mark_color(to_image(picture(*colors))) == MARKS["magenta"]


@pytest.mark.parametrize("color", [(235, 60, 190), (255, 150, 200), (230, 30, 120), (220, 20, 10)])
def test_on_pink_and_red_another_color_is_used(color) -> None:
    chosen = mark_color(to_image(picture(color, (120, 120, 120))))
    assert chosen != MARKS["magenta"]
    assert chosen in MARKS.values()


def test_a_color_is_chosen_whatever_the_picture_holds() -> None:
    everything = picture(*[QColor(color).getRgb()[:3] for color in MARKS.values()])
    assert mark_color(to_image(everything)) in MARKS.values()


def test_stripes_are_light_and_dark_and_as_opaque_as_wanted() -> None:
    light, dark = stripes("#ff48c4", 50)
    assert light.alphaF() == pytest.approx(0.5, abs=0.01)
    assert dark.lightness() < light.lightness() / 3
    assert stripes("#ff48c4", 100)[0].alpha() == 255


@pytest.mark.parametrize(
    "wrong", [{"gray": 256}, {"gray": "dark"}, {"marks": "no color"}, {"marks": None}, {"opacity": 0}]
)
def test_looks_that_cannot_be_drawn_are_refused(wrong) -> None:
    with pytest.raises(ValueError, match="cannot be drawn"):
        Looks(**wrong)
