"""A text field for a file or a folder, with a button to browse."""

from pathlib import Path
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QPushButton, QWidget

from inpaint_app.window.widgets.layouts import fill

Kind = Literal["folder", "read", "write"]


class PathField(QWidget):
    """Asks for a path.

    Parameters
    ----------
    title : str
        What it is the path of.
    kind : str
        Whether it is a "folder", a file to "read" or one to "write".
    start : Path
        Folder in which the dialog opens.
    filters : str
        Kinds of files, as `QFileDialog` takes them.
    """

    changed = Signal()

    def __init__(self, title: str, *, kind: Kind, start: Path, filters: str = "") -> None:
        super().__init__()
        self.title, self._kind, self._start, self._filters = title, kind, start, filters
        self._line, self._browse = QLineEdit(), QPushButton("Browse …")
        name = title.replace("&", "")
        self._line.setAccessibleName(name)
        self._browse.setAccessibleName(f"Browse: {name}")
        self._browse.setAutoDefault(False)  # Enter in the line is for the dialog around
        fill(QHBoxLayout(self), (self._line, 1), self._browse)
        self._line.textChanged.connect(self.changed)
        self._browse.clicked.connect(self._browse_files)
        self.setFocusProxy(self._line)

    @property
    def path(self) -> Path | None:
        """What was chosen; None if nothing was."""
        text = self._line.text().strip()
        if not text:
            return None
        try:
            return Path(text).expanduser()
        except RuntimeError:  # ~ with the name of nobody
            return Path(text)

    def set_path(self, path: Path) -> None:
        """Show a path."""
        self._line.setText(str(path))

    def _browse_files(self) -> None:
        start = str(self.path or self._start)
        if self._kind == "folder":
            chosen = QFileDialog.getExistingDirectory(self, self.title, start)
        elif self._kind == "read":
            chosen, _ = QFileDialog.getOpenFileName(self, self.title, start, self._filters)
        else:
            chosen, _ = QFileDialog.getSaveFileName(
                self, self.title, start, self._filters, options=QFileDialog.Option.DontConfirmOverwrite
            )
        if chosen:
            self._line.setText(chosen)
