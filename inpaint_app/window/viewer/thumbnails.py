"""Small pictures of the files that were opened last, kept where only this user can read them."""

import contextlib
import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QObject, QSize, Qt, Signal
from PySide6.QtGui import QImage, QImageReader

from inpaint_app.errors import UserError
from inpaint_app.io.atomic import PendingFile, write_files
from inpaint_app.model.picture import Picture
from inpaint_app.window.background.work import ExclusiveTask, WorkerPool
from inpaint_app.window.canvas.image_pyramid import display_range, to_image

SIZE = QSize(320, 240)
_MAX_BYTES = 1_000_000


class Thumbnails(QObject):
    """Makes and reads them in another thread; without a folder there are none.

    The name of a file does not tell which picture it is of. What cannot be written or read is left out.
    """

    changed = Signal()
    """`images` are others."""

    def __init__(self, workers: WorkerPool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workers, self._reading = workers, ExclusiveTask(workers, self)
        self._folder: Path | None = None
        self.images: Mapping[Path, QImage] = {}  #: Those that were read last, by the file they show.

    def start(self, folder: Path) -> None:
        """Use a folder from now on."""
        self._folder = folder

    def keep(self, path: Path, picture: Picture) -> None:
        """Keep a small picture of a file."""
        folder = self._folder
        if folder is not None:
            self._workers.start(lambda _control: _write(_place(folder, path), picture), done=lambda _: None)

    def read(self, paths: Iterable[Path]) -> None:
        """Read those of some files, and remove those of all others."""
        folder, wanted = self._folder, tuple(paths)
        if folder is None:
            return

        def read(_control: object) -> dict[Path, QImage]:
            _clean(folder, {_place(folder, path) for path in wanted})
            images = {path: _read(_place(folder, path)) for path in wanted}
            return {path: image for path, image in images.items() if not image.isNull()}

        self._reading.start(read, done=self._take)

    def _take(self, images: dict[Path, QImage]) -> None:
        self.images = images
        self.changed.emit()


def thumbnail(picture: Picture) -> QImage:
    """Return a picture within `SIZE`."""
    step = max(1, min(picture.height // SIZE.height(), picture.width // SIZE.width()) // 2)
    pixels = picture.pixels[::step, ::step]
    small = to_image(pixels, display_range(pixels), icc=picture.metadata.icc)
    smooth = Qt.TransformationMode.SmoothTransformation
    return small.scaled(SIZE.boundedTo(small.size()), Qt.AspectRatioMode.KeepAspectRatio, smooth)


def _place(folder: Path, path: Path) -> Path:
    return folder / f"{hashlib.sha256(os.fsencode(path.absolute())).hexdigest()}.png"


def _write(target: Path, picture: Picture) -> None:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    thumbnail(picture).save(buffer, "PNG")  # type: ignore[call-overload]
    contents = bytes(buffer.data().data())
    with contextlib.suppress(UserError, OSError):
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_files([PendingFile(target, lambda file: file.write(contents))], overwrite=True, waits=False)
        target.chmod(0o600)


def _read(path: Path) -> QImage:
    """Return a thumbnail; an empty image if there is none, or if it is none of ours."""
    with contextlib.suppress(OSError):
        if path.is_file() and path.stat().st_size <= _MAX_BYTES:
            reader = QImageReader(str(path), b"png")
            size = reader.size()
            if size.isValid() and size == size.boundedTo(SIZE):
                return reader.read()
    return QImage()


def _clean(folder: Path, wanted: Collection[Path]) -> None:
    with contextlib.suppress(OSError):
        for path in folder.glob("*.png"):
            if path not in wanted:
                path.unlink(missing_ok=True)
