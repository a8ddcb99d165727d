"""What the window remembers from one start to the next."""

import base64
import contextlib
import json
import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QStandardPaths

from dictsel_core import RestoreSettings
from dictsel_core.restoration import Parameter
from inpaint_app.errors import UserError
from inpaint_app.io.atomic import PendingFile, write_files
from inpaint_app.io.read import read_whole_file
from inpaint_app.text import UNITS
from inpaint_app.window.canvas.screen_color import SYSTEM
from inpaint_app.window.theme.colors import Looks
from inpaint_app.window.theme.theme import Theme

ORGANIZATION, APPLICATION = "dictsel", "inpaint-app"
MAX_RECENT = 10
_MAX_BYTES = 1_000_000
_MAX_KEYS = 500


def preferences_path() -> Path | None:
    """Return the file of this user; None where the system has no folder for it."""
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericConfigLocation)
    return Path(folder) / ORGANIZATION / f"{APPLICATION}.json" if folder else None


@dataclass(frozen=True)
class Remembered:
    """What is known from the last time."""

    geometry: bytes = b""  #: Place and size of the window as Qt packs them; empty if they are not known.
    layout: bytes = b""  #: Where panels and toolbar are, as Qt packs it, behind a checksum.
    is_automatic: bool = False  #: Whether every change of parameters is followed by a restoration.
    theme: Theme = Theme.SYSTEM  #: The colors that were chosen.
    screen: str = SYSTEM  #: The color profile of the screen, as `screen_profile` takes it.
    recent: tuple[Path, ...] = ()  #: Files opened last, newest first.
    folder: Path | None = None  #: That of the last one.
    settings: RestoreSettings = field(default_factory=RestoreSettings)  #: What a picture begins with.
    looks: Looks = field(default_factory=Looks)  #: The gray around pictures, and the marks on them.
    unit: str = "px"  #: In which sizes are told, see `text.UNITS`.
    keys: Mapping[str, str] = field(default_factory=dict)  #: Those given to actions, by their names.


class Preferences:
    """Window state, theme, recent files and their folder, kept as JSON.

    Nothing depends on the file: if it cannot be read, is not ours, or a value is not what it should be, the
    defaults hold; if it cannot be written, things are remembered until the window closes. Qt's own settings
    are not used: PySide unpickles values that they hold, and so would run whatever is put there.

    Parameters
    ----------
    path : Path, optional
        The file; by default that of this user.
    is_fixed : bool
        Whether everything stays as it is remembered, whatever is stored; only `reset` changes it.
    """

    def __init__(self, path: Path | None = None, *, is_fixed: bool = False) -> None:
        self._path = preferences_path() if path is None else path
        self._is_fixed = is_fixed
        self._is_written = True  # whether the file holds all that was changed here
        self.now = self._read() or Remembered()  #: All values as they are now.

    def reset(self) -> None:
        """Forget everything."""
        self.now = Remembered()
        self._write()

    def remember_file(self, path: Path) -> None:
        """Put a file first among the recent ones; dialogs begin in its folder."""
        path = path.absolute()
        self._refresh()
        others = [each for each in self.now.recent if each != path]
        self.store(recent=(path, *others)[:MAX_RECENT], folder=path.parent)

    def forget_file(self, path: Path) -> None:
        """Drop a file from the recent ones."""
        self._refresh()
        self.store(recent=tuple(each for each in self.now.recent if each != path))

    @property
    def folder(self) -> Path:
        """The folder that a file dialog begins with."""
        folder = self.now.folder
        with contextlib.suppress(OSError):
            if folder is not None and folder.is_dir():
                return folder
        return Path.home()

    def store(self, **changes: Any) -> None:
        """Remember other values of some fields."""
        if self._is_fixed:
            return
        self._refresh()
        before, self.now = self.now, replace(self.now, **changes)
        if self.now != before:
            self._write()

    def _refresh(self) -> None:
        """Take over what other windows have stored meanwhile."""
        if self._is_written:
            self.now = self._read() or self.now

    def _read(self) -> Remembered | None:
        """Return what is stored and sound; None if there is no file that we could have written."""
        if self._path is None:
            return None
        try:
            stored = json.loads(read_whole_file(self._path, limit=_MAX_BYTES))
        except (UserError, ValueError, RecursionError):
            return None
        return _sound(stored) if isinstance(stored, dict) else None

    def _write(self) -> None:
        if self._path is None:
            return
        # Names of files need not be text; escaped, they come back as they are.
        text = json.dumps(asdict(self.now), indent=2, default=_as_json)
        self._is_written = False
        with contextlib.suppress(UserError, OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            contents = text.encode("ascii") + b"\n"
            file = PendingFile(self._path, lambda file: file.write(contents))
            write_files([file], overwrite=True, waits=False)  # a disk may be busy for longer than a frame
            self._is_written = True


def _sound(stored: Mapping[str, object]) -> Remembered:
    """Return the values that are what they should be, and the defaults of others."""
    values = {}
    for name, read in _READERS.items():
        with contextlib.suppress(KeyError, TypeError, ValueError, StopIteration):
            values[name] = read(stored[name])
    return Remembered(**values)


_FLAG, _TEXT = Parameter(name="flag", kind=bool), Parameter(name="text", kind=str)


def _path(stored: object) -> Path:
    text = _TEXT.checked(stored)
    if b"\0" in os.fsencode(text):  # which refuses halves of characters too
        raise ValueError
    return Path(text)


def _paths(stored: object) -> tuple[Path, ...]:
    if not isinstance(stored, list):
        raise TypeError
    return tuple(_path(each) for each in stored[:MAX_RECENT])


def _bytes(stored: object) -> bytes:
    return base64.b64decode(_TEXT.checked(stored), validate=True)


def checked(layout: bytes) -> bytes:
    """Return a layout behind a checksum: Qt crashes on some that are damaged."""
    return zlib.crc32(layout).to_bytes(4, "big") + layout


def _settings(stored: object) -> RestoreSettings:
    if not isinstance(stored, dict):
        raise TypeError
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in stored.items()}
    return RestoreSettings(**values)


def _layout(stored: object) -> bytes:
    layout = _bytes(stored)
    if layout != checked(layout[4:]):
        raise ValueError
    return layout


def _looks(stored: object) -> Looks:
    if not isinstance(stored, dict):
        raise TypeError
    return Looks(**{str(name): value for name, value in stored.items()})


def _unit(stored: object) -> str:
    return next(name for name in UNITS if name == stored)


def _keys(stored: object) -> dict[str, str]:
    if not isinstance(stored, dict) or len(stored) > _MAX_KEYS:
        raise TypeError
    return {_TEXT.checked(name): _TEXT.checked(key)[:_MAX_KEYS] for name, key in stored.items()}


_READERS: dict[str, Callable[[object], Any]] = {
    "geometry": _bytes,
    "layout": _layout,
    "is_automatic": _FLAG.checked,
    "theme": Theme,
    "screen": lambda stored: str(_path(stored)),
    "recent": _paths,
    "folder": _path,
    "settings": _settings,
    "looks": _looks,
    "unit": _unit,
    "keys": _keys,
}


def _as_json(value: object) -> str:
    """Return a value as the readers above expect it."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return str(value.value if isinstance(value, Theme) else value)
