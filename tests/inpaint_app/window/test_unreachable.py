"""Names that cannot be looked at, in the window: a sentence instead of a traceback."""

from types import SimpleNamespace

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtWidgets import QWidget

from dictsel_core import RestoreSettings
from inpaint_app.errors import UserError
from inpaint_app.marks import Marks
from inpaint_app.picture import Picture
from inpaint_app.window.batching import BatchRequest, run_batch
from inpaint_app.window.export_dialog import ExportDialog
from inpaint_app.window.exporter import Exporter
from inpaint_app.window.file_commands import FileCommands
from inpaint_app.window.opening import open_file
from inpaint_app.window.state import Document
from inpaint_app.window.task import Task
from inpaint_app.window.transfers import read_transfer

LONG = "x" * 300
FAST = RestoreSettings(n_atoms=8, coding_sparsity=3, bases=("dct", "haar"), rounds=0)


@pytest.fixture
def task():
    return Task(1, lambda *_news: None)


@pytest.fixture
def folder(tmp_path, files):
    """Two damaged pictures, and between them one that cannot be looked at."""
    (tmp_path / "in").mkdir()
    for name in ("a.png", "c.png"):
        (tmp_path / "in" / name).write_bytes(files["damaged"].read_bytes())
    (tmp_path / "in" / "b.png").symlink_to(LONG)
    return tmp_path / "in"


def test_opening(tmp_path) -> None:
    with pytest.raises(UserError, match="too long"):
        open_file(tmp_path / f"{LONG}.png", Marks(), None)


def test_a_recent_file_stays_in_the_list(session, qtbot, tmp_path) -> None:
    """It may be on a disk that is not at hand now."""
    window = QWidget()
    qtbot.addWidget(window)
    preferences = SimpleNamespace(forget_file=lambda _path: pytest.fail("it was dropped"))
    FileCommands(session, Exporter(session), preferences, window).open_recent(tmp_path / f"{LONG}.png")
    assert "too long" in session.complaints[0]


def test_a_batch_goes_on(task, folder, tmp_path) -> None:
    rows = run_batch(task, BatchRequest(folder, tmp_path / "out", FAST, Marks()))
    assert [row.is_restored for row in rows] == [True, False, True]
    assert "too long" in rows[1].status


def test_a_batch_into_a_folder_that_cannot_be(task, folder, tmp_path) -> None:
    with pytest.raises(UserError, match="too long"):
        run_batch(task, BatchRequest(folder, tmp_path / LONG, FAST, Marks()))


def test_a_drop(tmp_path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / f"{LONG}.png"))])
    transfer = read_transfer(data)
    assert transfer is not None
    assert transfer.picture is not None, "opening it tells what is wrong"


@pytest.fixture
def export(qtbot, files, picture):
    def make(shown: Picture) -> ExportDialog:
        dialog = ExportDialog(
            Document(shown, "a.png", files["damaged"]),
            files["damaged"].parent / "new.png",
        )
        qtbot.addWidget(dialog)
        return dialog

    return make


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (f"{LONG}/a.png", "too long"),
        ("~nobody-of-that-name/a.png", "does not exist"),
    ],
)
def test_exporting(export, picture, tmp_path, name, words) -> None:
    dialog = export(picture)
    dialog._file._line.setText(name if name.startswith("~") else str(tmp_path / name))
    assert words in dialog._note.text()
    assert not dialog._export.isEnabled()
