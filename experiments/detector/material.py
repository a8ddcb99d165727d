"""What damaged pictures are made of: photographs, outlines of film damage, and overlays, in three parts."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Plane = NDArray[np.float32]
Part = Literal["training", "choosing", "confirming"]

#: Longest side of a photograph; larger ones are reduced to it.
_LARGEST = 1400
#: Overlays whose shapes are lines; the others are spots and hairs.
_LINE_OVERLAYS = ("scratches",)
#: Overlays that are left out: blots look like things of the picture.
_BLOTS = ("dots", "smut")
#: Every tenth file confirms, the one after it chooses, the others train.
_TENTHS: dict[Part, tuple[int, ...]] = {"training": tuple(range(2, 10)), "choosing": (1,), "confirming": (0,)}
_FILM: dict[Part, tuple[int, ...]] = {"training": (1, 2, 3, 4, 5), "choosing": (6,), "confirming": (7,)}


@dataclass(frozen=True, eq=False)
class Outline:
    """The outline of one piece of damage on a film frame."""

    points: NDArray[np.float64]  #: (P, 2), x and y
    is_line: bool  #: A scratch, neither dust nor a hair.


@dataclass(frozen=True, eq=False)
class Frame:
    """The outlines of a film frame, and the smallest and largest x and y of each, (N, 2)."""

    outlines: tuple[Outline, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def inside(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> list[Outline]:
        """Return the outlines that reach into a box."""
        chosen = (self.high >= low).all(axis=1) & (self.low <= high).all(axis=1)
        return [self.outlines[i] for i in np.flatnonzero(chosen)]


@dataclass(frozen=True, eq=False)
class Overlay:
    """Opacity of drawn damage, from 0 to 1."""

    opacity: Plane
    is_line: bool


@dataclass(frozen=True, eq=False)
class Material:
    """One part of the material.

    Attributes
    ----------
    photographs : tuple of (H, W, 3) ndarray of uint8
        Undamaged.
    frames : tuple of Frame
        Damage of film.
    overlays : tuple of Overlay
        Dirt, hairs, lint, scratches and spots.
    """

    photographs: tuple[NDArray[np.uint8], ...]
    frames: tuple[Frame, ...]
    overlays: tuple[Overlay, ...]


def load_material(folder: Path, part: Part, more: Sequence[Path] = ()) -> Material:
    """Return one part of the material in a folder, with photographs of others; no file is in two parts."""
    photographs = [
        _photograph(path)
        for each in (folder / "photographs", *more)
        for path in _of_part(each, "*.jpg", part)
    ]
    if not photographs:
        raise FileNotFoundError(f"There are no photographs in {folder / 'photographs'}.")
    overlays = [
        Overlay(_opacity(path), kind.name in _LINE_OVERLAYS)
        for kind in sorted((folder / "overlays").iterdir())
        if kind.name not in _BLOTS
        for path in _of_part(kind, "*.png", part)
    ]
    frames = [_frame(folder / "film" / f"scan{number}.json") for number in _FILM[part]]
    return Material(tuple(photographs), tuple(frames), tuple(overlays))


def _photograph(path: Path) -> NDArray[np.uint8]:
    with Image.open(path) as picture:
        picture.thumbnail((_LARGEST, _LARGEST), Image.Resampling.LANCZOS)
        return np.asarray(picture.convert("RGB"))


def _of_part(folder: Path, pattern: str, part: Part) -> list[Path]:
    return [path for i, path in enumerate(sorted(folder.glob(pattern))) if i % 10 in _TENTHS[part]]


def _opacity(path: Path) -> Plane:
    """Return an overlay, cut to what it covers."""
    values = np.asarray(Image.open(path).convert("L"), np.float32) / np.float32(255)
    rows, columns = np.flatnonzero(values.max(axis=1) > 0.1), np.flatnonzero(values.max(axis=0) > 0.1)
    return values[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def _frame(path: Path) -> Frame:
    entries = json.loads(path.read_text())
    outlines = [Outline(np.array(each["points"], float), each["label"] == "Scratch") for each in entries]
    low, high = (np.array([edge(each.points, axis=0) for each in outlines]) for edge in (np.min, np.max))
    return Frame(tuple(outlines), low, high)
