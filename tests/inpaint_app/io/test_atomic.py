"""A name shows the old file or the new one, whole, whatever happens."""

import contextlib
import errno
import gc
import os
import signal
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest
from children import in_child

from inpaint_app.errors import UserError
from inpaint_app.io import atomic
from inpaint_app.io.atomic import SUFFIX, PendingFile, write_files
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import write_picture
from inpaint_app.model.picture import Picture

OLD, NEW = b"old contents", b"new contents" * 1000


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def write(
    path: Path, contents: bytes = NEW, meanwhile: Callable[[], object] = int, *, overwrite: bool = False
) -> None:
    """Write a file; something happens when its contents are written."""

    def put(file: BinaryIO) -> None:
        file.write(contents)
        meanwhile()

    write_files([PendingFile(path, put)], overwrite=overwrite)


@pytest.fixture(params=["hard links", "no hard links"])
def _any_file_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test on a file system with hard links, and on one without."""

    def refuse(self: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    if request.param == "no hard links":
        monkeypatch.setattr(Path, "hardlink_to", refuse)


@pytest.mark.usefixtures("_any_file_system")
def test_writes_new_and_replaces_old(tmp_path: Path) -> None:
    path, seen = tmp_path / "a", []
    write(path, OLD, lambda: seen.append(path.exists()))
    assert path.read_bytes() == OLD
    write(path, NEW, lambda: seen.append(path.read_bytes()), overwrite=True)
    assert seen == [False, OLD]
    assert path.read_bytes() == NEW
    assert names(tmp_path) == ["a"]


def test_existing_file_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(OLD)
    with pytest.raises(UserError, match="already exists"):
        write(tmp_path / "a", NEW, lambda: pytest.fail("nothing must be written"))
    assert (tmp_path / "a").read_bytes() == OLD


@pytest.mark.usefixtures("_any_file_system")
def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with pytest.raises(UserError, match="already exists"):
        write(path, NEW, lambda: path.write_bytes(OLD))
    assert path.read_bytes() == OLD
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(3), MemoryError()])
@pytest.mark.parametrize("overwrite", [False, True])
def test_nothing_is_left_when_writing_fails(tmp_path: Path, error: BaseException, overwrite: bool) -> None:
    path = tmp_path / "a"
    if overwrite:
        path.write_bytes(OLD)
    before = names(tmp_path)

    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        write(path, NEW, fail, overwrite=overwrite)
    assert names(tmp_path) == before
    assert not overwrite or path.read_bytes() == OLD


STEPS = ["create", "write", "flush", "fsync", "publish"]


@contextlib.contextmanager
def failing(step: str, error: BaseException) -> Iterator[None]:
    """Make one step of writing raise."""

    def fail(*_: Any, **__: Any) -> Any:
        raise error

    class Broken:
        """A file of which one method fails."""

        def __init__(self, file: Any) -> None:
            self.file = file

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def __getattr__(self, name: str) -> Any:
            return fail if name == step else getattr(self.file, name)

    with pytest.MonkeyPatch.context() as patch:
        if step == "create":
            patch.setattr(atomic, "_create", fail)
        elif step == "fsync":
            patch.setattr(os, "fsync", fail)
        elif step == "publish":
            patch.setattr(Path, "replace", fail)
            patch.setattr(Path, "hardlink_to", fail)
        else:
            real = os.fdopen
            patch.setattr(os, "fdopen", lambda *arguments: Broken(real(*arguments)))
        yield


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_full_disk(tmp_path: Path, step: str, overwrite: bool) -> None:
    for ending in ("png", "tif", "jpg", "webp"):
        path = tmp_path / f"a.{ending}"
        if overwrite:
            path.write_bytes(OLD)
        before = names(tmp_path)
        full = OSError(errno.ENOSPC, "No space left on device")
        with failing(step, full), pytest.raises(UserError, match="disk is full"):
            write_picture(Picture(np.zeros((9, 9), np.uint8)), path, overwrite=overwrite)
        assert names(tmp_path) == before
        assert not overwrite or path.read_bytes() == OLD


@pytest.mark.parametrize("ending", ["jpg", "webp"])
def test_full_disk_leaves_no_buffer_in_use(tmp_path: Path, ending: str) -> None:
    """From Python 3.13 on, one that cannot be closed is reported when it is collected."""
    with failing("write", OSError(errno.ENOSPC, "")), pytest.raises(UserError, match="disk is full"):
        write_picture(Picture(np.zeros((9, 9), np.uint8)), tmp_path / f"a.{ending}")
    gc.collect()


@pytest.mark.parametrize("step", STEPS)
def test_ctrl_c_at_every_step(tmp_path: Path, step: str) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(OLD)
    with failing(step, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        write_picture(Picture(np.zeros((9, 9), np.uint8)), path, overwrite=True)
    assert names(tmp_path) == ["a.png"]
    assert path.read_bytes() == OLD


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (errno.EACCES, "permission to write in"),
        (errno.EROFS, "permission to write in"),
        (errno.EDQUOT, "disk is full"),
        (errno.ENAMETOOLONG, "too long"),
        (errno.EIO, "input/output error"),
    ],
)
def test_other_refusals_by_the_system(tmp_path: Path, code: int, sentence: str) -> None:
    with failing("create", OSError(code, os.strerror(code))), pytest.raises(UserError, match=sentence):
        write_picture(Picture(np.zeros((9, 9), np.uint8)), tmp_path / "a.png")
    assert names(tmp_path) == []


def test_read_only_folder_for_real() -> None:
    """In a child without privileges, because root may write everywhere."""
    with tempfile.TemporaryDirectory() as name:
        outer, folder = Path(name), Path(name) / "folder"
        outer.chmod(0o755)
        folder.mkdir()
        folder.chmod(0o555)

        def work() -> None:
            with pytest.raises(UserError, match="permission to write in"):
                write_picture(Picture(np.zeros((9, 9), np.uint8)), folder / "a.png")

        assert in_child(work, unprivileged=True) == 0
        assert names(folder) == []


def test_file_size_limit_for_real(tmp_path: Path) -> None:
    """The kernel itself refuses in the middle of the file."""
    import resource

    noise = np.random.default_rng(0).integers(0, 256, (300, 300)).astype(np.uint8)

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        with pytest.raises(UserError, match="disk is full"):
            write_picture(Picture(noise), tmp_path / "a.png")

    assert in_child(work) == 0
    assert names(tmp_path) == []


def test_file_that_is_refused_when_its_buffer_is_written(tmp_path: Path) -> None:
    """Small contents meet the full disk at the end only, and once more when the file is closed."""
    import resource

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
        with pytest.raises(UserError, match="a could not be written because the disk is full"):
            write_files([PendingFile(tmp_path / name, lambda file: file.write(NEW[:100])) for name in "ab"])

    assert in_child(work) == 0
    assert names(tmp_path) == []


def test_bad_targets(tmp_path: Path) -> None:
    picture = Picture(np.zeros((9, 9), np.uint8))
    (tmp_path / "folder.png").mkdir()
    for overwrite in (False, True):
        with pytest.raises(UserError, match="is a folder"):
            write_picture(picture, tmp_path / "folder.png", overwrite=overwrite)
        with pytest.raises(UserError, match="does not exist; create it"):
            write_picture(picture, tmp_path / "no" / "a.png", overwrite=overwrite)
        with pytest.raises(UserError, match="too long"):
            write_picture(picture, tmp_path / ("a" * 300 + ".png"), overwrite=overwrite)
        with pytest.raises(UserError, match="could not be written"):
            write_picture(picture, tmp_path / "a\0b.png", overwrite=overwrite)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="does not exist; create it"):
        write_picture(picture, tmp_path / "file" / "a.png")
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(UserError, match="not a regular file"):
        write_picture(picture, tmp_path / "pipe.png", overwrite=True)
    (tmp_path / "loop.png").symlink_to("loop.png")
    with pytest.raises(UserError):
        write_picture(picture, tmp_path / "loop.png", overwrite=True)
    assert names(tmp_path) == ["file", "folder.png", "loop.png", "pipe.png"]


@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_umask_is_honoured(tmp_path: Path, mask: int, expected: int) -> None:
    before = os.umask(mask)
    try:
        write(tmp_path / "a")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == expected


def test_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(OLD)
    (tmp_path / "a").chmod(0o604)
    write(tmp_path / "a", overwrite=True)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o604


def test_links(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "a", tmp_path / "link"
    target.write_bytes(OLD)
    link.symlink_to(target)
    with pytest.raises(UserError, match="already exists"):
        write(link)
    assert target.read_bytes() == OLD
    write(link, overwrite=True)
    assert link.is_symlink()
    assert target.read_bytes() == NEW
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "nowhere")
    with pytest.raises(UserError, match="already exists"):
        write(dangling)


def test_working_directory_that_was_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    for overwrite in (False, True):
        with pytest.raises(UserError, match="does not exist"):
            atomic.check_target(Path("a"), overwrite=overwrite)
        write(tmp_path / "a", overwrite=overwrite)


def test_file_of_somebody_else_in_a_folder_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """In /tmp everybody may create files, but replace only their own."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a"
        path.write_bytes(OLD)
        Path(name).chmod(0o1777)
        monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
        with pytest.raises(UserError, match="belongs to somebody else"):
            atomic.check_target(path, overwrite=True)
        Path(name).chmod(0o777)
        atomic.check_target(path, overwrite=True)


