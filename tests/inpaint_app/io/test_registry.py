"""One registry of formats: whatever it holds is read, written, offered and documented."""

import io
import re
from pathlib import Path

import numpy as np
import pytest

from inpaint_app.cli.options import input_argument
from inpaint_app.errors import UserError
from inpaint_app.io import registry
from inpaint_app.io.batch_files import find_items
from inpaint_app.io.format import Format
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import default_output, write_picture
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Picture

PAGE = Path(__file__).parents[3] / "docs" / "files.md"
GRAY = Picture(np.arange(12, dtype=np.uint8).reshape(3, 4))


def decode_toy(data: bytes) -> Picture:
    return Picture(np.load(io.BytesIO(data[3:])))


def encode_toy(picture, file, _quality) -> None:
    file.write(b"TOY")
    np.save(file, picture.pixels)


@pytest.fixture
def toy(monkeypatch) -> Format:
    """A format that is registered as any other is: by one line."""
    made = Format("Toy", (".toy",), ("image/x-toy",), re.compile(b"TOY"), decode_toy, encode_toy)
    monkeypatch.setattr(registry, "FORMATS", [*registry.FORMATS, made])
    return made


def test_a_new_format_is_read_and_written(toy, tmp_path) -> None:
    write_picture(GRAY, tmp_path / "a.toy")
    assert np.array_equal(read_picture(tmp_path / "a.toy").pixels, GRAY.pixels)
    with pytest.raises(UserError, match="Toy cannot store 16-bit gray"):
        write_picture(Picture(GRAY.pixels.astype(np.uint16)), tmp_path / "b.toy")
    assert default_output(Path("scan.toy")) == Path("scan_restored.toy")


def test_a_new_format_is_taken_from_folders(toy, tmp_path) -> None:
    write_picture(GRAY, tmp_path / "a.toy")
    (item,) = find_items([tmp_path], tmp_path / "out", MaskSpec(), overwrite=False)
    assert item.output == tmp_path / "out" / "a.toy"


def test_a_new_format_is_named_by_the_command_line(toy, tmp_path) -> None:
    assert "TGA or Toy" in input_argument().help
    with pytest.raises(UserError, match=r"\.toy"):
        write_picture(GRAY, tmp_path / "a.unknown")


@pytest.mark.parametrize("name", [s for each in registry.writable() for s in each.suffixes])
def test_the_suggested_output_of_every_name_is_accepted(name, tmp_path) -> None:
    output = default_output(tmp_path / f"scan{name}")
    write_picture(GRAY, output)
    assert output.exists()


def test_the_docs_have_a_row_for_every_format() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| [A-Z][\w ]+\| `\.", line)]
    assert rows == [docs_row(each) for each in registry.FORMATS]


def docs_row(each: Format) -> str:
    """Return the row of the table of docs/files.md; copy it from the failure of the test above."""
    names = " ".join(f"`{suffix}`" for suffix in each.suffixes)
    if each.encode is None:
        return f"| {each.name} | {names} | read only |"
    depths = ", ".join("float" if depth == 32 else str(depth) for depth in each.depths)
    kept = [f"{depths} bits"]
    kept += [f"{depth} in gray" for depth in each.gray_depths]
    kept += ["any array"] if each.keeps_arrays else []
    kept += [] if each.has_alpha else ["no transparency"]
    kept += [f"{each.max_colors} colors"] if each.max_colors else []
    kept += ["lossless at quality 100"] if each.is_lossless_at_100 else ["lossy"] if each.is_lossy else []
    kept += [f"with `{each.plug_in.package}`"] if each.plug_in else []
    return f"| {each.name} | {names} | {', '.join(kept)} |"
