"""What differs from system to system; each test puts the others in place of the one it runs on."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from inpaint_app import system


@pytest.fixture
def windows(monkeypatch):
    """A Windows as far as this module can tell: its name, its locks, and no owners."""
    monkeypatch.setattr(sys, "platform", "win32")
    for name in ("geteuid", "getegid", "chown", "listxattr", "sched_getaffinity"):
        monkeypatch.delattr(os, name, raising=False)
    held = set()

    def locking(descriptor, _mode, _n_bytes):
        status = os.fstat(descriptor)
        if (status.st_dev, status.st_ino) in held:
            raise PermissionError(errno.EACCES, "locked")
        held.add((status.st_dev, status.st_ino))

    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    rename = Path.rename

    def rename_as_windows(self, target):
        if Path(target).exists():
            raise FileExistsError(errno.EEXIST, "exists")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", rename_as_windows)


@pytest.mark.parametrize(
    ("name", "variable", "below"),
    [
        ("win32", "LOCALAPPDATA", "AppData/Local"),
        ("darwin", "", "Library/Logs"),
        ("linux", "XDG_STATE_HOME", ".local/state"),
    ],
)
def test_state_lies_where_the_system_wants_it(monkeypatch, tmp_path, name, variable, below):
    monkeypatch.setattr(sys, "platform", name)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for each in ("LOCALAPPDATA", "XDG_STATE_HOME"):
        monkeypatch.delenv(each, raising=False)
    assert system.state_folder() == tmp_path / below
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
        assert system.state_folder() == tmp_path / "elsewhere"


def test_without_a_home_there_is_no_such_folder(monkeypatch):
    def home():
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", home)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    assert system.state_folder() is None


@pytest.mark.parametrize("name", ["win32", "darwin"])
def test_windows_and_macos_always_have_a_display(monkeypatch, name):
    monkeypatch.setattr(sys, "platform", name)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    assert system.has_display()


def check_locks(path):
    with path.open("a") as one, path.open("a") as other:
        assert system.lock(one)
        assert not system.lock(other)


def test_a_file_is_locked_once(tmp_path):
    check_locks(tmp_path / "lock")


def test_a_file_is_locked_once_on_windows(tmp_path, windows):
    check_locks(tmp_path / "lock")


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_a_lock_ends_with_the_process_that_has_it(tmp_path):
    path = tmp_path / "lock"
    script = (
        "import os, sys; from inpaint_app.system import lock\n"
        "lock(open(sys.argv[1], 'a')); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    check_locks(path)


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_where_there_are_no_locks_nobody_is_kept_out(tmp_path, monkeypatch):
    import fcntl

    def flock(*_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", flock)
    with (tmp_path / "lock").open("a") as file:
        assert system.lock(file)


def check_names(folder):
    new, taken = folder / "new", folder / "taken"
    new.write_text("new")
    taken.write_text("taken")
    with pytest.raises(FileExistsError):
        system.give_name(new, taken)
    assert taken.read_text() == "taken"
    assert system.give_name(new, folder / "free")
    assert (folder / "free").read_text() == "new"


def test_a_name_that_is_taken_is_not_given_again(tmp_path):
    check_names(tmp_path)


def test_a_name_that_is_taken_is_not_given_again_on_windows(tmp_path, windows):
    check_names(tmp_path)


def test_file_systems_without_links_say_so(tmp_path, monkeypatch):
    def link(*_):
        raise OSError(errno.EPERM, "no links")

    monkeypatch.setattr(Path, "hardlink_to", link)
    (tmp_path / "new").touch()
    assert not system.give_name(tmp_path / "new", tmp_path / "free")


def test_on_windows_files_have_no_owner_that_matters(tmp_path, windows):
    (tmp_path / "file").touch()
    status, folder = (tmp_path / "file").stat(), tmp_path.stat()
    assert system.is_own(status)
    assert system.may_replace(status, folder)
    assert system.n_cores() >= 1
    assert system.copy_attributes(tmp_path / "file", status, tmp_path / "file") == ()


def test_elsewhere_they_have(tmp_path):
    status = SimpleNamespace(st_uid=os.geteuid() + 1, st_mode=0o100644)
    assert not system.is_own(status)
    open_to_all = SimpleNamespace(st_uid=os.geteuid() + 2, st_mode=0o41777)
    assert system.may_replace(status, open_to_all) is (os.geteuid() == 0)
    assert system.may_replace(status, SimpleNamespace(st_uid=0, st_mode=0o40755))
