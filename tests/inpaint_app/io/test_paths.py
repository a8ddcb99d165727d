"""Names that cannot be looked at: one sentence and exit code 2, and a batch goes on."""

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path

import pytest
from children import in_child
from cli_files import contents, write_pair

import inpaint_app.cli.program  # noqa: F401  (children must not import)
from inpaint_app.cli import main
from inpaint_app.errors import UserError
from inpaint_app.io.paths import (
    is_folder,
    is_visible,
    is_visible_file,
    is_visible_folder,
    same_file,
    status_of,
)

LONG = "x" * 300 + ".png"
COMMANDS = [
    "restore {}",
    "restore broken.png -o {}",
    "restore broken.png --mask {}",
    "restore broken.png --reference {}",
    "restore broken.png --recipe {}",
    "restore broken.png --write-recipe {}.json",
    "compare {} --reference whole.png",
    "compare broken.png --reference {}",
    "compare broken.png --reference whole.png -o {}",
    "damage {} -o new.png --missing 0.5",
    "damage whole.png -o {} --missing 0.5",
    "damage whole.png -o new.png --mask-out {} --missing 0.5",
    "score {} whole.png",
    "score whole.png {}",
    "score whole.png broken.png --mask {}",
    "tune {}",
    "tune broken.png --write-recipe {}.json",
    "dictionary {} -o new.png",
    "dictionary broken.png -o {}",
    "batch {} -o out",
    "batch broken.png -o {}",
    "batch broken.png -o out --mask {}",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_pair(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("command", COMMANDS)
def test_name_that_is_too_long(folder, capsys, command, overwrite) -> None:
    before = sorted(folder.rglob("*"))
    words = command.format(LONG).split()
    if overwrite and words[0] != "score":
        words.append("--overwrite")
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("inpaint: ")
    assert printed.err.count("\n") == 1
    assert "too long" in printed.err
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_folder_that_may_not_be_entered(command) -> None:
    """In a child without privileges, because root may enter everything."""
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        write_pair(here)
        here.chmod(0o777)
        (here / "closed").mkdir(mode=0o700)
        (here / "closed").chmod(0)

        def work() -> None:
            os.chdir(here)
            said = io.StringIO()
            with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
                assert main(command.format("closed/a.png").split()) == 2
            assert said.getvalue().startswith("inpaint: ")
            assert said.getvalue().count("\n") == 1
            assert "closed" in said.getvalue()

        status = in_child(work, unprivileged=True)
        (here / "closed").chmod(0o700)
        assert status == 0
        assert sorted(path.name for path in here.iterdir()) == ["broken.png", "closed", "whole.png"]


def test_batch_goes_on(folder, capsys) -> None:
    (folder / "scans").mkdir()
    (folder / "scans" / "a.png").write_bytes((folder / "broken.png").read_bytes())
    (folder / "scans" / "b.png").symlink_to(LONG)
    (folder / "scans" / "c.png").symlink_to("nowhere.png")  # as before: it is no file
    command = ["batch", LONG, "scans", "broken.png", "-o", "out", "--no-estimate", "--json"]
    assert main(command) == 1
    files = json.loads(capsys.readouterr().out)["files"]
    assert [file["input"] for file in files] == [LONG, "scans/a.png", "scans/b.png", "broken.png"]
    assert ["too long" in (file["error"] or "") for file in files] == [True, False, True, False]
    assert sorted(contents(folder / "out")) == ["a.png", "broken.png"]


def test_batch_goes_on_after_a_folder_that_may_not_be_listed() -> None:
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        write_pair(here)
        here.chmod(0o777)
        (here / "closed").mkdir()
        (here / "closed").chmod(0o311)

        def work() -> None:
            os.chdir(here)
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                assert main(["batch", "closed", "broken.png", "-o", "out", "--no-estimate"]) == 1
            assert "1 of 2 pictures restored" in said.getvalue()

        assert in_child(work, unprivileged=True) == 0
        assert (here / "out" / "broken.png").exists()


def test_what_can_be_looked_at(tmp_path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "dangling").symlink_to("nowhere")
    assert status_of(tmp_path / "no") is None
    assert status_of(tmp_path / "file" / "no") is None
    assert is_folder(tmp_path)
    assert not is_folder(tmp_path / "file")
    for bad in (tmp_path / LONG, Path("a\0b")):
        with pytest.raises(UserError):
            status_of(bad)
        with pytest.raises(UserError):
            is_folder(bad)
        assert not is_visible(bad)
        assert not same_file(bad, tmp_path)
    assert is_visible_folder(tmp_path)
    assert is_visible_file(tmp_path / "link")
    assert not is_visible_file(tmp_path)
    assert not is_visible(tmp_path / "dangling")
    assert same_file(tmp_path / "link", tmp_path / "file")
    assert not same_file(tmp_path / "file", tmp_path / "no")
