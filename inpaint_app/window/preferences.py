"""What the window remembers from one start to the next."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

from inpaint_app.window.theme.theme import Theme

ORGANISATION, APPLICATION = "dictsel", "inpaint-app"
MAX_RECENT = 10


class Preferences:
    """Window state, theme, recent files and folders, kept by the system's means.

    Parameters
    ----------
    is_fixed : bool
        Whether everything stays as it is remembered, whatever is stored; only `reset` changes it.
    """

    def __init__(self, *, is_fixed: bool = False) -> None:
        self._is_fixed = is_fixed
        self._settings = QSettings(
            QSettings.defaultFormat(), QSettings.Scope.UserScope, ORGANISATION, APPLICATION
        )

    def reset(self) -> None:
        """Forget everything."""
        self._settings.clear()
        self._settings.sync()

    @property
    def theme(self) -> Theme:
        """The colours that were chosen."""
        try:
            return Theme(str(self._settings.value("theme", Theme.SYSTEM.value)))
        except ValueError:
            return Theme.SYSTEM

    @theme.setter
    def theme(self, theme: Theme) -> None:
        self._store("theme", theme.value)

    @property
    def recent_files(self) -> list[Path]:
        """Files opened last, newest first."""
        stored = self._settings.value("recent", [])
        names = [stored] if isinstance(stored, str) else stored if isinstance(stored, list) else []
        return [Path(str(name)) for name in names][:MAX_RECENT]

    def remember_file(self, path: Path) -> None:
        """Put a file first among the recent ones."""
        path = path.absolute()
        others = [each for each in self.recent_files if each != path]
        self._store("recent", [str(each) for each in (path, *others)][:MAX_RECENT])
        self.folder = path.parent

    def forget_file(self, path: Path) -> None:
        """Drop a file from the recent ones."""
        self._store("recent", [str(each) for each in self.recent_files if each != path])

    def forget_files(self) -> None:
        """Forget the recent files."""
        self._store("recent", [])

    @property
    def folder(self) -> Path:
        """The folder that a file dialog begins with."""
        stored = str(self._settings.value("folder", ""))
        return Path(stored) if stored and Path(stored).is_dir() else Path.home()

    @folder.setter
    def folder(self, folder: Path) -> None:
        self._store("folder", str(folder))

    def bytes_of(self, name: str) -> QByteArray | None:
        """Return the state of a window or splitter as it was stored."""
        stored = self._settings.value(name)
        return stored if isinstance(stored, QByteArray) else None

    def store_bytes(self, name: str, state: QByteArray) -> None:
        """Store the state of a window or splitter."""
        self._store(name, state)

    def flag(self, name: str, default: bool) -> bool:
        """Return a yes or no that was stored."""
        stored = self._settings.value(name, default)
        return stored if isinstance(stored, bool) else str(stored).lower() == "true"

    def store_flag(self, name: str, value: bool) -> None:
        """Store a yes or no."""
        self._store(name, value)

    def _store(self, name: str, value: object) -> None:
        if not self._is_fixed:
            self._settings.setValue(name, value)
