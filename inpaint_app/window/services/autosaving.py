"""Keeps unsaved work in a file of its own, so that the end of the program costs seconds of it at most."""

import contextlib
import os
import time
from pathlib import Path
from typing import IO

from PySide6.QtCore import QObject, QTimer

from inpaint_app.io.atomic import SUFFIX as PART_SUFFIX
from inpaint_app.io.atomic import write_files
from inpaint_app.system import lock
from inpaint_app.window.background.work import WorkerPool
from inpaint_app.window.document.document import Document
from inpaint_app.window.document.project import SUFFIX
from inpaint_app.window.document.project_writer import project_file

#: What is kept, and what tells whether it would be lost; the pixels of the picture itself are in its file.
_KEPT = ("source", "mask", "settings", "hole_fill", "runs", "saved_mask")
_DELAY_MS = 2000
#: Part of the time that saving may take: large pictures are saved less often.
_SHARE = 0.05
_DAY = 24 * 3600
_MAX_AGE = 30 * _DAY


class Autosaving(QObject):
    """Writes a project some time after every change, and removes it when nothing would be lost.

    A file belongs to the process that has locked the file beside it; one whose process has ended is lost
    work, see `lost_work`.
    """

    def __init__(self, document: Document, workers: WorkerPool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._workers = document, workers
        self._path: Path | None = None
        self._lock: IO[str] | None = None
        self._is_writing = self._is_outdated = False
        self._delay_ms = _DELAY_MS
        self._superseded: list[Path] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.save)

    def start(self, folder: Path) -> None:
        """Save into a folder from now on, where that can be done."""
        name = f"{os.getpid()}-{time.time_ns()}"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = (folder / f"{name}.lock").open("a")
        except OSError:  # a full disk, a folder of somebody else: the program works without it
            return
        if not lock(file):
            file.close()
            return
        self._lock, self._path = file, folder / f"{name}{SUFFIX}"
        self._document.watch(self._save_soon, *_KEPT)

    @property
    def is_settled(self) -> bool:
        """Whether everything that would be lost is saved."""
        return not (self._is_writing or self._timer.isActive())

    def supersede(self, path: Path) -> None:
        """Remove lost work that was recovered, once it is saved anew."""
        self._superseded.append(path)
        self.save()

    def save(self) -> None:
        """Save now what is not saved; in another thread."""
        state, path = self._document.state, self._path
        if path is None:
            return
        if self._is_writing:
            self._is_outdated = True
            return
        self._timer.stop()
        if state.source is None or not (state.has_unsaved_result or state.has_unsaved_mask):
            _remove(path)
            return
        began = time.monotonic()
        self._is_writing, self._is_outdated = True, False
        superseded = tuple(self._superseded)  # what is recovered from now on is not in this state

        def on_done(_notes: object) -> None:
            self._delay_ms = max(_DELAY_MS, int(1000 * (time.monotonic() - began) / _SHARE))
            for each in superseded:
                self._superseded.remove(each)
                _remove_with_lock(each)
            self._end_writing()

        source = state.source.path
        self._workers.start(
            lambda _control: write_files(
                [project_file(path, state)], overwrite=True, waits=False, source=source
            ),
            done=on_done,
            failed=lambda _sentence: self._end_writing(),
        )

    def close(self) -> None:
        """Remove what was saved: the user has decided what to keep."""
        self._timer.stop()
        path, self._path = self._path, None
        if path is not None and self._lock is not None:
            _remove(path)  # before anybody can take it for lost
            self._lock.close()
            _remove_with_lock(path)

    def _end_writing(self) -> None:
        self._is_writing = False
        if self._is_outdated:
            self._timer.start(self._delay_ms)

    def _save_soon(self) -> None:
        if self._is_writing:
            self._is_outdated = True
        elif not self._timer.isActive():
            self._timer.start(self._delay_ms)


def lost_work(folder: Path) -> list[Path]:
    """Return the projects of processes that have ended without removing them, the newest last.

    What nobody has recovered for a month is removed, and what was left of a process that was writing.
    """
    for part in folder.glob(f".*{PART_SUFFIX}"):
        if _age(part) > _DAY:
            _remove(part)
    found = []
    for path in sorted(folder.glob(f"*{SUFFIX}"), key=_age, reverse=True):
        with contextlib.suppress(OSError), path.with_suffix(".lock").open("a") as file:
            if not lock(file):
                continue
            # One that is gone by now was recovered elsewhere, or its process has ended.
            if not path.is_file() or _age(path) > _MAX_AGE:
                _remove_with_lock(path)
            else:
                found.append(path)
    return found


def _age(path: Path) -> float:
    """Return the seconds since a file was written; 0 if it is gone."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def _remove_with_lock(path: Path) -> None:
    _remove(path)
    _remove(path.with_suffix(".lock"))