class TestTogether:
    """Several files, of which the last stands for the whole."""

    def test_all_are_written_in_their_order(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        given, link = [], Path.hardlink_to

        def record(target: Path, temporary: Path) -> None:
            assert all(len(path.read_bytes()) == 3 for path in tmp_path.iterdir()), "all are complete"
            given.append(target.name)
            link(target, temporary)

        monkeypatch.setattr(Path, "hardlink_to", record)
        outputs = [PendingFile(tmp_path / name, lambda file: file.write(b"new")) for name in ("b", "c", "a")]
        assert write_files(outputs) == ()
        assert given == ["b", "c", "a"]
        assert names(tmp_path) == ["a", "b", "c"]

    @pytest.mark.parametrize("number", [0, 1, 2])
    @pytest.mark.parametrize("overwrite", [False, True])
    @pytest.mark.parametrize(
        "error",
        [OSError(errno.ENOSPC, "full"), UserError("It cannot be done", "leave it"), KeyboardInterrupt()],
    )
    def test_none_is_written_if_one_cannot_be(
        self, tmp_path: Path, number: int, overwrite: bool, error: BaseException
    ) -> None:
        def fail(_file: Any) -> None:
            raise error

        paths = [tmp_path / name for name in "abc"]
        if overwrite:
            for path in paths:
                path.write_bytes(OLD)
        before = names(tmp_path)
        outputs = [PendingFile(path, lambda file: file.write(NEW)) for path in paths]
        outputs[number] = PendingFile(paths[number], fail)
        expected = UserError if isinstance(error, OSError) else type(error)
        with pytest.raises(expected):
            write_files(outputs, overwrite=overwrite)
        assert names(tmp_path) == before
        assert all(path.read_bytes() == OLD for path in tmp_path.iterdir())

    def test_what_could_be_written_is_named(self, tmp_path: Path) -> None:
        def meanwhile(file: Any) -> None:
            file.write(NEW)
            (tmp_path / "b").write_bytes(OLD)

        outputs = [
            PendingFile(tmp_path / "a", lambda file: file.write(NEW)),
            PendingFile(tmp_path / "b", meanwhile),
        ]
        with pytest.raises(UserError, match=r"b already exists; .*; only .*/a could be written\.$"):
            write_files(outputs)
        assert (tmp_path / "a").read_bytes() == NEW
        assert (tmp_path / "b").read_bytes() == OLD
        assert names(tmp_path) == ["a", "b"]

    def test_one_file_by_two_names_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "sub").mkdir()
        (tmp_path / "link").symlink_to("a")
        for other in ("sub/../a", "./a", tmp_path / "a", "link"):
            outputs = [PendingFile(Path(name), lambda file: file.write(NEW)) for name in ("a", other)]
            with pytest.raises(UserError, match="are the same file; give two names"):
                write_files(outputs, overwrite=True)
        assert names(tmp_path) == ["link", "sub"]


