"""Unsaved work outlives the program."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from windows import opened, settle

from inpaint_app.io.write import Output
from inpaint_app.model.picture import Rect
from inpaint_app.window.services import autosaving
from inpaint_app.window.services.autosaving import lost_work
from inpaint_app.window.session import Session


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(autosaving, "_DELAY_MS", 10)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "state" / "autosave"


def restore(session, qtbot):
    session.running.restore()
    settle(session, qtbot)


def saved_file(folder, qtbot):
    qtbot.waitUntil(lambda: bool(list(folder.glob("*.inpaint"))), timeout=60_000)
    return next(folder.glob("*.inpaint"))


def test_what_is_not_saved_is_kept_until_it_is(session, qtbot, files, folder):
    session.start_autosaving(folder)
    opened(session, qtbot, files["whole"])
    assert list(folder.glob("*.inpaint")) == [], "nothing would be lost"
    session.masking.invert()
    path = saved_file(folder, qtbot)
    settle(session, qtbot)
    session.document.discard()
    qtbot.waitUntil(lambda: not path.exists(), timeout=60_000)


def test_nothing_is_left_when_the_window_was_closed(session, qtbot, files, folder):
    session.start_autosaving(folder)
    opened(session, qtbot, files["damaged"])
    restore(session, qtbot)
    saved_file(folder, qtbot)
    settle(session, qtbot)
    session.close()
    assert list(folder.iterdir()) == []


def test_work_in_progress_elsewhere_is_not_lost_work(session, qtbot, files, folder):
    session.start_autosaving(folder)
    opened(session, qtbot, files["damaged"])
    restore(session, qtbot)
    saved_file(folder, qtbot)
    assert lost_work(folder) == []


def test_where_nothing_can_be_written_the_program_works_all_the_same(session, qtbot, files, tmp_path):
    (tmp_path / "file").touch()
    session.start_autosaving(tmp_path / "file")
    opened(session, qtbot, files["damaged"])
    restore(session, qtbot)
    assert session.complaints == []


_KILLED = """
import sys
from pathlib import Path
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication
from inpaint_app.window.session import Session

application = QApplication([])
session = Session()

def wait(is_done):
    loop, timer = QEventLoop(), QTimer()
    timer.timeout.connect(lambda: loop.quit() if is_done() else None)
    timer.start(20)
    loop.exec()

folder = Path(sys.argv[2])
session.start_autosaving(folder)
session.opening.open_file(Path(sys.argv[1]))
wait(lambda: session.is_settled and session.state.source is not None)
session.running.restore()
wait(lambda: session.state.runs.current is not None and session.is_settled)
session.masking.resize(1)
session.autosaving.save()
wait(lambda: session.is_settled and session.autosaving.is_settled)
import numpy as np
np.save(folder.parent / "mask.npy", session.document.mask)
np.save(folder.parent / "image.npy", session.state.runs.current.image)
print("ready", flush=True)
application.exec()
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_what_a_killed_program_was_at_is_recovered(qapp, qtbot, files, folder):
    command = [sys.executable, "-c", _KILLED, str(files["damaged"]), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGKILL)
    session = Session()
    try:
        session.start_autosaving(folder)
        (lost,) = lost_work(folder)
        assert files["damaged"].name in session.lost_work.sentence
        session.lost_work.accept()
        settle(session, qtbot)
        assert session.lost_work.sentence == ""
        assert np.array_equal(session.document.mask, np.load(folder.parent / "mask.npy"))
        assert np.array_equal(session.state.runs.current.image, np.load(folder.parent / "image.npy"))
        assert session.state.has_unsaved_result
        assert session.state.has_unsaved_mask
        qtbot.waitUntil(lambda: not lost.exists(), timeout=60_000)
        assert len(list(folder.glob("*.inpaint"))) == 1, "it is kept anew"
    finally:
        session.close()


def test_what_is_not_recovered_is_offered_again(session, folder):
    folder.mkdir(parents=True)
    (folder / "1-2.inpaint").write_bytes(b"unreadable")
    session.start_autosaving(folder)
    assert "a picture" in session.lost_work.sentence
    session.lost_work.dismiss()
    assert session.lost_work.sentence == ""
    assert lost_work(folder) == [folder / "1-2.inpaint"]


def test_after_a_month_it_is_gone(folder):
    folder.mkdir(parents=True)
    old = folder / "1-2.inpaint"
    old.touch()
    month = time.time() - 31 * 24 * 3600
    os.utime(old, (month, month))
    assert lost_work(folder) == []
    assert not old.exists()


def test_a_file_that_goes_away_meanwhile_does_no_harm(folder, monkeypatch):
    folder.mkdir(parents=True)
    here, gone = folder / "1-2.inpaint", folder / "3-4.inpaint"
    here.touch()
    glob = Path.glob
    monkeypatch.setattr(Path, "glob", lambda self, what: [*glob(self, what), gone])
    assert lost_work(folder) == [here]
    assert not gone.with_suffix(".lock").exists()


def test_parts_of_files_are_removed_after_a_day(folder):
    folder.mkdir(parents=True)
    new, old = folder / ".1.inpaint-part", folder / ".2.inpaint-part"
    for each in (new, old):
        each.touch()
    os.utime(old, (time.time() - 25 * 3600,) * 2)
    assert lost_work(folder) == []
    assert list(folder.iterdir()) == [new]


def test_lost_work_stays_until_it_is_saved_itself(session, qtbot, files, folder, monkeypatch):
    lost, written = folder / "1-2.inpaint", []
    session.start_autosaving(folder)
    lost.touch()
    opened(session, qtbot, files["whole"])
    write_files = autosaving.write_files

    def write(*args, **options):
        written.append(lost.exists())
        return write_files(*args, **options)

    monkeypatch.setattr(autosaving, "write_files", write)
    session.masking.invert()
    session.autosaving.save()  # without what is recovered meanwhile
    session.autosaving.supersede(lost)
    session.masking.clear()
    session.masking.fill(Rect(2, 2, 3, 3))
    qtbot.waitUntil(lambda: not lost.exists(), timeout=60_000)
    assert written == [True, True]


def test_a_mask_that_was_saved_would_not_be_lost(session, qtbot, files, folder, tmp_path):
    session.start_autosaving(folder)
    opened(session, qtbot, files["whole"])
    session.masking.fill(Rect(2, 2, 3, 3))
    path = saved_file(folder, qtbot)
    settle(session, qtbot)
    session.exporting.write_mask(Output(tmp_path / "written.png"))
    session.exporting.wait()
    qtbot.waitUntil(lambda: not path.exists(), timeout=60_000)


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_nobody_else_reads_what_was_private(session, qtbot, files, folder):
    files["whole"].chmod(0o600)
    session.start_autosaving(folder)
    opened(session, qtbot, files["whole"])
    session.masking.invert()
    assert saved_file(folder, qtbot).stat().st_mode & 0o777 == 0o600
