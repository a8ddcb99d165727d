"""The log, and what is copied from it for a report."""

import logging
import os
import stat

import pytest
from PySide6.QtGui import QGuiApplication

from dictsel_core import __version__
from inpaint_app.window import main_window
from inpaint_app.window.background.work import WorkerPool
from inpaint_app.window.log import details, log_file, start_log, stop_log


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "state" / "inpaint-app.log"
    start_log(path)
    yield path
    stop_log()


def test_it_lies_in_the_folder_for_the_state_of_programs(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert log_file().name == "inpaint-app.log"
    if os.name == "nt" or os.uname().sysname == "Linux":
        assert log_file().is_relative_to(tmp_path)


def test_a_mistake_in_a_job_is_logged_with_its_traceback(log, qtbot) -> None:
    pool, told = WorkerPool(1), []

    def work(_control):
        raise KeyError("a mistake of ours")

    pool.start(work, done=told.append, failed=told.append)
    qtbot.waitUntil(lambda: bool(told), timeout=60_000)
    pool.close()
    text = log.read_text("utf-8")
    assert __version__ in text
    assert "Traceback" in text
    assert "a mistake of ours" in text
    assert details(log).splitlines()[0] == f"Inpaint {__version__}"
    assert "a mistake of ours" in details(log)
    if os.name == "posix":
        assert stat.S_IMODE(log.parent.stat().st_mode) & 0o077 == 0


def test_it_never_grows_large(log) -> None:
    for _ in range(30):
        logging.getLogger("inpaint_app.window").error("x" * 50_000)
    files = sorted(log.parent.iterdir())
    assert len(files) == 3
    assert sum(file.stat().st_size for file in files) < 900_000


def test_without_a_place_for_it_the_program_works(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    start_log(tmp_path / "file" / "inpaint-app.log")
    start_log(None)
    assert f"Inpaint {__version__}" in details(tmp_path / "nowhere.log")
    assert details(None).endswith("cores\n")


def test_details_are_copied(window, monkeypatch, log) -> None:
    monkeypatch.setattr(main_window, "log_file", lambda: log)
    window.actions_["copy_details"].trigger()
    assert QGuiApplication.clipboard().text() == details(log)
