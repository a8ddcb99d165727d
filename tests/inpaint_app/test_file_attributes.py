"""A file that replaces another keeps its owner, permissions and attributes, and nothing dangerous."""

import os
import stat
import struct
import tempfile
from pathlib import Path

import pytest
from children import NOBODY, in_child

from inpaint_app.io.atomic import PendingFile, write_files
from inpaint_app.system import mode_like, restrict_folder

ACL = "system.posix_acl_access"
DEFAULT_ACL = "system.posix_acl_default"

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")


def replace(path: Path) -> tuple[str, ...]:
    notes = write_files([PendingFile(path, lambda file: file.write(b"new"))], overwrite=True)
    assert path.read_bytes() == b"new"
    return notes


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old"
    path.write_bytes(b"old")
    return path


def set_attribute(path: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(path, name, value)
    except (OSError, AttributeError):
        pytest.skip(f"no {name} on this file system")


def acl(*entries: tuple[int, int, int]) -> bytes:
    """Entries are (kind, permissions, id); the kernel wants them in order."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NO_ID = 2**32 - 1
FOR_A_FRIEND = acl((1, 6, NO_ID), (2, 4, 1234), (4, 0, NO_ID), (16, 4, NO_ID), (32, 0, NO_ID))


@as_root
def test_owner_and_group_stay(old: Path) -> None:
    os.chown(old, 1234, 5678)
    old.chmod(0o640)
    assert replace(old) == ()
    status = old.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 5678, 0o640)


@pytest.mark.parametrize(
    ("mode", "lost"),
    [(0o4755, "its set-user-ID bit"), (0o2755, "its set-group-ID bit"), (0o6711, "its set-user-ID bit and")],
)
def test_new_contents_are_not_trusted_as_the_old_ones_were(old: Path, mode: int, lost: str) -> None:
    old.chmod(mode)
    (note,) = replace(old)
    assert note.startswith(f"{old} was replaced without {lost}")
    assert stat.S_IMODE(old.stat().st_mode) == mode & 0o777


@as_root
def test_capabilities_are_dropped(old: Path) -> None:
    set_attribute(old, "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 13, 0, 0, 0))
    assert replace(old) == (f"{old} was replaced without its capabilities.",)
    assert os.listxattr(old) == []


def test_extended_attributes_stay(old: Path) -> None:
    set_attribute(old, "user.comment", b"from grandmother")
    set_attribute(old, "user.rating", b"\0\xff")
    assert replace(old) == ()
    assert {name: os.getxattr(old, name) for name in os.listxattr(old)} == {
        "user.comment": b"from grandmother",
        "user.rating": b"\0\xff",
    }


def test_access_control_list_stays(old: Path) -> None:
    set_attribute(old, ACL, FOR_A_FRIEND)
    mode = old.stat().st_mode
    assert replace(old) == ()
    assert os.getxattr(old, ACL) == FOR_A_FRIEND
    assert old.stat().st_mode == mode


def test_defaults_of_the_folder_are_for_new_files(tmp_path: Path, old: Path) -> None:
    old.chmod(0o664)
    set_attribute(tmp_path, DEFAULT_ACL, FOR_A_FRIEND)
    assert replace(old) == ()
    assert os.listxattr(old) == []
    assert stat.S_IMODE(old.stat().st_mode) == 0o664
    write_files([PendingFile(tmp_path / "new", lambda file: file.write(b""))])
    assert ACL in os.listxattr(tmp_path / "new")


def test_nobody_else_can_open_it_meanwhile(old: Path) -> None:
    old.chmod(0o600)
    modes = []

    def write(file) -> None:
        modes.append(stat.S_IMODE(os.fstat(file.fileno()).st_mode))

    write_files([PendingFile(old, write)], overwrite=True)
    assert modes == [0o600]


@as_root
def test_what_a_user_cannot_keep_is_told() -> None:
    """In a child without privileges: the folder is everybody's, the file is root's."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        path = Path(name) / "old"
        path.write_bytes(b"old")
        path.chmod(0o664)
        try:
            os.setxattr(path, "user.comment", b"kept")
        except OSError:
            pytest.skip("no extended attributes on this file system")

        def work() -> None:
            assert replace(path) == (f"{path} was replaced without its group and its owner.",)

        assert in_child(work, unprivileged=True) == 0
        status = path.stat()
        assert status.st_uid == NOBODY
        assert stat.S_IMODE(status.st_mode) == 0o644, "the group is another one now"
        assert os.getxattr(path, "user.comment") == b"kept"


@pytest.mark.skipif(os.name == "nt", reason="permissions are of another kind there")
@pytest.mark.parametrize(
    ("mode", "expected"), [(0o600, 0o600), (0o644, 0o644), (0o666, 0o644), (0o444, 0o644), (0o4755, 0o644)]
)
def test_a_result_has_the_permissions_of_its_source(tmp_path: Path, mode: int, expected: int) -> None:
    source, result = tmp_path / "source", tmp_path / "result"
    source.touch()
    source.chmod(mode)
    before = os.umask(0o022)
    try:
        write_files([PendingFile(result, lambda file: file.write(b"new"))], source=source)
    finally:
        os.umask(before)
    assert stat.S_IMODE(result.stat().st_mode) == expected


@pytest.mark.skipif(os.name == "nt", reason="permissions are of another kind there")
def test_a_group_gets_no_rights_of_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "source").touch()
    (tmp_path / "source").chmod(0o660)
    monkeypatch.setattr(os, "getegid", lambda: 12345)
    assert mode_like(tmp_path / "source") == 0o600
    assert mode_like(tmp_path / "none") == mode_like(None) == 0o666


@pytest.mark.skipif(os.name == "nt", reason="permissions are of another kind there")
def test_a_folder_gets_no_more_rights_than_its_source_gives(tmp_path: Path) -> None:
    source, folder = tmp_path / "source", tmp_path / "folder"
    source.touch()
    folder.mkdir(mode=0o755)
    for mode, expected in ((0o644, 0o755), (0o600, 0o700)):
        source.chmod(mode)
        restrict_folder(folder, source)
        assert stat.S_IMODE(folder.stat().st_mode) == expected
