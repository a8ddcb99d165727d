"""XMP, IPTC, Photoshop's resources, comments and PNG text are kept, or named as lost."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from build_png import chunk
from PIL import Image, IptcImagePlugin

from inpaint_app.cli import main
from inpaint_app.io.formats.shared.metadata import join_resources, resource_blocks
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import Output, write_picture
from inpaint_app.model.picture import Metadata, MetadataBlock, MetadataKind, Picture

PIXELS = np.random.default_rng(0).integers(0, 256, (20, 30, 3)).astype(np.uint8)
PACKET = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><a tiff:Orientation="6"/></x:xmpmeta>'
IPTC = b"\x1c\x02\x78\x00\x05a cat"
OTHER = b"8BIM\x03\xed\0\0" + struct.pack(">I", 16) + bytes(16)
THUMBNAIL = b"8BIM\x04\x0c\0\0" + struct.pack(">I", 3) + b"abc\0"
KEPT = {
    "jpg": {MetadataKind.XMP, MetadataKind.IPTC, MetadataKind.PHOTOSHOP, MetadataKind.COMMENT},
    "png": {MetadataKind.XMP, MetadataKind.COMMENT},
    "tif": {MetadataKind.XMP, MetadataKind.IPTC, MetadataKind.PHOTOSHOP},
    "webp": {MetadataKind.XMP},
    "avif": {MetadataKind.XMP},
    "gif": {MetadataKind.COMMENT},
    "npy": set(),
}
BLOCKS = (
    MetadataBlock(MetadataKind.XMP, PACKET),
    MetadataBlock(MetadataKind.COMMENT, "café".encode()),
    MetadataBlock(MetadataKind.IPTC, IPTC),
    MetadataBlock(MetadataKind.PHOTOSHOP, OTHER),
)


def png(*chunks: bytes) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(PIXELS).save(buffer, "PNG")
    data = buffer.getvalue()
    return data[:33] + b"".join(chunks) + data[33:]


@pytest.mark.parametrize("ending", KEPT)
def test_everything_is_kept_or_named(tmp_path: Path, ending: str) -> None:
    picture, path = Picture(PIXELS, metadata=Metadata(blocks=BLOCKS)), tmp_path / f"a.{ending}"
    write_picture(picture, path)
    lost = {block.kind for block in BLOCKS} - KEPT[ending]
    assert set(Output(path).lost(picture)) - {"colors beyond 256"} == lost
    again = read_picture(path)
    for block in BLOCKS:
        if block.kind in KEPT[ending] and (ending, block.kind) != ("png", MetadataKind.COMMENT):
            assert again.metadata.block(block.kind) == block.payload
    if ending == "png":
        assert (
            MetadataBlock(MetadataKind.PNG_TEXT, b"iTXtComment\0\0\0\0\0" + "café".encode())
            in again.metadata.blocks
        )


def test_other_programs_see_what_was_written(tmp_path: Path) -> None:
    picture = Picture(PIXELS, metadata=Metadata(blocks=BLOCKS))
    for ending in ("jpg", "tif", "png", "webp"):
        write_picture(picture, tmp_path / f"a.{ending}")
        with Image.open(tmp_path / f"a.{ending}") as image:
            image.load()
            assert image.info.get("xmp", PACKET).startswith(PACKET[:30])
            if ending in ("jpg", "tif"):
                assert IptcImagePlugin.getiptcinfo(image)[2, 120] == b"a cat"
            if ending == "jpg":
                assert image.info["comment"] == "café".encode()
            if ending == "png":
                assert image.text["Comment"] == "café"


def test_thumbnails_of_the_damaged_picture_are_dropped() -> None:
    blocks = resource_blocks(THUMBNAIL + OTHER + join_resources(None, IPTC))
    assert blocks == (MetadataBlock(MetadataKind.IPTC, IPTC), MetadataBlock(MetadataKind.PHOTOSHOP, OTHER))
    assert resource_blocks(THUMBNAIL) == ()


@pytest.mark.parametrize("cut", range(1, len(OTHER)))
def test_broken_resources_are_kept_as_they_are(cut: int) -> None:
    for block in resource_blocks(OTHER[:cut]):
        assert block.payload == OTHER[:cut]


def test_long_resources_and_long_xmp_in_jpeg(tmp_path: Path) -> None:
    long = bytes(range(256)) * 1000
    picture = Picture(
        PIXELS,
        metadata=Metadata(
            blocks=(MetadataBlock(MetadataKind.IPTC, long), MetadataBlock(MetadataKind.XMP, long))
        ),
    )
    write_picture(picture, tmp_path / "a.jpg")
    again = read_picture(tmp_path / "a.jpg")
    assert again.metadata.block(MetadataKind.IPTC) == long
    assert again.metadata.block(MetadataKind.XMP) is None
    assert Output(tmp_path / "a.jpg").lost(picture) == ("XMP",)


def test_xmp_does_not_ask_for_another_turn(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[274] = 6
    Image.fromarray(PIXELS).save(tmp_path / "a.jpg", exif=exif, xmp=PACKET)
    assert b'tiff:Orientation="1"' in (
        read_picture(tmp_path / "a.jpg").metadata.block(MetadataKind.XMP) or b""
    )


def test_segments_that_are_not_kept_are_named(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    Image.fromarray(PIXELS).save(buffer, "JPEG")
    data = buffer.getvalue()
    segments = [(0xEB, b"JP\0\1\0\0\0\1\0\0\0\x20jumb"), (0xE4, b"something"), (0xEC, b"Ducky\0")]
    extra = b"".join(struct.pack(">BBH", 0xFF, marker, 2 + len(text)) + text for marker, text in segments)
    (tmp_path / "a.jpg").write_bytes(data[:2] + extra + data[2:])
    assert read_picture(tmp_path / "a.jpg").metadata.lost == (
        "content credentials (C2PA)",
        "application data (APP4)",
    )


def test_png_chunks_survive_byte_for_byte(tmp_path: Path) -> None:
    texts = [
        chunk(b"tEXt", b"Title\0A cat"),
        chunk(b"zTXt", b"Author\0\0" + zlib.compress(b"me")),
        chunk(b"iTXt", b"Source\0\0\0en\0\0" + "née".encode()),
        chunk(b"gAMA", struct.pack(">I", 100_000)),
    ]
    (tmp_path / "a.png").write_bytes(png(*texts))
    picture = read_picture(tmp_path / "a.png")
    write_picture(picture, tmp_path / "b.png")
    data = (tmp_path / "b.png").read_bytes()
    assert all(text in data for text in texts)
    with Image.open(tmp_path / "b.png") as image:
        assert image.text == {"Title": "A cat", "Author": "me", "Source": "née"}
        assert image.info["gamma"] == 1.0
    assert set(Output(tmp_path / "c.jpg").lost(picture)) == {"PNG text", "the gamma of its colors"}


def test_the_mark_of_srgb_is_no_loss(tmp_path: Path) -> None:
    mark = chunk(b"sRGB", b"\0") + chunk(b"gAMA", struct.pack(">I", 45455))
    (tmp_path / "a.png").write_bytes(png(mark))
    picture = read_picture(tmp_path / "a.png")
    assert Output(tmp_path / "b.jpg").lost(picture) == Output(tmp_path / "b.npy").lost(picture) == ()
    write_picture(picture, tmp_path / "b.png")
    assert mark in (tmp_path / "b.png").read_bytes()


def test_packed_xmp_in_png(tmp_path: Path) -> None:
    packed = chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(PACKET))
    bomb = chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(bytes(17 * 1024**2)))
    for data, expected in ((packed, PACKET), (bomb, None)):
        (tmp_path / "a.png").write_bytes(png(data))
        assert read_picture(tmp_path / "a.png").metadata.block(MetadataKind.XMP) == expected


def test_strict_on_the_command_line(tmp_path: Path, capsys) -> None:
    alpha = np.full((20, 30), 255, np.uint8)
    alpha[4:6, 7:9] = 0
    title = MetadataBlock(MetadataKind.PNG_TEXT, b"tEXtTitle\0A cat")
    write_picture(Picture(PIXELS, alpha, Metadata(blocks=(title,))), tmp_path / "a.png")
    command = ["restore", str(tmp_path / "a.png"), "--preset", "fast", "--no-estimate"]
    assert main([*command, "--strict", "-o", str(tmp_path / "b.webp")]) == 2
    assert "PNG text would be lost; choose a format that holds them" in capsys.readouterr().err
    assert main([*command, "--strict"]) == 0
    assert main([*command, "-o", str(tmp_path / "b.webp")]) == 0
    assert "Not kept: PNG text." in capsys.readouterr().err
