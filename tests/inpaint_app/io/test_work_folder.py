"""A folder for work in progress is ours alone, and nothing else is cleared."""

import os
import stat
from pathlib import Path

import pytest
from children import NOBODY

from inpaint_app.errors import UserError
from inpaint_app.io.work_folder import claim_folder, clear_folder, is_claimed, remove_folder

CONTENTS = ("arrays", "plan-*.json")


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """Somebody's files, with names that a run would clear."""
    folder = tmp_path / "victim"
    (folder / "arrays").mkdir(parents=True)
    (folder / "arrays" / "a").write_text("precious")
    (folder / "plan-0.json").write_text("precious")
    return folder


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_new_folder_is_for_its_owner_alone_and_is_claimed_again(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    claim_folder(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "arrays").mkdir()
    claim_folder(folder)
    assert is_claimed(folder)
    remove_folder(folder, CONTENTS)
    assert not folder.exists()


def test_a_run_that_was_killed_before_its_mark_is_continued(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    claim_folder(tmp_path / "work")
    assert is_claimed(tmp_path / "work")


@pytest.mark.parametrize("kind", ["link", "folder", "file", "dangling link"])
def test_what_this_program_did_not_make_is_refused_and_kept(tmp_path: Path, victim: Path, kind: str) -> None:
    folder, before = tmp_path / "work", _files(victim)
    if kind == "folder":
        folder = victim
    elif kind == "file":
        folder.write_text("precious")
    else:
        folder.symlink_to(victim if kind == "link" else tmp_path / "none")
    with pytest.raises(UserError, match=r"not made by this version|not a folder of this program"):
        claim_folder(folder)
    with pytest.raises(UserError):
        clear_folder(folder, CONTENTS)
    remove_folder(folder, CONTENTS)
    assert not is_claimed(folder)
    assert _files(victim) == before
    assert os.path.lexists(folder)
    assert not (tmp_path / "none").exists()


def test_a_folder_that_becomes_a_link_is_not_cleared(tmp_path: Path, victim: Path) -> None:
    folder, before = tmp_path / "work", _files(victim)
    claim_folder(folder)
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(victim)
    with pytest.raises(UserError, match="not a folder of this program"):
        clear_folder(folder, CONTENTS)
    remove_folder(folder, CONTENTS)
    assert _files(victim) == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
@pytest.mark.parametrize("given", ["folder", "marker"])
def test_a_folder_of_another_user_is_refused(tmp_path: Path, given: str) -> None:
    folder = tmp_path / "work"
    claim_folder(folder)
    os.chown(folder if given == "folder" else folder / "made-by-inpaint", NOBODY, NOBODY)
    with pytest.raises(UserError, match=r"belongs to somebody else|not made by this version"):
        claim_folder(folder)


def test_only_what_was_named_is_cleared_and_links_are_not_followed(tmp_path: Path, victim: Path) -> None:
    folder, before = tmp_path / "work", _files(victim)
    claim_folder(folder)
    (folder / "arrays").symlink_to(victim)
    (folder / "plan-12.json").touch()
    (folder / "notes.txt").write_text("mine")
    remove_folder(folder, CONTENTS)
    assert _files(folder) == ["made-by-inpaint", "notes.txt"]
    assert _files(victim) == before
