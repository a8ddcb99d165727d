"""What a format can keep is told from the properties alone, and is what the writer does."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from inpaint_app.errors import UserError
from inpaint_app.io import registry
from inpaint_app.io.read import read_picture
from inpaint_app.io.registry import format_of
from inpaint_app.io.write import PictureProperties, check_storable, properties_of, write_picture
from inpaint_app.model.picture import Metadata, Picture, StoredArray, full_scale

SHAPE = (6, 7)
MISSING = np.zeros(SHAPE, bool)
MISSING[2:4, 1:5] = True

FORMATS = {each.name: each for each in registry.writable()}


def pictures() -> dict[str, Picture]:
    """Damaged pictures of every depth: alpha none, 0 where pixels are missing, or half somewhere else too."""
    rng = np.random.default_rng(0)
    made = {}
    for dtype, color in itertools.product((np.uint8, np.uint16, np.float32), (False, True)):
        white = full_scale(dtype)
        values = (rng.random((*SHAPE, 3) if color else SHAPE) * white).astype(dtype)
        hole = np.where(MISSING, 0, white).astype(dtype)
        half = hole.copy()
        half[0, 0] = white / 2
        for name, alpha in (("none", None), ("hole", hole), ("half", half)):
            made[f"{np.dtype(dtype).name} {'RGB' if color else 'gray'}, alpha {name}"] = Picture(
                values, alpha
            )
    plain = made["float32 gray, alpha none"].pixels
    made["NaN where missing"] = Picture(np.where(MISSING, np.float32(np.nan), plain))
    made["100 where missing"] = Picture(np.where(MISSING, np.float32(100), plain))
    made["100 elsewhere"] = Picture(np.where(MISSING, plain, np.float32(100)))
    made["alpha of 2"] = Picture(plain, np.where(MISSING, np.float32(0), np.float32(2)))
    return made


def is_refused(work) -> bool:
    try:
        work()
    except UserError:
        return True
    return False


@pytest.mark.parametrize("depth", [None, 8, 16])
@pytest.mark.parametrize("ending", ["png", "jpg", "tif", "webp"])
@pytest.mark.parametrize("name", pictures())
def test_the_forecast_is_what_happens(tmp_path: Path, name: str, ending: str, depth: int | None) -> None:
    damaged, path = pictures()[name], tmp_path / f"a.{ending}"
    observed = damaged.pixels[~MISSING]
    filling = observed.reshape(-1, *damaged.pixels.shape[2:])[0]
    where = MISSING[..., None] if damaged.is_color else MISSING
    restored = damaged.with_pixels(np.where(where, filling, damaged.pixels), filled=MISSING)
    properties = properties_of(damaged, missing=MISSING)
    refused = is_refused(lambda: check_storable(properties, format_of(path), depth=depth))
    assert is_refused(lambda: write_picture(restored, path, depth=depth)) == refused
    assert path.exists() != refused


@pytest.mark.parametrize("name", [n for n in FORMATS if n not in ("PNG", "JPEG", "TIFF", "WebP")])
def test_whatever_other_formats_do_not_refuse_they_write(tmp_path: Path, name: str) -> None:
    path, n_written = tmp_path / f"a{FORMATS[name].suffixes[0]}", 0
    shown = pictures()
    opaque = np.full(SHAPE, 65535, np.uint16)
    shown["16-bit gray, opaque"] = Picture(opaque // 2, opaque)
    shown["8-bit color, opaque"] = Picture(np.zeros((*SHAPE, 3), np.uint8), np.full(SHAPE, 255, np.uint8))
    shown["4 bands"] = Picture(np.zeros((*SHAPE, 4), np.int16))
    shown["2 pages"] = Picture(opaque, more_pages=(Picture(opaque),))
    shown["2 pages that differ"] = Picture(opaque, more_pages=(Picture(opaque[1:]),))
    shown["booleans"] = Picture(
        opaque.astype(np.uint8), metadata=Metadata(array=StoredArray(SHAPE, np.dtype(bool)))
    )
    shown["half floats"] = Picture(
        opaque.astype(np.float32), metadata=Metadata(array=StoredArray(SHAPE, np.dtype("f2")))
    )
    for what, picture in shown.items():
        refused = is_refused(lambda picture=picture: check_storable(properties_of(picture), FORMATS[name]))
        assert is_refused(lambda p=picture: write_picture(p, path, overwrite=True)) == refused, what
        n_written += not refused
        if not refused:
            assert read_picture(path).pixels.size, what
    assert n_written >= 3
    assert is_refused(lambda: write_picture(shown["2 pages that differ"], path, overwrite=True))


def test_mask_by_channel() -> None:
    values = np.full((2, 2, 3), 0.5, np.float32)
    values[0, 0, 1] = 7
    missing = np.zeros(values.shape, bool)
    assert not properties_of(Picture(values), missing=missing).is_unit
    missing[0, 0, 1] = True
    assert properties_of(Picture(values), missing=missing).is_unit
    assert not properties_of(Picture(values)).is_unit


@pytest.mark.parametrize(
    ("name", "properties"),
    [
        ("JPEG", PictureProperties(65_500, 10, n_exif=65_527, n_icc=255 * 65_519)),
        ("WebP", PictureProperties(16_383, 16_383)),
        ("PNG", PictureProperties(10**6, 200, n_exif=4 * 1024**2, n_icc=16 * 1024**2)),
    ],
)
def test_limits_themselves_are_allowed(name: str, properties: PictureProperties) -> None:
    check_storable(properties, FORMATS[name])


@pytest.mark.parametrize(
    ("name", "properties", "words"),
    [
        ("JPEG", PictureProperties(65_501, 10), "wider or taller than 65500"),
        ("WebP", PictureProperties(10, 16_384), "wider or taller than 16383"),
        ("JPEG", PictureProperties(10, 10, n_exif=65_528), "EXIF information is too long"),
        ("JPEG", PictureProperties(10, 10, n_icc=255 * 65_519 + 1), "color profile is too long"),
        ("JPEG", PictureProperties(10, 10, has_alpha=True, is_transparent=True), "transparent pixels"),
        (
            "WebP",
            PictureProperties(10, 10, depth=16),
            "WebP cannot store 16-bit color; write TIFF, or PNG for 16 bits",
        ),
        (
            "PNG",
            PictureProperties(10, 10, depth=32, is_color=False),
            "PNG cannot store 32-bit float gray; write TIFF",
        ),
    ],
)
def test_beyond_the_limits(name: str, properties: PictureProperties, words: str) -> None:
    with pytest.raises(UserError, match=words):
        check_storable(properties, FORMATS[name])


def test_largest_metadata_of_jpeg_are_written(tmp_path: Path) -> None:
    kept = FORMATS["JPEG"]
    picture = Picture(
        np.zeros((2, 2), np.uint8),
        metadata=Metadata(exif=bytes(kept.max_exif or 0), icc=bytes(kept.max_icc or 0)),
    )
    write_picture(picture, tmp_path / "a.jpg")
    data = (tmp_path / "a.jpg").read_bytes()
    assert data.count(b"ICC_PROFILE\0") == 255
    assert len(data) > kept.max_icc + kept.max_exif
