"""A folder takes the place of another, whole, whatever happens."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from inpaint_app import system as module
from inpaint_app.errors import UserError
from inpaint_app.io.work_folder import put_in_place, recover
from inpaint_app.system import exchange


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, Path]:
    """The new folder, the name that it is to have, which an old one has, and a place beside."""
    for name in ("new", "target"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "contents").write_text(name)
    return tmp_path / "new", tmp_path / "target", tmp_path / "aside"


def _without_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_system_call", lambda: None)


def _contents(folder: Path) -> str:
    return (folder / "contents").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="the file system of the tests may not be able to")
def test_two_names_are_exchanged_in_one_step(places: tuple[Path, Path, Path]) -> None:
    new, target, _ = places
    assert exchange(new, target)
    assert (_contents(new), _contents(target)) == ("target", "new")
    with pytest.raises(FileNotFoundError):
        exchange(new, new / "none")


@pytest.mark.parametrize("can_exchange", [True, False])
def test_the_new_folder_takes_the_name(
    places: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch, can_exchange: bool
) -> None:
    new, target, aside = places
    if not can_exchange:
        _without_exchange(monkeypatch)
    put_in_place(new, target, aside)
    recover(new, target, aside)  # which has nothing to do
    assert _contents(target) == "new"
    assert _contents(aside if aside.exists() else new) == "target"


def test_a_file_system_that_cannot_exchange_is_not_an_error(
    places: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_one: bytes, _other: bytes) -> int:
        module.ctypes.set_errno(errno.EINVAL)
        return -1

    monkeypatch.setattr(module, "_system_call", lambda: refuse)
    assert not exchange(*places[:2])


def test_what_could_not_be_replaced_keeps_its_name(
    places: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    new, target, aside = places
    _without_exchange(monkeypatch)
    rename = Path.rename

    def fail(path: Path, name: Path) -> Path:
        if path == new:
            raise PermissionError(errno.EACCES, "no permission")
        return rename(path, name)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(PermissionError):
        put_in_place(new, target, aside)
    assert (_contents(new), _contents(target)) == ("new", "target")


def test_what_was_replaced_is_not_put_in_the_place_of_something_else(
    places: tuple[Path, Path, Path],
) -> None:
    new, target, aside = places
    target.rename(aside)  # where a process was killed
    target.mkdir()  # by another program
    with pytest.raises(UserError, match="move one of the two away"):
        recover(new, target, aside)
    assert _contents(aside) == "target"


# Replaces a store again and again, killed before its first step that changes the file system, its second and
# so on, until it ends; prints what the name has then, and what it has after `recover_replaced`.
_KILLED = """
import os, sys
from pathlib import Path
from inpaint_app.engine.blocks import workspace
from inpaint_app import system as exchange

call, output = exchange._system_call(), Path("out.zarr")
changes = ("os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "os.mkdir")

def replace_store():
    with workspace.open_workspace(output, 64, "request") as space:
        if not space.can_resume:
            space.result.mkdir()
            (space.result / "contents").write_text("new")
            space.keep_plans([b"plan"], [{}])
        space.publish(output)
        space.delete()

def count():
    global n_left
    n_left -= 1
    if n_left < 0:
        os.kill(os.getpid(), 9)

def swap(one, other):
    count()
    return call(one, other)

def in_child(n_steps, work):
    global n_left
    child = os.fork()
    if child == 0:
        try:
            n_left = n_steps
            sys.addaudithook(lambda event, arguments: count() if event in changes else None)
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]

exchange._system_call = (lambda: swap) if sys.argv[1] == "True" else lambda: None
contents = lambda: (output / "contents").read_text() if output.exists() else "nothing"
for n_steps in range(1000):
    output.mkdir(exist_ok=True)
    (output / "contents").write_text("old")
    status, after = in_child(n_steps, replace_store), contents()
    workspace.recover_replaced(output)
    recovered = contents()
    in_child(10_000, replace_store)
    print(status, after, recovered, contents(), *os.listdir("."))
    if status == 0:
        break
"""


@pytest.mark.skipif(sys.platform != "linux", reason="kills processes as POSIX does")
@pytest.mark.parametrize("can_exchange", [True, False])
def test_killed_at_any_step_a_store_is_the_old_or_the_new_one(tmp_path: Path, can_exchange: bool) -> None:
    command = [sys.executable, "-P", "-c", _KILLED, str(can_exchange)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True, timeout=300)
    rows = [line.split() for line in result.stdout.splitlines()]
    assert len(rows) > 10
    assert [row[0] for row in rows] == ["9"] * (len(rows) - 1) + ["0"]
    assert {row[1] for row in rows} == ({"old", "new"} if can_exchange else {"old", "new", "nothing"})
    assert {row[2] for row in rows} == {"old", "new"}
    assert all(row[2] == "old" for row in rows if row[1] == "nothing")
    assert all(row[3:] == ["new", "out.zarr"] for row in rows)  # by the next run, which leaves nothing
