"""Files as other programs write them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image, PngImagePlugin

from inpaint_app.io.read import read_picture
from inpaint_app.io.write import write_picture
from inpaint_app.model.picture import Picture

RNG = np.random.default_rng(0)
NOISE = RNG.integers(0, 256, (21, 34, 4)).astype(np.uint8)
WIDE = RNG.integers(0, 65536, (21, 34)).astype(np.uint16)


def pillow_image(mode: str) -> Image.Image:
    if mode == "I;16":
        return Image.fromarray(WIDE)
    if mode == "I":
        return Image.fromarray(WIDE.astype(np.int32))
    if mode == "F":
        return Image.fromarray(WIDE.astype(np.float32) / 7)
    image = Image.fromarray(NOISE)
    return image.convert("RGB").convert("P") if mode == "P" else image.convert(mode)


@pytest.mark.parametrize(
    ("ending", "modes"),
    [
        ("png", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"]),
        ("tif", ["1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16", "F"]),
        ("bmp", ["1", "L", "P", "RGB"]),
        ("webp", ["L", "LA", "P", "RGB", "RGBA"]),
        ("pnm", ["1", "L", "RGB", "I", "I;16"]),
    ],
)
def test_modes_of_pillow(tmp_path: Path, ending: str, modes: list[str]) -> None:
    for mode in modes:
        image = pillow_image(mode)
        path = tmp_path / f"a.{ending}"
        image.save(path, lossless=True, exact=True)
        picture = read_picture(path)
        if mode[0] in "IF":
            assert np.array_equal(picture.pixels, np.asarray(image))
            continue
        expected = np.asarray(image.convert("RGBA" if image.mode.endswith("A") else "RGB"))
        values = picture.pixels if picture.is_color else np.repeat(picture.pixels[..., np.newaxis], 3, axis=2)
        assert np.array_equal(values, expected[..., :3]), mode
        assert (picture.alpha is not None) == (expected.shape[2] == 4), mode
        if picture.alpha is not None:
            assert np.array_equal(picture.alpha, expected[..., 3])


@pytest.mark.parametrize(
    ("shape", "dtype", "options"),
    [
        ((5, 21, 34), "u2", {"imagej": True}),
        ((2, 3, 21, 34), "f4", {"imagej": True}),
        ((21, 34, 3), "u1", {"imagej": True}),
        ((5, 21, 34), "u2", {"ome": True}),
        ((21, 34, 3), "u2", {"ome": True, "photometric": "rgb", "tile": (16, 16)}),
        ((21, 34), "f4", {"bigtiff": True}),
        ((21, 34), "u2", {"photometric": "miniswhite"}),
        ((3, 21, 34), "u1", {"photometric": "rgb", "planarconfig": "separate"}),
        ((21, 34, 4), "u2", {"photometric": "rgb", "extrasamples": ["unassalpha"]}),
        ((21, 34), "i2", {"compression": "lzma"}),
        ((21, 34), "?", {"photometric": "minisblack"}),
    ],
)
def test_tiff_by_tifffile(
    tmp_path: Path, shape: tuple[int, ...], dtype: str, options: dict[str, Any]
) -> None:
    data = RNG.integers(0, 2 if dtype == "?" else 120, shape).astype(dtype)
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, data, **options)
    with tifffile.TiffFile(path) as file:
        page, n_pages = file.pages[0].asarray(), len(file.pages)
    if page.ndim == 3 and page.shape[0] == 3:
        page = page.transpose(1, 2, 0)
    picture = read_picture(path)
    assert len(picture.pages) == n_pages
    if dtype == "?":
        page = page.astype(np.uint8) * 255
    if options.get("photometric") == "miniswhite":
        page = 65535 - page
    assert np.array_equal(picture.pixels, page[..., :3] if page.ndim == 3 else page)
    write_picture(picture, tmp_path / "b.tif")
    with tifffile.TiffFile(tmp_path / "b.tif") as file:
        assert np.array_equal(file.pages[0].asarray(), _stacked(picture))
        assert len(file.pages) == n_pages


def _stacked(picture: Picture) -> np.ndarray:
    if picture.alpha is None:
        return picture.pixels
    return np.concatenate((np.atleast_3d(picture.pixels), picture.alpha[..., np.newaxis]), axis=2)


def test_png_text_chunks_and_exif_behind_the_pixels(tmp_path: Path) -> None:
    text = PngImagePlugin.PngInfo()
    text.add_text("Title", "x" * 1000, zip=True)
    text.add_itxt("Comment", "ä")
    path = tmp_path / "a.png"
    Image.fromarray(NOISE).save(path, pnginfo=text, dpi=(200, 200))
    assert np.array_equal(read_picture(path).pixels, NOISE[..., :3])
    data = path.read_bytes()
    exif = Image.Exif()
    exif[274] = 3
    Image.fromarray(NOISE).save(tmp_path / "b.png", exif=exif)
    other = (tmp_path / "b.png").read_bytes()
    start = other.index(b"eXIf") - 4
    length = 12 + int.from_bytes(other[start : start + 4])
    path.write_bytes(data[:-12] + other[start : start + length] + data[-12:])
    assert np.array_equal(read_picture(path).pixels, NOISE[::-1, ::-1, :3])


def test_names_with_spaces_and_other_letters(tmp_path: Path) -> None:
    folder = tmp_path / "Bilder été 写真"
    folder.mkdir()
    picture = Picture(NOISE[..., :3])
    write_picture(picture, folder / "ein Bild.png")
    assert np.array_equal(read_picture(folder / "ein Bild.png").pixels, picture.pixels)
