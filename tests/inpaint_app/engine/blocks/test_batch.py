"""`inpaint batch --scheduler`: the same as on one machine."""

import json
from dataclasses import replace

import pytest
from cli_files import contents, write_pair

from dictsel_core import RestoreSettings
from inpaint_app.cli import main
from inpaint_app.engine.batch import BatchRequest, BatchRow, _as_seen_here, _RestoreItem
from inpaint_app.engine.control import Progress
from inpaint_app.engine.restore_file import FileOptions
from inpaint_app.errors import UserError
from inpaint_app.io.batch_files import BatchItem
from inpaint_app.io.write import Output

FAST = ["--preset", "fast", "--no-estimate"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two good pictures with a broken one between."""
    scans = tmp_path / "scans"
    scans.mkdir()
    _, broken = write_pair(tmp_path)
    for name in ("a.png", "c.png"):
        (scans / name).write_bytes(broken.read_bytes())
    (scans / "b.png").write_bytes(broken.read_bytes()[:300])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_cluster_writes_what_one_machine_writes(folder, scheduler, capsys) -> None:
    documents = []
    for options in (["-o", "here"], ["-o", "there", "--scheduler", scheduler]):
        assert main(["batch", "scans", *options, *FAST, "--json"]) == 1
        output, notes = capsys.readouterr()
        documents.append(json.loads(output)["files"])
        assert sorted(line.split()[0] for line in notes.splitlines()[1:4]) == ["a.png", "b.png", "c.png"]
        assert "FAILED" in notes
        assert notes.splitlines()[-1] == "2 of 3 pictures restored."
    assert contents(folder / "here") == contents(folder / "there")
    here, there = documents
    for one, other in zip(here, there, strict=True):
        assert one["input"] == other["input"]
        assert one["error"] == other["error"]
        assert one["missing_fraction"] == other["missing_fraction"]
    assert there[0]["output"] == "there/a.png"


def test_what_a_worker_cannot_see_is_named(tmp_path) -> None:
    request, item = _request(tmp_path), BatchItem(tmp_path / "a.png", tmp_path / "b.png", tmp_path / "b.json")
    row = _RestoreItem(request, item, (1, 1))()
    assert "A worker cannot see" in str(row.error)
    assert "file system that all machines share" in str(row.error)


def test_a_result_on_the_disk_of_a_worker_is_a_failure(folder) -> None:
    request = _request(folder)
    item = BatchItem(folder / "scans" / "a.png", folder / "a.png", folder / "a.json")
    row = _RestoreItem(request, item, (1, 1))()
    assert row.result is not None
    assert _as_seen_here(row, item) == row
    elsewhere = replace(item, output=folder / "nowhere" / "a.png")
    assert "on its own disk" in str(_as_seen_here(row, elsewhere).error)


def _request(folder) -> BatchRequest:
    options = FileOptions(RestoreSettings.preset("fast"), estimates=False)
    return BatchRequest((folder,), Output(folder), options)


def test_a_file_that_ended_its_workers_is_a_failure(tmp_path) -> None:
    item = BatchItem(tmp_path / "a.png", tmp_path / "b.png", tmp_path / "b.json")
    row = _RestoreItem(_request(tmp_path), item, (2, 3)).failed(UserError("It ended", "try again"))
    assert row == BatchRow(2, 3, item.path, Progress("done", 1.0), error=row.error, seconds=0.0)
    assert row.is_done
