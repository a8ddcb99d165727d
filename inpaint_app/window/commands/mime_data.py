"""What is dropped or pasted: files, a folder, or pixels."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QImage

from inpaint_app.errors import join_names, printable_path
from inpaint_app.io.paths import is_visible_folder
from inpaint_app.io.registry import suffixes
from inpaint_app.model.picture import Array, Picture, picture_from_rgba
from inpaint_app.window.canvas.image_pyramid import display_range, to_image

_MAX_NAMED = 3


@dataclass(frozen=True)
class DroppedData:
    """What was dropped or pasted; None where absent."""

    #: Files, told apart by their names where there are several.
    picture: Path | None = None
    mask: Path | None = None
    reference: Path | None = None
    folder: Path | None = None  #: A folder of pictures.
    image: QImage | None = None  #: Pixels.
    skipped: tuple[Path, ...] = ()  #: Other files, which are not opened.

    @property
    def drop_hint(self) -> str:
        """What dropping it would do, for the user."""
        if self.folder is not None:
            return f"Drop to restore the pictures of {printable_path(self.folder.name)}"
        return "Drop to open " + (
            "the picture" if self.picture is None else printable_path(self.picture.name)
        )

    @property
    def skipped_message(self) -> str:
        """What was skipped, for the user; empty where nothing was."""
        if not self.skipped:
            return ""
        names = [printable_path(path.name) for path in self.skipped]
        if len(names) > _MAX_NAMED:
            names[_MAX_NAMED - 1 :] = [f"{len(names) - _MAX_NAMED + 1} others"]
        verb = "was" if len(self.skipped) == 1 else "were"
        return (
            f"{join_names(names)} {verb} left out: drop one picture, with its mask or original if you like, "
            "or one folder."
        )


def read_mime_data(data: QMimeData) -> DroppedData | None:
    """Return what a clipboard or a drop holds for us; None if nothing."""
    paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    if paths:
        return _sorted(paths)
    if data.hasImage():
        image = data.imageData()
        if isinstance(image, QImage) and not image.isNull():
            return DroppedData(image=image)
    return None


def _sorted(paths: list[Path]) -> DroppedData | None:
    """Tell several files apart by their names: those with "mask" or "original" in them come second.

    The first of all decides whether a folder or a picture is taken.
    """
    usable = [path for path in paths if is_visible_folder(path) or path.suffix.lower() in suffixes()]
    if not usable:
        return None
    if is_visible_folder(usable[0]):
        return DroppedData(folder=usable[0], skipped=_without(paths, usable[0]))
    files = [path for path in usable if not is_visible_folder(path)]
    mask = _named(files, "mask") if len(files) > 1 else None
    others = [path for path in files if path != mask]
    reference = _named(others, "original", "reference") if len(others) > 1 else None
    picture = next(path for path in others if path != reference)
    return DroppedData(picture, mask, reference, skipped=_without(paths, picture, mask, reference))


def _without(paths: list[Path], *taken: Path | None) -> tuple[Path, ...]:
    return tuple(path for path in paths if path not in taken)


def _named(paths: list[Path], *words: str) -> Path | None:
    return next((path for path in paths if any(word in path.stem.lower() for word in words)), None)


def picture_of(image: QImage) -> Picture:
    """Return the pixels of an image; may be called in any thread."""
    plain = image.convertToFormat(QImage.Format.Format_RGBA8888)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine())
    values = rows[:, : 4 * plain.width()].reshape(plain.height(), plain.width(), 4)
    return picture_from_rgba(values.copy())


def image_of(picture: Picture, like: Array) -> QImage:
    """Return a picture for the clipboard, in sRGB; may be called in any thread.

    Float values are scaled as those of `like` are on the screen.
    """
    image = to_image(picture.pixels, display_range(like), icc=picture.metadata.icc)
    if picture.alpha is not None:
        image.setAlphaChannel(to_image(picture.alpha))
    return image
