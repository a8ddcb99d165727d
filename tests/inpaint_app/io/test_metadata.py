"""EXIF, ICC profile, resolution and orientation survive, in every format that is written."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build_tiff import directory, header, tiff_bytes
from PIL import ExifTags, Image, ImageCms, ImageOps

from inpaint_app.errors import DamagedError, UserError
from inpaint_app.io.formats.shared.metadata import take_orientation
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import Output, write_picture
from inpaint_app.model.picture import Metadata, Picture

READABLE_SUFFIXES = ["png", "jpg", "tif", "webp"]
ICC = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
PIXELS = np.random.default_rng(0).integers(0, 256, (20, 30, 3)).astype(np.uint8)


def exif_block(order: str = "<", orientation: int = 1, *, thumbnail: bool = False) -> bytes:
    """Return an EXIF block made by hand: names, camera data, a maker note, a place on Earth."""
    camera = {
        33434: (5, [1, 250]),
        34855: (3, [400]),
        36867: (2, [*b"2024:05:06 07:08:09\0"]),
        37500: (7, list(b"MAKER NOTE with opaque contents")),
        40962: (4, [30]),
    }
    place = {
        1: (2, [*b"N\0"]),
        2: (5, [48, 1, 51, 1, 30, 1]),
        3: (2, [*b"E\0"]),
        4: (5, [2, 1, 17, 1, 40, 1]),
    }
    first: dict[int, Any] = {
        271: (2, [*b"Maker of cameras\0"]),
        272: (2, [*b"Model 5\0"]),
        274: (3, [orientation]),
        282: (5, [300, 1]),
        283: (5, [300, 1]),
        296: (3, [2]),
        306: (2, [*b"2024:05:06 07:08:09\0"]),
        33432: (2, [*b"Somebody\0"]),
        34665: (4, [0]),
        34853: (4, [0]),
    }
    camera_at = 8 + len(directory(first, order, 8))
    place_at = camera_at + len(directory(camera, order, camera_at))
    thumbnail_at = place_at + len(directory(place, order, place_at))
    first[34665], first[34853] = (4, [camera_at]), (4, [place_at])
    small = {256: (4, [4]), 257: (4, [3]), 259: (3, [6])}
    return b"".join(
        (
            header(order, 8, False),
            directory(first, order, 8, following=thumbnail_at if thumbnail else 0),
            directory(camera, order, camera_at),
            directory(place, order, place_at),
            directory(small, order, thumbnail_at) if thumbnail else b"",
        )
    )


def exif_seen_by_pillow(path: Path) -> dict[str, Any]:
    with Image.open(path) as image:
        exif = image.getexif()
        first = {tag: exif[tag] for tag in (271, 272, 282, 306, 33432)}
        return {
            "first": first,
            "camera": dict(exif.get_ifd(ExifTags.IFD.Exif)),
            "place": dict(exif.get_ifd(ExifTags.IFD.GPSInfo)),
        }


def expected_exif(tmp_path: Path, block: bytes) -> dict[str, Any]:
    path = tmp_path / "reference.jpg"
    Image.fromarray(PIXELS).save(path, exif=b"Exif\0\0" + block)
    return exif_seen_by_pillow(path)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("ending", READABLE_SUFFIXES)
def test_exif_and_profile_survive(tmp_path: Path, ending: str, order: str) -> None:
    block = exif_block(order)
    path = tmp_path / f"a.{ending}"
    write_picture(Picture(PIXELS, metadata=Metadata(exif=block, icc=ICC, dpi=(300, 300))), path)
    assert exif_seen_by_pillow(path) == expected_exif(tmp_path, block)
    with Image.open(path) as image:
        assert image.info["icc_profile"] == ICC
    picture = read_picture(path)
    assert picture.metadata.icc == ICC
    again = tmp_path / f"b.{ending}"
    write_picture(picture, again)
    assert exif_seen_by_pillow(again) == expected_exif(tmp_path, block)
    assert read_picture(again).metadata.icc == ICC


@pytest.mark.parametrize("target", READABLE_SUFFIXES)
@pytest.mark.parametrize("source", READABLE_SUFFIXES)
def test_metadata_survives_from_format_to_format(tmp_path: Path, source: str, target: str) -> None:
    block = exif_block(">")
    write_picture(Picture(PIXELS, metadata=Metadata(exif=block, icc=ICC)), tmp_path / f"a.{source}")
    write_picture(read_picture(tmp_path / f"a.{source}"), tmp_path / f"b.{target}")
    assert exif_seen_by_pillow(tmp_path / f"b.{target}") == expected_exif(tmp_path, block)
    assert read_picture(tmp_path / f"b.{target}").metadata.icc == ICC


@pytest.mark.parametrize("ending", ["png", "tif"])
@pytest.mark.parametrize("alpha", [False, True])
def test_metadata_survives_with_16_bits(tmp_path: Path, ending: str, alpha: bool) -> None:
    wide = PIXELS.astype(np.uint16) * 257 - 3
    path = tmp_path / f"a.{ending}"
    write_picture(Picture(wide, wide[..., 0] if alpha else None, Metadata(exif=exif_block(), icc=ICC)), path)
    picture = read_picture(path)
    assert np.array_equal(picture.pixels, wide)
    assert picture.metadata.icc == ICC
    assert exif_seen_by_pillow(path) == expected_exif(tmp_path, exif_block())


@pytest.mark.parametrize("ending", ["png", "tif", "webp", "jpg"])
def test_orientation_is_applied(tmp_path: Path, ending: str) -> None:
    for orientation in range(1, 9):
        path, again = tmp_path / f"a.{ending}", tmp_path / f"b{orientation}.png"
        if ending == "tif":
            path.write_bytes(tiff_bytes(PIXELS, tags={274: (3, [orientation])}))
        else:
            exif = b"Exif\0\0" + exif_block("<", orientation)
            Image.fromarray(PIXELS).save(path, exif=exif, lossless=True)
        picture = read_picture(path)
        with Image.open(path) as stored:
            expected = np.asarray(ImageOps.exif_transpose(stored))
        assert np.array_equal(picture.pixels, expected)
        assert picture.metadata.exif is not None
        assert take_orientation(picture.metadata.exif)[1] == 1
        write_picture(picture, again)
        assert np.array_equal(read_picture(again).pixels, expected)  # not turned twice
        with Image.open(again) as written:
            assert written.getexif()[274] == 1


def test_orientation_turns_alpha_and_resolution(tmp_path: Path) -> None:
    alpha = PIXELS[..., 0]
    write_picture(
        Picture(PIXELS, alpha, Metadata(exif=exif_block(orientation=6), dpi=(100, 200))), tmp_path / "a.png"
    )
    picture = read_picture(tmp_path / "a.png")
    assert picture.alpha is not None
    assert np.array_equal(picture.alpha, np.rot90(alpha, -1))
    assert np.array_equal(picture.pixels, np.rot90(PIXELS, -1))
    assert picture.metadata.dpi == pytest.approx((200, 100), abs=0.02)


@pytest.mark.parametrize(("orientation", "sides"), [(1, (60, 40)), (3, (60, 40)), (8, (40, 60))])
def test_the_size_in_exif_is_that_of_the_turned_picture(
    tmp_path: Path, orientation: int, sides: tuple[int, int]
) -> None:
    exif = Image.Exif()
    exif[274] = orientation
    exif.get_ifd(34665).update({40962: 60, 40963: 40})
    Image.new("RGB", (60, 40)).save(tmp_path / "a.jpg", exif=exif)
    picture = read_picture(tmp_path / "a.jpg")
    assert (picture.width, picture.height) == sides
    write_picture(picture, tmp_path / "b.jpg")
    with Image.open(tmp_path / "b.jpg") as image:
        camera = image.getexif().get_ifd(34665)
    assert (camera[40962], camera[40963]) == sides


def test_a_resolution_that_exif_does_not_have_is_named_as_lost(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[271] = "Maker"
    Image.new("RGB", (8, 8)).save(tmp_path / "a.jpg", exif=exif, dpi=(300, 300))
    picture = read_picture(tmp_path / "a.jpg")
    assert Output(tmp_path / "b.webp").lost(picture) == ("the resolution",)
    exif[282] = exif[283] = 300.0
    Image.new("RGB", (8, 8)).save(tmp_path / "a.jpg", exif=exif, dpi=(300, 300))
    assert not Output(tmp_path / "b.webp").lost(read_picture(tmp_path / "a.jpg"))


@pytest.mark.parametrize("value", [0, 9, 65535])
def test_nonsense_orientation_is_ignored(tmp_path: Path, value: int) -> None:
    Image.fromarray(PIXELS).save(tmp_path / "a.png", exif=exif_block(orientation=value))
    picture = read_picture(tmp_path / "a.png")
    assert np.array_equal(picture.pixels, PIXELS)
    assert picture.metadata.exif is not None
    assert take_orientation(picture.metadata.exif)[1] == 1


def test_thumbnail_is_unlinked(tmp_path: Path) -> None:
    Image.fromarray(PIXELS).save(tmp_path / "a.jpg", exif=b"Exif\0\0" + exif_block(thumbnail=True))
    picture = read_picture(tmp_path / "a.jpg")
    write_picture(picture, tmp_path / "b.tif")
    with Image.open(tmp_path / "b.tif") as image:
        assert getattr(image, "n_frames", 0) == 1
    assert exif_seen_by_pillow(tmp_path / "b.tif") == expected_exif(tmp_path, exif_block())


@pytest.mark.parametrize("cut", [0, 4, 8, 9, 60, 150])
def test_damaged_exif_is_dropped_with_a_notice(tmp_path: Path, cut: int) -> None:
    block = exif_block()[:cut] or b"nonsense"
    Image.fromarray(PIXELS).save(tmp_path / "a.jpg", exif=b"Exif\0\0" + block)
    picture = read_picture(tmp_path / "a.jpg")
    assert picture.pixels.shape == PIXELS.shape
    if picture.metadata.exif is None:
        assert any("EXIF" in notice for notice in picture.notices)
    for ending in READABLE_SUFFIXES:
        write_picture(picture, tmp_path / f"b.{ending}")


def test_flipped_exif_can_always_be_written(tmp_path: Path) -> None:
    rng, n_readable = np.random.default_rng(0), 0
    for number in range(60):
        block = bytearray(exif_block("<>"[number % 2]))
        for _ in range(rng.integers(1, 6)):
            block[rng.integers(8, len(block))] = rng.integers(0, 256)
        try:
            clean, orientation = take_orientation(bytes(block))
        except DamagedError:
            continue
        n_readable += 1
        assert 1 <= orientation <= 8
        write_picture(
            Picture(PIXELS[:2, :2], metadata=Metadata(exif=clean)), tmp_path / "a.tif", overwrite=True
        )
        assert np.array_equal(read_picture(tmp_path / "a.tif").pixels, PIXELS[:2, :2])
    assert n_readable > 10


@pytest.mark.parametrize("ending", ["png", "jpg", "tif"])
def test_resolution_survives(tmp_path: Path, ending: str) -> None:
    write_picture(Picture(PIXELS, metadata=Metadata(dpi=(600, 300))), tmp_path / f"a.{ending}")
    assert read_picture(tmp_path / f"a.{ending}").metadata.dpi == pytest.approx((600, 300), abs=0.02)
    with Image.open(tmp_path / f"a.{ending}") as image:
        assert image.info["dpi"] == pytest.approx((600, 300), abs=0.02)


def test_resolution_per_centimetre(tmp_path: Path) -> None:
    tags = {282: (5, [100, 1]), 283: (5, [50, 1]), 296: (3, [3])}
    (tmp_path / "a.tif").write_bytes(tiff_bytes(PIXELS, tags=tags))
    assert read_picture(tmp_path / "a.tif").metadata.dpi == pytest.approx((254, 127))
    for zero in ({282: (5, [1, 0]), 283: (5, [1, 0])}, {282: (5, [0, 1]), 283: (5, [1, 1])}):
        (tmp_path / "a.tif").write_bytes(tiff_bytes(PIXELS, tags=zero))
        assert read_picture(tmp_path / "a.tif").metadata.dpi is None


@pytest.mark.parametrize("text", [b'{"shape": [20, 30, 3]}\0', b"A cat\0", b"<?xml OME\0"])
def test_descriptions_are_kept(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "a.tif").write_bytes(tiff_bytes(PIXELS, tags={270: (2, list(text))}))
    write_picture(read_picture(tmp_path / "a.tif"), tmp_path / "b.tif")
    with Image.open(tmp_path / "b.tif") as image:
        assert image.getexif()[270] == text[:-1].decode()


@pytest.mark.parametrize("order", ["<", ">"])
def test_what_gdal_and_photoshop_tell_survives(tmp_path: Path, order: str) -> None:
    keys = {
        33550: (12, [10.0, 10.0, 0.0]),
        33922: (12, [0.0, 0.0, 0.0, 5e5, 4e6, 0.0]),
        34735: (3, [1, 1, 0, 0]),
        42112: (2, [*b"<GDALMetadata><Item sample='0'>red</Item></GDALMetadata>\0"]),
        42113: (2, [*b"300\0"]),
        700: (1, [*b"<x:xmpmeta/>"]),
        33723: (7, [28, 2, 5, 0]),
    }
    (tmp_path / "a.tif").write_bytes(tiff_bytes(PIXELS, order=order, tags=keys))
    picture = read_picture(tmp_path / "a.tif")
    write_picture(picture.with_metadata(exif=exif_block(">")), tmp_path / "b.tif")
    for path in (tmp_path / "a.tif", tmp_path / "b.tif"):
        with Image.open(path) as image:
            found = {tag: image.tag_v2[tag] for tag in keys}  # type: ignore[attr-defined]
        if path.name == "a.tif":
            expected = found
    assert found == expected
    assert Output(tmp_path / "b.tif").lost(picture) == ()
    lost = {"the place on Earth (GeoTIFF)", "GDAL metadata", 'the "no data" value', "IPTC"}
    assert set(Output(tmp_path / "b.png").lost(picture)) == lost


def test_big_profile_in_jpeg(tmp_path: Path) -> None:
    """Profiles beyond 64 kB are spread over several segments."""
    large = ICC + np.random.default_rng(0).integers(0, 256, 200_000).astype(np.uint8).tobytes()
    write_picture(Picture(PIXELS, metadata=Metadata(icc=large)), tmp_path / "a.jpg")
    assert read_picture(tmp_path / "a.jpg").metadata.icc == large


def test_exif_too_long_for_jpeg_is_refused(tmp_path: Path) -> None:
    long = Picture(PIXELS, metadata=Metadata(exif=exif_block() + bytes(70_000)))
    with pytest.raises(UserError, match="too long for JPEG"):
        write_picture(long, tmp_path / "a.jpg")
    assert not any(tmp_path.iterdir())
    write_picture(long.with_metadata(exif=exif_block()), tmp_path / "a.jpg")
    assert struct.unpack(">H", (tmp_path / "a.jpg").read_bytes()[:2])[0] == 0xFFD8
