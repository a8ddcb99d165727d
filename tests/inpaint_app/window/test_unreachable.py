"""Names that cannot be looked at, in the window: a sentence instead of a traceback."""

from types import SimpleNamespace

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtWidgets import QLineEdit, QWidget
from windows import can_export, find, texts

from inpaint_app.engine.opening import open_source
from inpaint_app.engine.source import Source
from inpaint_app.errors import UserError
from inpaint_app.io.write import properties_of
from inpaint_app.model.missing import MaskSpec, collect_missing
from inpaint_app.window.commands.file_commands import FileCommands
from inpaint_app.window.commands.mime_data import read_mime_data
from inpaint_app.window.dialogs.export_dialog import ExportDialog

LONG = "x" * 300


def test_opening(tmp_path) -> None:
    with pytest.raises(UserError, match="too long"):
        open_source(tmp_path / f"{LONG}.png", MaskSpec(), None)


def test_a_recent_file_stays_in_the_list(session, qtbot, tmp_path) -> None:
    """It may be on a disk that is not at hand now."""
    window = QWidget()
    qtbot.addWidget(window)
    preferences = SimpleNamespace(forget_file=lambda _path: pytest.fail("it was dropped"))
    FileCommands(session, preferences, window).open_recent(tmp_path / f"{LONG}.png")
    assert "too long" in session.complaints[0]


def test_a_drop(tmp_path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / f"{LONG}.png"))])
    dropped = read_mime_data(data)
    assert dropped is not None
    assert dropped.picture is not None, "opening it tells what is wrong"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (f"{LONG}/a.png", "too long"),
        ("~nobody-of-that-name/a.png", "does not exist"),
    ],
)
def test_exporting(qtbot, picture, tmp_path, name, words) -> None:
    dialog = ExportDialog(
        Source(picture, collect_missing(picture), "a.png"),
        tmp_path / "new.png",
        properties=properties_of(picture),
    )
    qtbot.addWidget(dialog)
    find(dialog, QLineEdit, "File").setText(name if name.startswith("~") else str(tmp_path / name))
    assert words in texts(dialog)
    assert not can_export(dialog)
