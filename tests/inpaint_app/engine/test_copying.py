"""Pixels copied from elsewhere: as they are, or with the tones of where they go."""

import numpy as np
import pytest
from scipy import ndimage

from inpaint_app.engine.control import CancelledError, JobControl
from inpaint_app.engine.copying import CopySource, Offset, copied, membrane
from inpaint_app.model.picture import Rect

SHAPE = (90, 120)
RECT = Rect(30, 20, 20, 24)
NOTHING = JobControl().check


@pytest.fixture
def texture() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 100, (*SHAPE, 3), dtype=np.uint8)


def all_of(rect: Rect) -> np.ndarray:
    return np.ones((rect.height, rect.width), bool)


def test_a_clone_is_what_lies_at_the_offset(texture) -> None:
    source = CopySource(Offset(5, 60), keeps_tones=False)
    pixels, done = copied(texture, np.ones(SHAPE, bool), RECT, all_of(RECT), source, NOTHING)
    assert done.all()
    assert np.array_equal(pixels, texture[35:55, 80:104])


def test_only_the_wanted_pixels_change(texture) -> None:
    wanted = np.random.default_rng(4).random((RECT.height, RECT.width)) < 0.5
    source = CopySource(Offset(5, 60), keeps_tones=False)
    pixels, done = copied(texture, np.ones(SHAPE, bool), RECT, wanted, source, NOTHING)
    assert np.array_equal(done, wanted)
    assert np.array_equal(pixels[~wanted], texture[RECT.slices][~wanted])


def test_nothing_is_copied_from_beside_the_picture_or_from_what_is_missing(texture) -> None:
    seen = np.ones(SHAPE, bool)
    seen[35:40] = False
    pixels, done = copied(texture, seen, RECT, all_of(RECT), CopySource(Offset(5, 90), False), NOTHING)
    expected = np.zeros(done.shape, bool)
    expected[5:, :10] = True
    assert np.array_equal(done, expected)
    assert np.array_equal(pixels[~done], texture[RECT.slices][~done])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_a_healed_copy_has_the_texture_of_its_source_and_the_tones_of_its_place(texture, dtype) -> None:
    rows = np.linspace(0, 60, SHAPE[0])[:, None, None]
    grain = texture.astype(float) / 10
    image = (40 + rows + grain).astype(dtype)
    image[:, 60:] += dtype(80)  # the source is much lighter
    source = CopySource(Offset(10, 70), keeps_tones=True)
    pixels, done = copied(image, np.ones(SHAPE, bool), RECT, all_of(RECT), source, NOTHING)
    assert done.all()
    assert pixels.dtype == dtype
    expected = (40 + rows)[RECT.slices[0]]
    assert abs(pixels.astype(float).mean() - (expected.mean() + 5)) < 2
    copied_grain = pixels.astype(float) - ndimage.gaussian_filter(pixels.astype(float), (2, 2, 0))
    own = image[40:60, 90:114].astype(float)
    assert (
        np.corrcoef(copied_grain.ravel(), (own - ndimage.gaussian_filter(own, (2, 2, 0))).ravel())[0, 1]
        > 0.95
    )


@pytest.mark.parametrize("side", [12, 80, 200], ids=["solved directly", "from coarser ones", "wide"])
def test_a_membrane_continues_a_plane_exactly(side) -> None:
    rows, columns = np.mgrid[:side, :side].astype(float)
    plane = (2 * rows - columns)[..., None]
    area = np.zeros((side, side), bool)
    area[1:-1, 1:-1] = True
    found = membrane(plane, area, ~area, NOTHING)
    assert np.abs(found - plane).max() < 0.02 * side


def test_a_part_without_a_rim_is_left_as_it_is() -> None:
    area, rim = np.zeros((20, 20), bool), np.zeros((20, 20), bool)
    area[:5, :5] = area[12:, 12:] = True
    rim[5, :5] = True
    found = membrane(np.full((20, 20, 1), 7.0), area, rim, NOTHING)
    assert np.allclose(found[:5, :5], 7, atol=1e-3)
    assert np.abs(found[12:, 12:]).max() < 1e-3


def test_it_can_be_cancelled(texture) -> None:
    control = JobControl()
    control.cancel()
    with pytest.raises(CancelledError):
        source = CopySource(Offset(5, 60), keeps_tones=True)
        copied(texture, np.ones(SHAPE, bool), RECT, all_of(RECT), source, control.check)
