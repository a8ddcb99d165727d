"""TIFF layouts, against an independent encoder, tifffile and Pillow."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from build_tiff import DEFLATE, LZW, NONE, PACKBITS, PACKERS, directory, tiff_bytes
from PIL import Image

from inpaint_app.errors import UserError
from inpaint_app.io import format as limits
from inpaint_app.io.formats.shared import pixels
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import Output, write_picture
from inpaint_app.model.missing import collect_missing

SHAPE = (21, 19)


def random_samples(dtype: str, n_samples: int) -> np.ndarray:
    rng = np.random.default_rng(n_samples)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return rng.normal(0, 1000, (*SHAPE, n_samples)).astype(kind)
    return (rng.integers(0, np.iinfo(kind).max, (*SHAPE, n_samples)) // 3 * 2).astype(kind)


def read_bytes(tmp_path: Path, data: bytes) -> Any:
    path = tmp_path / "a.tif"
    path.write_bytes(data)
    return read_picture(path)


PACKINGS = [(NONE, 1), (LZW, 1), (LZW, 2), (DEFLATE, 1), (DEFLATE, 2), (PACKBITS, 1)]
FLOAT_PACKINGS = [*PACKINGS, (DEFLATE, 3), (LZW, 3)]
STORAGES = [
    (dtype, n_samples, *packing)
    for dtype, n_samples in (("u1", 3), ("u2", 1), ("u2", 2), ("u2", 4), ("f4", 1), ("f4", 3))
    for packing in (FLOAT_PACKINGS if dtype == "f4" else PACKINGS)
]


LAYOUTS = ("strips", "tiled planes", "planes", "tiles", "one strip", "big")


@pytest.mark.parametrize(("dtype", "n_samples", "compression", "predictor"), STORAGES)
def test_storage(tmp_path: Path, dtype: str, n_samples: int, compression: int, predictor: int) -> None:
    samples = random_samples(dtype, n_samples)
    color = samples[..., :3] if n_samples > 2 else samples[..., 0]
    for layout, order in zip(LAYOUTS, "<>" * 3, strict=True):  # either order with strips, tiles and planes
        data = tiff_bytes(
            samples,
            order=order,
            compression=compression,
            predictor=predictor,
            tile=(16, 16) if "tile" in layout else None,
            strip_rows=100 if layout == "one strip" else 5,
            separate="planes" in layout,
            big=layout == "big",
            tags={338: (3, [2])} if n_samples in (2, 4) else {},
        )
        picture = read_bytes(tmp_path, data)
        assert picture.pixels.dtype == np.dtype(dtype)
        assert np.array_equal(picture.pixels, color), layout
        assert (picture.alpha is not None) == (n_samples in (2, 4))
        if picture.alpha is not None:
            assert np.array_equal(picture.alpha, samples[..., -1]), layout


@pytest.mark.parametrize("layout", ["strips", "tiles", "planes", "tiled planes", "one strip", "one tile"])
@pytest.mark.parametrize("compression", [NONE, DEFLATE])
@pytest.mark.parametrize("reversed_bits", [False, True])
def test_bands_join_without_a_seam(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str, compression: int, reversed_bits: bool
) -> None:
    samples = random_samples("u2", 4)
    data = tiff_bytes(
        samples,
        compression=compression,
        reversed_bits=reversed_bits,
        tile={"one tile": (32, 32)}.get(layout, (16, 16)) if "tile" in layout else None,
        strip_rows=100 if layout == "one strip" else 5,
        separate="planes" in layout,
        tags={338: (3, [2])},
    )
    monkeypatch.setattr(pixels, "BAND_BYTES", 200)
    picture = read_bytes(tmp_path, data)
    assert np.array_equal(picture.pixels, samples[..., :3])
    assert np.array_equal(picture.alpha, samples[..., 3])


@pytest.mark.parametrize("options", [{}, {"compression": "zlib", "predictor": True}, {"tile": (16, 32)}])
@pytest.mark.parametrize("byteorder", ["<", ">"])
def test_agrees_with_tifffile(tmp_path: Path, options: dict[str, Any], byteorder: Any) -> None:
    samples = random_samples("u2", 3)
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, samples, photometric="rgb", byteorder=byteorder, **options)
    assert np.array_equal(read_picture(path).pixels, tifffile.imread(path))


def test_nan_stays(tmp_path: Path) -> None:
    samples = random_samples("f4", 1)
    samples[2:5, 3:9] = np.nan
    samples[0, 0] = np.inf
    picture = read_bytes(tmp_path, tiff_bytes(samples, compression=DEFLATE, predictor=3))
    assert picture.pixels.dtype == np.float32
    assert np.array_equal(picture.pixels, samples[..., 0], equal_nan=True)


@pytest.mark.parametrize("bits", [1, 2, 4, 6, 8, 10, 12, 14, 16])
def test_depths_and_min_is_white(tmp_path: Path, bits: int) -> None:
    rng = np.random.default_rng(bits)
    samples = rng.integers(0, 2**bits, (*SHAPE, 1)).astype(np.uint16 if bits > 8 else np.uint8)
    white, top = 2**bits - 1, 255 if bits <= 8 else 65535
    for photometric, compression in itertools.product((0, 1), (NONE, LZW)):
        data = tiff_bytes(samples, bits=bits, photometric=photometric, compression=compression)
        picture = read_bytes(tmp_path, data)
        light = white - samples if photometric == 0 else samples
        assert picture.depth == (8 if bits <= 8 else 16)
        assert np.array_equal(picture.pixels, np.rint(light[..., 0] / white * top))
        assert bool(picture.notices) == (bits != 8)


def test_reversed_bits(tmp_path: Path) -> None:
    samples = np.random.default_rng(0).integers(0, 2, (*SHAPE, 1)).astype(np.uint8)
    for compression in (NONE, PACKBITS):
        data = tiff_bytes(samples, bits=1, compression=compression, reversed_bits=True)
        assert np.array_equal(read_bytes(tmp_path, data).pixels, samples[..., 0] * 255)


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [(name, name) for name in ("i1", "i2", "i4", "u4", "f8")] + [("i8", "f8"), ("u8", "f8"), ("f2", "f4")],
)
def test_types_are_kept_or_become_floats_that_hold_them(tmp_path: Path, dtype: str, kept: str) -> None:
    values = np.random.default_rng(0).integers(-100 if dtype[0] != "u" else 0, 120, (*SHAPE, 1)).astype(dtype)
    picture = read_bytes(tmp_path, tiff_bytes(values, compression=LZW))
    assert picture.pixels.dtype == np.dtype(kept)
    assert np.array_equal(picture.pixels, values[..., 0].astype(np.float64))
    assert bool(picture.notices) == (dtype != kept)
    write_picture(picture, tmp_path / "b.tif")
    again = read_picture(tmp_path / "b.tif").pixels
    assert again.dtype == np.dtype(kept)
    assert np.array_equal(again, picture.pixels)


def test_values_that_float64_cannot_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="float64 cannot hold"):
        read_bytes(tmp_path, tiff_bytes(np.full((*SHAPE, 1), 2**63, "u8")))


def test_palette(tmp_path: Path) -> None:
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (*SHAPE, 3)).astype(np.uint8)).quantize(
        200
    )
    path = tmp_path / "a.tif"
    image.save(path, compression="tiff_lzw")
    picture = read_picture(path)
    assert np.array_equal(picture.pixels, np.asarray(image.convert("RGB")))
    assert any("palette" in notice for notice in picture.notices)


def test_palette_with_alpha(tmp_path: Path) -> None:
    samples = random_samples("u1", 2)
    table = np.random.default_rng(0).integers(0, 256, (3, 256))
    tags = {320: (3, (table * 257).ravel().tolist()), 338: (3, [2])}
    picture = read_bytes(tmp_path, tiff_bytes(samples, photometric=3, tags=tags))
    assert np.array_equal(picture.pixels, table.T[samples[..., 0]])
    assert picture.alpha is not None
    assert np.array_equal(picture.alpha, samples[..., 1])


@pytest.mark.parametrize("compression", ["group3", "group4", "tiff_ccitt", "packbits", "raw"])
def test_fax(tmp_path: Path, compression: str) -> None:
    image = Image.fromarray(np.random.default_rng(0).integers(0, 2, SHAPE).astype(np.uint8) * 255).convert(
        "1"
    )
    path = tmp_path / "a.tif"
    image.save(path, compression=compression)
    assert np.array_equal(read_picture(path).pixels, np.asarray(image.convert("L")))


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK", "YCbCr"])
def test_jpeg_inside(tmp_path: Path, mode: str) -> None:
    y, x = np.mgrid[0 : SHAPE[0], 0 : SHAPE[1]]
    smooth = np.stack([x * 5, y * 4, x + y, 60 + 0 * x], -1).astype(np.uint8)
    image = Image.fromarray(smooth, "CMYK").convert(mode)
    path = tmp_path / "a.tif"
    image.save(path, compression="jpeg", quality=95)
    with Image.open(path) as decoded:
        expected = np.asarray(decoded.convert("L" if mode == "L" else "RGB")).astype(int)
    pixels = read_picture(path).pixels
    assert pixels.shape == expected.shape
    assert np.abs(pixels - expected).max() <= 1


@pytest.mark.parametrize("bits", [8, 16])
def test_cmyk(tmp_path: Path, bits: int) -> None:
    inks = random_samples(f"u{bits // 8}", 4)
    picture = read_bytes(tmp_path, tiff_bytes(inks, photometric=5, compression=LZW))
    top = 2.0**bits - 1
    expected = (top - inks[..., :3]) * (top - inks[..., 3:].astype(float)) / top
    assert np.abs(picture.pixels - expected).max() <= 0.5 + 1e-6
    assert any("CMYK" in notice for notice in picture.notices)


def test_alpha_is_unmultiplied_but_stays_under_zero(tmp_path: Path) -> None:
    samples = np.zeros((1, 4, 4), np.uint8)
    samples[0] = [(10, 20, 30, 0), (50, 60, 70, 255), (50, 25, 100, 128), (1, 2, 3, 4)]
    picture = read_bytes(tmp_path, tiff_bytes(samples, tags={338: (3, [1])}))
    assert picture.pixels[0].tolist() == [[10, 20, 30], [50, 60, 70], [100, 50, 199], [64, 128, 191]]
    assert picture.alpha is not None
    assert picture.alpha[0].tolist() == [0, 255, 128, 4]
    picture = read_bytes(tmp_path, tiff_bytes(samples, tags={338: (3, [2])}))
    assert np.array_equal(picture.pixels, samples[..., :3])


def test_bands_are_kept_and_none_is_taken_for_alpha_unless_the_file_says_so(tmp_path: Path) -> None:
    for dtype, n_samples, photometric in (("u1", 4, 2), ("u2", 6, 1), ("i2", 2, 1), ("f4", 5, 2)):
        samples = random_samples(dtype, n_samples)
        for extra in ({}, {338: (3, [0] * (n_samples - (3 if photometric == 2 else 1)))}):
            for separate in (False, True):
                data = tiff_bytes(samples, photometric=photometric, tags=extra, separate=separate)
                picture = read_bytes(tmp_path, data)
                assert picture.alpha is None
                assert np.array_equal(picture.pixels, samples)
        write_picture(picture, tmp_path / "b.tif", overwrite=True)
        assert np.array_equal(read_picture(tmp_path / "b.tif").pixels, samples)
        with pytest.raises(UserError, match=rf"PNG cannot store .*{n_samples} bands; write .*TIFF"):
            write_picture(picture, tmp_path / "b.png")
    declared = read_bytes(tmp_path, tiff_bytes(samples, photometric=2, tags={338: (3, [0, 2])}))
    assert np.array_equal(declared.pixels, samples[..., :4])
    assert np.array_equal(declared.alpha, samples[..., 4])
    three = read_bytes(tmp_path, tiff_bytes(random_samples("u2", 3), photometric=1))
    assert three.is_color


def test_alpha_of_a_min_is_white_picture_is_not_inverted(tmp_path: Path) -> None:
    samples = random_samples("u1", 2)
    picture = read_bytes(tmp_path, tiff_bytes(samples, photometric=0, tags={338: (3, [2])}))
    assert np.array_equal(picture.pixels, 255 - samples[..., 0])
    assert np.array_equal(picture.alpha, samples[..., 1])


def test_alpha_of_a_palette_has_the_full_range(tmp_path: Path) -> None:
    samples = random_samples("u1", 2) % 16
    tags = {320: (3, list(range(0, 48 * 1000, 1000))), 338: (3, [2])}
    picture = read_bytes(tmp_path, tiff_bytes(samples, bits=4, photometric=3, tags=tags))
    assert np.array_equal(picture.alpha, samples[..., 1] * 17)


def test_pages(tmp_path: Path) -> None:
    path, again = tmp_path / "a.tif", tmp_path / "b.tif"
    with tifffile.TiffWriter(path) as writer:
        writer.write(random_samples("u2", 1)[..., 0], metadata=None)
        writer.write(random_samples("u1", 3), photometric="rgb", metadata=None)
        writer.write(random_samples("u1", 1)[::2, ::2, 0], subfiletype=1, metadata=None)
    picture = read_picture(path)
    assert [page.pixels.shape for page in picture.pages] == [SHAPE, (*SHAPE, 3)]
    assert picture.metadata.lost == ("reduced copies of the picture",)
    write_picture(picture, again)
    for ours, theirs in zip(read_picture(again).pages, picture.pages, strict=True):
        assert np.array_equal(ours.pixels, theirs.pixels)
    with pytest.raises(UserError, match="PNG cannot store 2 pages"):
        write_picture(picture, tmp_path / "b.png")


def test_what_describes_a_page_is_kept_or_named_as_lost(tmp_path: Path) -> None:
    path, again = tmp_path / "a.tif", tmp_path / "b.tif"
    notes = {270: "second", 315: "somebody", 306: "2026:11:17 08:00:00", 33432: "CC0"}
    layers = [(37724, 1, 4, b"8BIM", True)]
    with tifffile.TiffWriter(path) as writer:
        writer.write(random_samples("u1", 1)[..., 0], description="first", metadata=None)
        extra = [(number, 2, len(text) + 1, text, True) for number, text in notes.items()]
        writer.write(random_samples("u1", 1)[..., 0], metadata=None, extratags=extra + layers)
    picture = read_picture(path)
    assert [name for page in picture.pages for name in page.metadata.lost] == ["Photoshop layers"]
    write_picture(picture, again)
    with tifffile.TiffFile(again) as file:
        assert file.pages[0].tags[270].value == "first"
        assert {number: file.pages[1].tags[number].value for number in notes} == notes
    assert "descriptions of further pages" in Output(tmp_path / "b.npy").lost(picture)


def test_truncated_pages_are_refused(tmp_path: Path) -> None:
    path, pages = tmp_path / "a.tif", random_samples("u1", 3).transpose(2, 0, 1)
    tifffile.imwrite(path, pages, photometric="minisblack", metadata=None)
    data = path.read_bytes()
    for length in range(len(data) - 1, 0, -37):
        try:
            found = read_bytes(tmp_path, data[:length]).pages
        except UserError:
            continue
        assert len(data) - length < 8  # padding, and the word that no page follows
        assert np.array_equal([page.pixels for page in found], pages)


def test_a_stack_with_one_directory_is_refused(tmp_path: Path) -> None:
    text = b"ImageJ=1.53\nimages=10\nslices=10\n\0"
    with pytest.raises(UserError, match="ImageJ stack of 10 images"):
        read_bytes(tmp_path, tiff_bytes(random_samples("u1", 1), tags={270: (2, [*text])}))


def test_pages_have_too_many_pixels_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_PIXELS", 1000)
    tifffile.imwrite(tmp_path / "a.tif", random_samples("u1", 3).transpose(2, 0, 1), photometric="minisblack")
    with pytest.raises(UserError, match="together"):
        read_picture(tmp_path / "a.tif")


@pytest.mark.parametrize("dtype", ["f4", "i2", "u1", "u2"])
def test_no_data_value_counts_as_missing(tmp_path: Path, dtype: str) -> None:
    samples = random_samples(dtype, 2)
    samples[samples == 7] = 8
    samples[3:6, 3:6, 1] = 7
    picture = read_bytes(tmp_path, tiff_bytes(samples, photometric=1, tags={42113: (2, [*b"7", 0])}))
    missing = collect_missing(picture)
    assert missing.sources == ("nodata",)
    assert np.array_equal(missing.mask, samples == 7)
    assert any("no data" in notice for notice in picture.notices)
    write_picture(picture, tmp_path / "b.tif")
    assert read_picture(tmp_path / "b.tif").metadata.no_data == 7


def test_a_channel_of_a_color_may_have_the_value_of_no_data(tmp_path: Path) -> None:
    samples = np.full((9, 11, 3), (200, 0, 30), np.uint8)
    samples[2:4, 2:4] = 0
    picture = read_bytes(tmp_path, tiff_bytes(samples, tags={42113: (2, [*b"0", 0])}))
    assert np.array_equal(collect_missing(picture).mask, (samples == 0).all(axis=2))


@pytest.mark.parametrize(("photometric", "bits"), [(0, 8), (1, 4)], ids=["inverted", "stretched"])
def test_no_data_of_values_that_were_converted_is_left_out(
    tmp_path: Path, photometric: int, bits: int
) -> None:
    samples = random_samples("u1", 1) % 16
    packed = tiff_bytes(samples, photometric=photometric, bits=bits, tags={42113: (2, [*b"7", 0])})
    picture = read_bytes(tmp_path, packed)
    assert (picture.metadata.no_data, picture.metadata.tags) == (None, ())
    assert any("left out" in notice for notice in picture.notices)


def test_every_page_is_turned(tmp_path: Path) -> None:
    page = random_samples("u1", 1)[..., 0]
    with tifffile.TiffWriter(tmp_path / "a.tif") as writer:
        for orientation in (6, 6, 3, 1):
            writer.write(page, metadata=None, extratags=[(274, 3, 1, orientation, True)])
    expected = [np.rot90(page, -1), np.rot90(page, -1), np.rot90(page, 2), page]
    picture = read_picture(tmp_path / "a.tif")
    write_picture(picture, tmp_path / "b.tif")
    for found in (picture, read_picture(tmp_path / "b.tif")):
        assert all(
            np.array_equal(*pair) for pair in zip((p.pixels for p in found.pages), expected, strict=True)
        )


@pytest.mark.parametrize("text", ["-1.7976931348623157e+308", "nan", "1e999"])
def test_no_data_value_that_no_pixel_has(tmp_path: Path, text: str) -> None:
    """GDAL notes the lowest float64 for float32 as well; NumPy would warn about it."""
    samples = random_samples("f4", 1)
    picture = read_bytes(tmp_path, tiff_bytes(samples, tags={42113: (2, [*text.encode(), 0])}))
    assert np.array_equal(picture.pixels, samples[..., 0])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tags": {259: (3, [6])}}, "OJPEG"),
        ({"tags": {259: (3, [12345])}}, "type 12345"),
        ({"tags": {262: (3, [8])}}, "CIE Lab"),
        ({"tags": {262: (3, [32803])}}, "raw camera"),
        ({"tags": {50706: (1, [1, 4, 0, 0])}}, "raw camera"),
        ({"tags": {254: (4, [1])}}, "raw camera"),
        ({"tags": {258: (3, [24, 24, 24])}}, "24 bits"),
        ({"tags": {258: (3, [8, 8, 16])}}, "different depths"),
        ({"tags": {339: (3, [6, 6, 6])}}, "complex"),
        ({"tags": {317: (3, [7])}}, "predictor"),
        ({"tags": {317: (3, [3])}}, "predictor"),
        ({"tags": {317: (3, [2])}, "bits": 12}, "predictor"),
        ({"tags": {277: (3, [0])}}, "TIFF"),
        ({"tags": {273: None}}, "missing"),
        ({"tags": {279: (4, [3])}}, "missing"),
        ({"tags": {256: (4, [0])}}, "damaged TIFF"),
        ({"tags": {256: (4, [2**31 - 1]), 257: (4, [2**31 - 1])}}, "limit is 200 million"),
        ({"tags": {256: (5, [1, 1])}}, "damaged TIFF"),
    ],
)
def test_unusual_files_get_a_sentence(tmp_path: Path, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        read_bytes(tmp_path, tiff_bytes(random_samples("u1", 3), **options))


def test_absurd_tiles_are_refused(tmp_path: Path) -> None:
    for size in ([2**31], [0], [20_000]):
        tags = {322: (4, size), 323: (4, size)}
        with pytest.raises(UserError):
            read_bytes(tmp_path, tiff_bytes(random_samples("u1", 1), tile=(16, 16), tags=tags))


def test_missing_byte_count_of_a_single_strip(tmp_path: Path) -> None:
    samples = random_samples("u1", 1)
    picture = read_bytes(tmp_path, tiff_bytes(samples, strip_rows=100, tags={279: None}))
    assert np.array_equal(picture.pixels, samples[..., 0])


@pytest.mark.parametrize("compression", [NONE, LZW, DEFLATE, PACKBITS])
def test_a_last_strip_that_is_filled_up(tmp_path: Path, compression: int) -> None:
    samples = random_samples("u1", 3)[:6]
    data = tiff_bytes(samples, compression=compression, strip_rows=3, tags={257: (4, [5])})
    assert np.array_equal(read_bytes(tmp_path, data).pixels, samples[:5])


@pytest.mark.parametrize("compression", [NONE, LZW, DEFLATE, PACKBITS])
@pytest.mark.parametrize("reversed_bits", [False, True])
def test_strips_with_more_bytes_than_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compression: int, reversed_bits: bool
) -> None:
    samples, pack = random_samples("u1", 3)[:7], PACKERS[compression]
    monkeypatch.setitem(PACKERS, compression, lambda strip: pack(strip + bytes(1000)))
    data = tiff_bytes(samples, compression=compression, predictor=2, reversed_bits=reversed_bits)
    assert np.array_equal(read_bytes(tmp_path, data).pixels, samples)


@pytest.mark.parametrize("compression", [NONE, LZW, DEFLATE, PACKBITS])
def test_a_single_strip_that_is_filled_up(tmp_path: Path, compression: int) -> None:
    samples = random_samples("u1", 3)[:6]
    data = tiff_bytes(samples, compression=compression, strip_rows=6, tags={257: (4, [5])})
    assert np.array_equal(read_bytes(tmp_path, data).pixels, samples[:5])


@pytest.mark.parametrize("compression", [NONE, DEFLATE])
def test_tiles_that_end_with_the_picture(tmp_path: Path, compression: int) -> None:
    """Some programs cut the tiles of the last row; their rows are as wide as those of others."""
    samples = random_samples("u1", 1)[:8, :16]
    data = tiff_bytes(samples, compression=compression, tile=(8, 16), tags={323: (4, [16])})
    assert np.array_equal(read_bytes(tmp_path, data).pixels, samples[..., 0])


def test_lzw_codes_that_refer_to_nothing_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The decoder of imagecodecs crashes the process on a code above 257 right after a clear code."""
    codes = f"{256:09b}{65:09b}{256:09b}{281:09b}{257:09b}".ljust(48, "0")
    monkeypatch.setitem(PACKERS, LZW, lambda _: int(codes, 2).to_bytes(6, "big"))
    with pytest.raises(UserError, match="cannot be unpacked"):
        read_bytes(tmp_path, tiff_bytes(random_samples("u1", 1), compression=LZW))


def test_byte_count_beyond_the_file(tmp_path: Path) -> None:
    samples = random_samples("u1", 1)
    picture = read_bytes(tmp_path, tiff_bytes(samples, strip_rows=100, tags={279: (4, [10**8])}))
    assert np.array_equal(picture.pixels, samples[..., 0])


def test_parts_on_top_of_each_other_are_refused(tmp_path: Path) -> None:
    """Ten thousand tiles that all are the whole file would fill the memory."""
    count = 10_000
    tags = {256: (4, [16]), 257: (4, [16 * count]), 324: (4, [8] * count), 325: (4, [40_000] * count)}
    with pytest.raises(UserError, match="on top of each other"):
        read_bytes(tmp_path, tiff_bytes(random_samples("u1", 1), compression=LZW, tile=(16, 16), tags=tags))


def test_a_directory_that_points_at_itself(tmp_path: Path) -> None:
    fields = {256: (4, [4]), 257: (4, [4])}
    data = b"II*\0\x08\0\0\0" + directory(fields, "<", 8, following=8)
    with pytest.raises(UserError):
        read_bytes(tmp_path, data)
