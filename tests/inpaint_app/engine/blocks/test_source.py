"""The missing pixels of a picture on disk: in parts the same as of the whole picture in memory."""

import numpy as np
import pytest

from inpaint_app.engine.blocks.source import check_block, cut_into_blocks, describe_source
from inpaint_app.errors import UserError
from inpaint_app.model.missing import MaskSpec, collect_missing
from inpaint_app.model.picture import Picture

RNG = np.random.default_rng(1)
SHAPE = (150, 130)
SCRATCH = np.zeros(SHAPE, np.uint8)
SCRATCH[60:67, 10:120] = 255
DROPOUT = (RNG.random(SHAPE) < 0.4).astype(np.uint8)
GRAY = RNG.integers(0, 200, SHAPE, np.uint8)
COLOR = RNG.integers(0, 200, (*SHAPE, 3), np.uint8)
NANS = np.where(RNG.random((*SHAPE, 3)) < 0.1, np.nan, RNG.random((*SHAPE, 3))).astype(np.float32)


@pytest.mark.parametrize(
    ("pixels", "mask", "spec"),
    [
        (GRAY, SCRATCH, MaskSpec()),
        (GRAY, DROPOUT, MaskSpec()),
        (GRAY, DROPOUT, MaskSpec(grow=2)),
        (GRAY, 1 - DROPOUT, MaskSpec(invert_mask=True)),
        (GRAY, None, MaskSpec(key="0", tolerance=3)),
        (COLOR, np.stack([DROPOUT, SCRATCH // 255, DROPOUT], axis=2) > 0, MaskSpec(grow=0)),
        (COLOR, SCRATCH, MaskSpec(key="#101010", tolerance=30)),
        (NANS, SCRATCH, MaskSpec()),
        (NANS, None, MaskSpec()),
    ],
)
def test_blocks_have_the_mask_of_the_whole(tmp_path, pixels, mask, spec) -> None:
    np.save(tmp_path / "picture.npy", pixels)
    if mask is not None:
        np.save(tmp_path / "mask.npy", mask)
        spec = MaskSpec(tmp_path / "mask.npy", spec.invert_mask, spec.key, spec.tolerance, spec.grow)
    (source,) = describe_source(tmp_path / "picture.npy", spec, 64)
    blocks = cut_into_blocks(source.shape, 64)
    source = source.with_counts([source.count_marks(rect) for rect in blocks])
    assert not source.needs_counts
    whole = collect_missing(
        Picture(pixels),
        mask=mask,
        key=spec.key,
        tolerance=spec.tolerance,
        invert_mask=spec.invert_mask,
        grow=spec.grow,
    ).mask
    whole = np.broadcast_to(np.atleast_3d(whole), (*SHAPE, source.n_layers))
    for rect in blocks:
        np.testing.assert_array_equal(source.read_mask(rect), whole[rect.slices])
        np.testing.assert_array_equal(source.read("image", rect), np.atleast_3d(pixels)[rect.slices])


@pytest.mark.parametrize(
    ("pixels", "mask", "problem"),
    [
        (GRAY, DROPOUT[1:], "130 x 149 pixels but the picture has 130 x 150"),
        (GRAY, np.stack([DROPOUT] * 3, axis=2), "channels of the mask"),
        (GRAY > 3, DROPOUT, "booleans"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, pixels, mask, problem) -> None:
    np.save(tmp_path / "picture.npy", pixels)
    np.save(tmp_path / "mask.npy", mask)
    with pytest.raises(UserError, match=problem):
        describe_source(tmp_path / "picture.npy", MaskSpec(tmp_path / "mask.npy"), 64)


def test_damage_is_not_detected_in_blocks(tmp_path) -> None:
    with pytest.raises(UserError, match="cannot be detected"):
        describe_source(tmp_path / "picture.npy", MaskSpec(detect=("dust",)), 64)


@pytest.mark.parametrize("block", [0, 63, 100, -64])
def test_blocks_that_do_not_fit_the_grid_are_refused(block) -> None:
    with pytest.raises(UserError, match="multiple of 64"):
        check_block(block)


def test_blocks_cover_every_pixel_once() -> None:
    covered = np.zeros(SHAPE, int)
    for rect in cut_into_blocks(SHAPE, 64):
        covered[rect.slices] += 1
    assert (covered == 1).all()
