"""What the clipboard or a drop brings: files, a folder, or pixels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QImage

from inpaint_app.picture import Picture
from inpaint_app.window.opening import picture_from_rgba


@dataclass(frozen=True)
class Transfer:
    """What was brought; None where it was not.

    Attributes
    ----------
    picture, mask, reference : Path or None
        Files, told apart by their names where there are several.
    folder : Path or None
        A folder of pictures.
    image : QImage or None
        Pixels.
    """

    picture: Path | None = None
    mask: Path | None = None
    reference: Path | None = None
    folder: Path | None = None
    image: QImage | None = None


def read_transfer(data: QMimeData) -> Transfer | None:
    """Return what a clipboard or a drop holds for us; None if nothing."""
    paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    if paths:
        return _sorted(paths)
    if data.hasImage():
        image = data.imageData()
        if isinstance(image, QImage) and not image.isNull():
            return Transfer(image=image)
    return None


def _sorted(paths: list[Path]) -> Transfer:
    """Tell several files apart by their names: those with "mask" or "original" in them come second."""
    if paths[0].is_dir():
        return Transfer(folder=paths[0])
    mask = _named(paths, "mask") if len(paths) > 1 else None
    others = [path for path in paths if path != mask]
    reference = _named(others, "original", "reference") if len(others) > 1 else None
    pictures = [path for path in others if path != reference]
    return Transfer(picture=pictures[0], mask=mask, reference=reference)


def _named(paths: list[Path], *words: str) -> Path | None:
    return next((path for path in paths if any(word in path.stem.lower() for word in words)), None)


def picture_of(image: QImage) -> Picture:
    """Return the pixels of an image; may be called in any thread."""
    plain = image.convertToFormat(QImage.Format.Format_RGBA8888)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine())
    values = rows[:, : 4 * plain.width()].reshape(plain.height(), plain.width(), 4)
    return picture_from_rgba(values.copy())
