"""Names, endings and sources."""

import os
from pathlib import Path

import numpy as np
import pytest

from inpaint_app.errors import UserError
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import default_output, write_picture
from inpaint_app.model.picture import Picture

PICTURE = Picture(np.arange(12, dtype=np.uint8).reshape(3, 4))


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("a.png", "a_restored.png"),
        ("x/b.c.JPG", "x/b.c_restored.JPG"),
        ("a.jpeg", "a_restored.jpeg"),
        ("a.tiff", "a_restored.tiff"),
        ("a.webp", "a_restored.webp"),
        ("a.bmp", "a_restored.png"),
        ("a.pgm", "a_restored.png"),
        ("a", "a_restored.png"),
        (".hidden", ".hidden_restored.png"),
    ],
)
def test_default_output(source: str, output: str) -> None:
    assert default_output(source) == Path(output)


@pytest.mark.parametrize("name", ["a.png", "a.PNG", "a.jpg", "a.JPEG", "a.tif", "a.TIFF", "a.webp"])
def test_the_ending_decides(tmp_path: Path, name: str) -> None:
    write_picture(PICTURE, tmp_path / name)
    formats = {"p": "PNG", "j": "JPEG", "t": "TIFF", "w": "WebP"}
    assert read_picture(tmp_path / name).metadata.source_format == formats[name[2].lower()]


@pytest.mark.parametrize("name", ["a", "a.bmp", "a.xcf", "a.png.", "png"])
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"use \.png, \.tif, \.jpg, \.webp"):
        write_picture(PICTURE, tmp_path / name)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("quality", [0, 101, -5])
def test_quality(tmp_path: Path, quality: int) -> None:
    with pytest.raises(UserError, match="1 to 100"):
        write_picture(PICTURE, tmp_path / "a.jpg", quality=quality)


def test_the_source_is_protected_by_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "a.png"
    write_picture(PICTURE, source)
    contents = source.read_bytes()
    (tmp_path / "sub").mkdir()
    (tmp_path / "symbolic.png").symlink_to(source)
    os.link(source, tmp_path / "hard.png")
    (tmp_path / "folder").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    spellings = [
        source,
        Path("a.png"),
        Path("sub/../a.png"),
        Path("symbolic.png"),
        Path("hard.png"),
        Path("folder/a.png"),
    ]
    for path in spellings:
        with pytest.raises(UserError, match="is the source itself"):
            write_picture(PICTURE, path, protect=[tmp_path / "other.png", source])
        with pytest.raises(UserError, match="already exists"):
            write_picture(PICTURE, path)
    assert source.read_bytes() == contents
    write_picture(PICTURE, source, protect=[source], overwrite=True)


def test_overwriting_a_hard_link_leaves_the_other_name_alone(tmp_path: Path) -> None:
    write_picture(PICTURE, tmp_path / "a.png")
    os.link(tmp_path / "a.png", tmp_path / "b.png")
    other = Picture(np.zeros((2, 2), np.uint8))
    write_picture(other, tmp_path / "b.png", overwrite=True)
    assert np.array_equal(read_picture(tmp_path / "a.png").pixels, PICTURE.pixels)
    assert np.array_equal(read_picture(tmp_path / "b.png").pixels, other.pixels)
