"""What cannot be written is refused before the work, and files that belong together come together."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_files import contents, pixels, scene, write_pair

from inpaint_app.cli import main
from inpaint_app.engine import restore as restoring
from inpaint_app.io.read import read_picture
from inpaint_app.io.recipe import read_recipe
from inpaint_app.io.write import write_picture
from inpaint_app.model.damage import Damage, damaged, mask_picture, random_mask
from inpaint_app.model.picture import Picture


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_pair(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def no_work(monkeypatch):
    """Fail when the work itself begins."""

    def begin(*_: object, **__: object) -> None:
        pytest.fail("the work has begun")

    monkeypatch.setattr(restoring, "iter_restore", begin)
    monkeypatch.setattr(Damage, "mask", begin)


@pytest.fixture
def full_disk(monkeypatch):
    """Let the folder "full" be on a disk without space."""
    create = os.open

    def create_or_fail(path: str | Path, *rest: int, **options: int) -> int:
        if Path(path).absolute().parent.name == "full":
            raise OSError(28, "No space left on device")
        return create(path, *rest, **options)

    monkeypatch.setattr(os, "open", create_or_fail)


def holed(picture: Picture) -> Picture:
    return damaged(picture, random_mask((picture.height, picture.width), 0.3))


def half_transparent() -> Picture:
    picture = holed(scene())
    assert picture.alpha is not None
    return Picture(picture.pixels, np.minimum(picture.alpha, 128))


def floats_beyond_one() -> Picture:
    values = scene(np.float32).pixels * 300
    values[random_mask(values.shape[:2], 0.3)] = np.nan
    return Picture(values)


def with_long_exif() -> Picture:
    return holed(scene()).with_metadata(exif=b"II*\0\x08\0\0\0\0\0\0\0\0\0" + bytes(70_000))


PICTURES = {
    "half.png": half_transparent,
    "wide.png": lambda: holed(Picture(np.zeros((2, 16_400), np.uint8))),
    "tall.png": lambda: Picture(np.zeros((16_400, 220), np.uint8)),
    "tallhole.png": lambda: holed(Picture(np.zeros((16_400, 220), np.uint8))),
    "floats.tif": floats_beyond_one,
    "exif.png": with_long_exif,
}


def write_named(words: list[str]) -> None:
    """Write the pictures that a command names."""
    for name in PICTURES.keys() & set(words):
        write_picture(PICTURES[name](), name)


HOPELESS = {
    "transparent JPEG": ("restore half.png -o a.jpg", "transparent"),
    "transparent JPEG, converted": ("restore half.png -o a.jpg --depth 8", "transparent"),
    "wide WebP": ("restore wide.png -o a.webp", "wider or taller"),
    "floats beyond 1": ("restore floats.tif -o a.png --depth 8", "between 0 and 1"),
    "floats in PNG": ("restore floats.tif -o a.png", "32-bit float"),
    "long EXIF": ("restore exif.png -o a.jpg", "EXIF"),
    "tall comparison": ("compare tallhole.png --reference tall.png -o a.webp", "wider or taller"),
    "damage to wide WebP": ("damage wide.png -o a.webp --missing 0.5", "wider or taller"),
    "mask as wide WebP": ("damage wide.png -o a.png --mask-out a.webp --missing 0.5", "wider or taller"),
    "damage to floats in PNG": ("damage floats.tif -o a.png --missing 0.5", "32-bit float"),
}


@pytest.mark.parametrize(("command", "words"), HOPELESS.values(), ids=HOPELESS)
def test_known_from_the_picture(folder, no_work, capsys, command, words) -> None:
    write_named(command.split())
    before = contents(folder)
    assert main(command.split()) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert words in printed.err
    assert contents(folder) == before


def test_restored_floats_stay_in_the_range_of_the_observed(folder, capsys) -> None:
    """So that 8 bits, once promised, are kept."""
    noise = np.random.default_rng(0).integers(0, 2, (32, 40)).astype(np.float32)
    noise[random_mask(noise.shape, 0.6)] = np.nan
    write_picture(Picture(noise), "noise.tif")
    for preset in ("fast", "balanced", "paper"):
        command = ["restore", "noise.tif", "-o", "a.png", "--depth", "8", "--preset", preset, "--overwrite"]
        assert main([*command, "--no-estimate"]) == 0


OTHERS = {
    "recipe on a full disk": "restore broken.png -o new.png --write-recipe full/r.json",
    "picture on a full disk": "restore broken.png -o full/new.png --write-recipe r.json",
    "mask on a full disk": "damage whole.png -o new.png --mask-out full/m.png --missing 0.5",
    "damaged picture on a full disk": "damage whole.png -o full/new.png --mask-out m.png --missing 0.5",
}


@pytest.mark.parametrize("command", OTHERS.values(), ids=OTHERS)
def test_all_or_nothing(folder, full_disk, capsys, command) -> None:
    before = sorted(folder.rglob("*"))
    assert main([*command.split(), "--quiet"]) == 2
    assert "disk is full" in capsys.readouterr().err
    assert sorted(folder.rglob("*")) == before


def test_recipe_into_a_folder_that_is_read_only(folder, no_work, monkeypatch, capsys) -> None:
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "sub" and access(path, mode))
    assert main(["restore", "broken.png", "-o", "new.png", "--write-recipe", "sub/r.json"]) == 2
    assert "permission to write in sub" in capsys.readouterr().err
    assert main(["restore", "broken.png", "-o", "sub/new.png"]) == 2


SAME = {
    "mask, another spelling": "damage whole.png -o q.png --mask-out sub/../q.png --missing 0.5",
    "mask, by a link": "damage whole.png -o q.png --mask-out link.png --missing 0.5",
    "recipe, by a link": "restore broken.png -o q.png --write-recipe link.json",
}


@pytest.mark.parametrize("command", SAME.values(), ids=SAME)
def test_one_file_by_two_names(folder, no_work, capsys, command) -> None:
    (folder / "q.png").write_text("mine")
    (folder / "link.png").symlink_to("q.png")
    (folder / "link.json").symlink_to("q.png")
    assert main([*command.split(), "--overwrite"]) == 2
    assert "same file" in capsys.readouterr().err
    assert (folder / "q.png").read_text() == "mine"


@pytest.mark.parametrize("more", [[], ["--overwrite"]])
def test_deleted_working_directory(folder, more) -> None:
    """In a process of its own: once Qt is loaded, its hook for imports may fail in a folder that is gone."""
    (folder / "gone").mkdir()
    program = "import os, sys; from inpaint_app.cli import main; os.rmdir('../gone'); sys.exit(main())"
    command = [sys.executable, "-P", "-c", program, "restore", str(folder / "broken.png"), "-o", "new.png"]
    done = subprocess.run([*command, *more], cwd=folder / "gone", capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "does not exist" in done.stderr
    assert done.stderr.count("\n") == 1


def test_recipes_of_results_that_share_their_name(folder, capsys) -> None:
    write_picture(holed(scene()), "a.tif")
    (folder / "broken.png").rename("a.png")
    write_picture(holed(scene()), "b.png")
    (folder / "a.png.bmp").write_bytes((folder / "b.png").read_bytes())
    files = ["a.png", "a.tif", "a.png.bmp", "b.png"]
    assert main(["batch", *files, "-o", "out", "--write-recipe", "--no-estimate"]) == 0
    names = ["a.png", "a.png.json", "a.png.png", "a.png.png.json", "a.tif", "a.tif.json", "b.json", "b.png"]
    assert sorted(contents(folder / "out")) == names
    assert read_recipe("out/a.tif.json").settings == read_recipe("out/b.json").settings


def test_what_is_not_kept_is_noted(folder, capsys) -> None:
    quick = ["--overwrite", "--no-estimate", "--preset", "fast"]
    for name, command in {
        "r.png": ["restore", "broken.png", "-o", "r.png", *quick],
        "out/broken.png": ["batch", "broken.png", "-o", "out", *quick],
        "d.png": ["damage", "whole.png", "-o", "d.png", "--missing", "0.5", "--overwrite"],
        "c.png": ["compare", "broken.png", "--reference", "whole.png", "-o", "c.png", "--overwrite"],
        "a.png": ["dictionary", "broken.png", "-o", "a.png", "--overwrite"],
    }.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()
        Path(name).chmod(0o4755)
        assert main(command) == 0
        assert f"Note: {name} was replaced without its set-user-ID bit." in capsys.readouterr().err


def test_a_folder_as_output(folder, capsys) -> None:
    Path("out").mkdir(exist_ok=True)
    quick = ["--no-estimate", "--preset", "fast"]
    assert main(["restore", "broken.png", "-o", "out", *quick]) == 0
    assert Path("out/broken_restored.png").is_file()
    assert main(["restore", "broken.png", "-o", "out", *quick]) == 2
    assert "already exists" in capsys.readouterr().err
    assert main(["dictionary", "broken.png", "-o", "out"]) == 0
    assert main(["dictionary", "broken.png"]) == 0
    assert Path("out/broken_dictionary.png").read_bytes() == Path("broken_dictionary.png").read_bytes()


def test_a_depth_that_is_not_kept_is_noted(folder, capsys) -> None:
    pixels = np.full((24, 24), 30_000, np.uint16)
    pixels[4, 4] = 0
    write_picture(Picture(pixels), "deep.png")
    command = ["restore", "deep.png", "--key", "0", "--no-estimate", "--preset", "fast"]
    assert main([*command, "-o", "a.jpg"]) == 0
    assert "Note: Not kept: 16 bits per channel." in capsys.readouterr().err
    assert read_picture("a.jpg").pixels.max() == round(30_000 / 257)
    assert main([*command, "-o", "b.jpg", "--strict"]) == 2
    assert "16 bits per channel would be lost" in capsys.readouterr().err
    assert not Path("b.jpg").exists()
    assert main([*command, "-o", "b.jpg", "--strict", "--depth", "8"]) == 0
    assert "16 bits per channel were reduced to 8" in capsys.readouterr().err
    assert main([*command, "-o", "c.tif", "--strict"]) == 0
    assert "Note: Not kept" not in capsys.readouterr().err


def test_mask_whose_name_is_not_utf8(folder, capsys) -> None:
    name = os.fsdecode(b"mask \xff\xe4.png")
    write_picture(scene(), "p.png")
    write_picture(mask_picture(random_mask((32, 40), 0.3)), name)
    command = ["restore", "p.png", "--no-estimate", "--quiet"]
    assert main([*command, "--mask", name, "-o", "a.png", "--write-recipe", "sub/r.json"]) == 0
    assert main([*command, "--recipe", "sub/r.json", "-o", "b.png"]) == 0
    np.testing.assert_array_equal(pixels("a.png"), pixels("b.png"))
    (folder / "sub" / "r.json").read_bytes().decode("utf-8")