def write_and_die(path: Path, step: str, *, overwrite: bool) -> None:
    """Write NEW and kill this process at a step."""

    def die(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    hooks: dict[str, tuple[Any, str]] = {
        "create": (atomic, "_create"),
        "fsync": (os, "fsync"),
        "publish": (atomic, "_publish"),
        "unlink": (Path, "unlink"),
        "sync folder": (atomic, "_sync_folder"),
    }

    def put(file: BinaryIO) -> None:
        file.write(NEW[:5000])
        if step == "write":
            die()
        file.write(NEW[5000:])
        file.flush()
        if step == "flush":
            die()

    with pytest.MonkeyPatch.context() as patch:
        if step in hooks:
            patch.setattr(*hooks[step], die)
        write_files([PendingFile(path, put)], overwrite=overwrite)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("step", [*STEPS, "unlink", "sync folder"])
def test_killed_at_every_step(tmp_path: Path, step: str, overwrite: bool) -> None:
    path = tmp_path / "a"
    if overwrite:
        path.write_bytes(OLD)
    status = in_child(lambda: write_and_die(path, step, overwrite=overwrite))
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGKILL
    if step in ("unlink", "sync folder"):
        assert path.read_bytes() == NEW
    else:
        assert path.exists() == overwrite
        assert not overwrite or path.read_bytes() == OLD
    assert all(name == "a" or name.endswith(SUFFIX) for name in names(tmp_path))
    write(path, OLD, overwrite=True)  # what is left behind is in nobody's way
    assert path.read_bytes() == OLD


@pytest.mark.parametrize("ending", ["png", "tif"])
def test_killed_at_random_moments(tmp_path: Path, ending: str) -> None:
    pictures = [Picture(np.full((150, 150), value, np.uint16)) for value in (1, 2)]
    path = tmp_path / f"a.{ending}"
    write_picture(pictures[0], path)
    rng = np.random.default_rng(0)
    for _ in range(15):
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                for number in range(10_000):
                    write_picture(pictures[number % 2], path, overwrite=True)
            os._exit(1)
        time.sleep(rng.uniform(0.001, 0.02))
        os.kill(child, signal.SIGKILL)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        values = np.unique(read_picture(path).pixels)
        assert values.tolist() in ([1], [2])
    assert all(name == path.name or name.endswith(SUFFIX) for name in names(tmp_path))
