"""`inpaint batch`: many files, of which some fail."""

import errno
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_files import contents, pixels, scene, write_pair

from inpaint_app.cli import main
from inpaint_app.io.write import write_picture
from inpaint_app.model.damage import mask_picture, random_mask


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two good pictures with a broken one and a stranger between."""
    scans = tmp_path / "scans"
    scans.mkdir()
    _, broken = write_pair(tmp_path)
    for name in ("a.png", "d.png"):
        (scans / name).write_bytes(broken.read_bytes())
    (scans / "b.png").write_bytes(broken.read_bytes()[:300])
    (scans / "c.txt").write_text("not a picture")
    (scans / ".hidden.png").write_text("not a picture")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_failure_does_not_stop_the_rest(folder, capsys) -> None:
    assert main(["batch", "scans", "-o", "out"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["a.png", "b.png", "d.png"]
    assert "FAILED" in lines[2]
    assert "damaged PNG" in lines[2]
    assert "dB" in lines[1]
    assert lines[-1] == "2 of 3 pictures restored."
    assert sorted(contents(folder / "out")) == ["a.png", "d.png"]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_results_are_those_of_restore(folder, capsys, jobs) -> None:
    assert main(["restore", "scans/a.png", "-o", "one.png", "--quiet"]) == 0
    command = ["batch", "scans/a.png", "scans/d.png", "-o", "out", "--jobs", jobs, "--no-estimate"]
    assert main(command) == 0
    assert "restored" in capsys.readouterr().out
    for name in ("a.png", "d.png"):
        assert (folder / "out" / name).read_bytes() == (folder / "one.png").read_bytes()


def test_nothing_is_replaced_without_leave(folder, capsys) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "a.png").write_text("mine")
    assert main(["batch", "scans/a.png", "scans/d.png", "-o", "out", "--no-estimate"]) == 1
    assert "already exists" in capsys.readouterr().out
    assert (folder / "out" / "a.png").read_text() == "mine"
    assert main(["batch", "scans/a.png", "-o", "out", "--overwrite", "--no-estimate"]) == 0
    assert (folder / "out" / "a.png").read_bytes() == (folder / "out" / "d.png").read_bytes()


def test_json_names_every_file(folder, capsys) -> None:
    assert main(["batch", "scans", "-o", "out", "--json", "--quiet"]) == 1
    printed = capsys.readouterr()
    files = json.loads(printed.out)["files"]
    assert [file["error"] is None for file in files] == [True, False, True]
    assert files[0].keys() == files[1].keys()
    assert files[0]["output"] == "out/a.png"
    assert files[0]["estimated_psnr"] > 15
    assert files[1]["output"] is None
    assert "b.png" in printed.err


def test_folder_of_masks(folder, capsys) -> None:
    (folder / "in").mkdir()
    (folder / "masks").mkdir()
    for number, name in enumerate(("x.png", "y.png", "z.png")):
        write_picture(scene(), folder / "in" / name)
        if name != "z.png":
            mask = mask_picture(random_mask((32, 40), 0.3, number))
            write_picture(mask, folder / "masks" / name.replace("y.", "y_mask."))
    assert main(["batch", "in", "-o", "out", "--mask", "masks", "--no-estimate"]) == 1
    assert "no mask" in capsys.readouterr().out
    assert main(["restore", "in/y.png", "--mask", "masks/y_mask.png", "-o", "y.png", "--quiet"]) == 0
    assert (pixels(folder / "out" / "y.png") == pixels(folder / "y.png")).all()
    assert sorted(contents(folder / "out")) == ["x.png", "y.png"]


def test_one_mask_for_all_and_recipes(folder, capsys) -> None:
    write_picture(scene(), folder / "p.png")
    write_picture(scene(), folder / "q.png")
    write_picture(mask_picture(random_mask((32, 40), 0.3)), folder / "m.png")
    command = ["batch", "p.png", "q.png", "-o", "out", "--mask", "m.png", "--write-recipe", "--no-estimate"]
    assert main(command) == 0
    assert sorted(contents(folder / "out")) == ["p.json", "p.png", "q.json", "q.png"]


def test_folder_that_stays_empty_is_not_left_behind(folder, capsys) -> None:
    assert main(["batch", "scans/b.png", "nope.png", "-o", "out"]) == 1
    assert "does not exist" in capsys.readouterr().out
    assert not (folder / "out").exists()


def test_no_folder_that_stays_empty_is_left_behind(folder, capsys) -> None:
    (folder / "whole" / "1").mkdir(parents=True)
    write_picture(scene(), folder / "whole" / "1" / "a.png")
    assert main(["batch", "whole", "-o", "new/out", "--recursive"]) == 0
    assert not (folder / "new").exists()


def test_formats_that_are_not_written_become_png(folder, capsys) -> None:
    (folder / "p.pgm").write_bytes(b"P5 16 16 255\n" + bytes(range(128, 256)) + b"\0" * 128)
    assert main(["batch", "p.pgm", "-o", "out", "--key", "0", "--no-estimate"]) == 0
    assert sorted(contents(folder / "out")) == ["p.png"]


def test_quiet_still_names_failures(folder, capsys) -> None:
    assert main(["batch", "scans", "-o", "out", "--quiet", "--no-estimate"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("inpaint: ")
    assert "b.png" in printed.err


def test_intact_pictures_are_no_failures(folder, capsys) -> None:
    write_picture(scene(), folder / "scans" / "e.png")
    assert main(["batch", "scans/a.png", "scans/e.png", "-o", "out", "--no-estimate"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[0] == "e.png"
    assert lines[2].endswith("intact")
    assert lines[-1] == "1 of 2 pictures restored, 1 intact."
    assert sorted(contents(folder / "out")) == ["a.png"]


def test_a_second_run_skips_what_is_there(folder, capsys) -> None:
    command = ["batch", "scans/a.png", "scans/d.png", "-o", "out", "--no-estimate", "--skip-existing"]
    (folder / "out").mkdir()
    (folder / "out" / "a.png").write_text("mine")
    assert main([*command, "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert [file["skipped"] for file in files] == ["exists", None]
    assert (folder / "out" / "a.png").read_text() == "mine"
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 of 2 pictures restored, 2 already there."


def test_inner_folders(folder, capsys) -> None:
    inner = folder / "scans" / "1" / "2"
    inner.mkdir(parents=True)
    (inner / "a.png").write_bytes((folder / "scans" / "a.png").read_bytes())
    (folder / "scans" / "b.png").unlink()
    command = ["batch", "scans", "-o", "scans/out", "--no-estimate", "--recursive"]
    assert main([*command, "--dry-run"]) == 0
    assert "scans/1/2/a.png  -> scans/out/1/2/a.png" in capsys.readouterr().out
    assert not (folder / "scans" / "out").exists()
    assert main(command) == 0
    assert (folder / "scans" / "out" / "1" / "2" / "a.png").exists()
    assert main([*command, "--skip-existing"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 of 3 pictures restored, 3 already there."


def test_links_to_folders_are_not_followed(folder, capsys) -> None:
    (folder / "scans" / "again").symlink_to(".")
    assert main(["batch", "scans", "-o", "out", "--recursive", "--dry-run"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_a_folder_that_cannot_be_listed_does_not_stop_the_rest(folder, capsys, monkeypatch) -> None:
    (folder / "scans" / "closed").mkdir()
    names = Path.iterdir

    def iterdir(path: Path) -> Iterator[Path]:
        if path.name == "closed":
            raise PermissionError(errno.EACCES, "no")
        return names(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    assert main(["batch", "scans", "-o", "out", "--recursive", "--quiet", "--no-estimate"]) == 1
    assert "permission to read scans/closed" in capsys.readouterr().err
    assert sorted(contents(folder / "out")) == ["a.png", "d.png"]


def test_masks_of_inner_folders(folder, capsys) -> None:
    for number, name in enumerate(("in/1/a.png", "in/2/a.png", "in/2/b.png")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_picture(scene(), folder / name)
        mask = folder / name.replace("in", "masks")
        mask.parent.mkdir(parents=True, exist_ok=True)
        write_picture(mask_picture(random_mask((32, 40), 0.1 * (number + 1))), mask)
    write_picture(mask_picture(random_mask((32, 40), 0.5)), folder / "masks/2/b.tif")
    command = ["batch", "in", "-o", "out", "--mask", "masks", "--recursive", "--no-estimate", "--json"]
    assert main([*command, "--grow-mask", "0", "--preset", "fast"]) == 1
    files = json.loads(capsys.readouterr().out)["files"]
    assert [file["missing_fraction"] for file in files] == [pytest.approx(0.1), pytest.approx(0.2), None]
    assert "several masks for in/2/b.png; keep one of masks/2/b.png and masks/2/b.tif" in files[2]["error"]
