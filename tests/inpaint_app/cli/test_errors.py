"""Wrong input: one sentence, exit code 2, and every file as it was."""

import numpy as np
import pytest
from cli_files import contents, scene, write_pair

from inpaint_app.cli import main
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import write_picture
from inpaint_app.model.picture import Picture

# Names of files stand in their folder; each line is what a stranger might type.
WRONG = {
    "unknown command": ("restor broken.png", "did you mean 'inpaint restore'"),
    "no input": ("restore", "IN is missing"),
    "no such file": ("restore nope.png", "does not exist"),
    "folder": ("restore .", "inpaint batch"),
    "nothing missing": ("restore whole.png", "No missing pixels"),
    "repair a folder": ("repair .", "inpaint batch"),
    "repair onto the source": ("repair whole.png -o whole.png", "source itself"),
    "repair of an unknown kind": ("repair whole.png --kinds mould", "needs one or more of"),
    "too sensitive": ("repair whole.png --sensitivity 2", "--sensitivity"),
    "repair as the paper": ("repair whole.png --preset paper", "best or finest"),
    "not an image": ("restore notes.txt", "not an image"),
    "two inputs": ("restore broken.png whole.png", "unexpected argument"),
    "mistyped option": ("restore broken.png --atom 3", "did you mean --atoms"),
    "unknown option": ("restore broken.png --zzz", "There is no option --zzz"),
    "not a number": ("restore broken.png --atoms many", "--atoms needs a whole number"),
    "zero atoms": ("restore broken.png --atoms 0", "from 1 to 4096"),
    "negative seed": ("restore broken.png --seed -1", "from 0 to"),
    "endless seed": (f"damage whole.png -o out.png --scratches --seed {'9' * 5000}", "from 0 to"),
    "infinite budget": ("restore broken.png --mean-sparsity inf", "above 0"),
    "immense budget": ("restore broken.png --mean-sparsity 1e308", "above 0, up to 64"),
    "immense sparsity": ("restore broken.png --sparsity 1000000000", "from 1 to 64"),
    "immense ground set": ("restore broken.png --patch-size 32 --bases dct,haar,db2,db3,db4", "fewer bases"),
    "infinite tolerance": ("restore broken.png --key 0 --tolerance 1e999", "of at least 0"),
    "no value": ("restore broken.png --atoms", "needs a value"),
    "shell ate the color": ("restore broken.png --key", "quotes"),
    "no such color": ("restore broken.png --key blurple", "not a color"),
    "refine what is replaced": ("restore broken.png --replace-observed --rounds 2", "leave one of them out"),
    "refine and replace": ("restore broken.png --preset best --replace-observed", "--preset best keeps"),
    "refine the paper": ("restore broken.png --preset paper --rounds 3", "--preset paper replaces"),
    "negative rounds": ("restore broken.png --rounds -1", "from 0 to 100 or auto"),
    "refine what is replaced, auto": ("restore broken.png --replace-observed --rounds auto", "leave one"),
    "unknown preset": ("restore broken.png --preset slowest", "best or finest"),
    "unknown basis": ("restore broken.png --bases dct,foo", "foo"),
    "basis twice": ("restore broken.png --bases dct,dct", "twice"),
    "odd patch": ("restore broken.png --patch-size 7", "even"),
    "huge patch": ("restore broken.png --patch-size 99", "from 2 to 32"),
    "tolerance alone": ("restore broken.png --tolerance 3", "--key"),
    "trust alone": ("restore broken.png --trust-mask", "--mask"),
    "inverted mask": ("restore broken.png --mask inverted.png", "invert it with --invert-mask, or use it"),
    "photograph as a mask": ("restore broken.png --mask whole.png", "looks like a photograph"),
    "the picture as its own mask": ("restore dark.png --mask dark.png", "looks like a photograph"),
    "no such shell": ("completion tcsh", "SHELL needs bash, zsh, fish or powershell"),
    "invert alone": ("restore broken.png --invert-mask", "--mask"),
    "auto and atoms": ("restore broken.png --auto --atoms 5", "--auto chooses --atoms"),
    "tune and sparsity": ("tune broken.png --sparsity 5", "inpaint tune chooses --sparsity"),
    "budget of individual": (
        "restore broken.png --constraint individual --mean-sparsity 2",
        "--mean-sparsity",
    ),
    "mask of other size": ("restore broken.png --mask small.png", "same size"),
    "reference of other size": ("restore broken.png --reference small.png", "same size"),
    "reference of other kind": ("restore broken.png --reference gray.png", "same kind"),
    "damaged reference": ("restore broken.png --reference broken.png", "undamaged"),
    "output is the source": ("restore broken.png -o broken.png", "source itself"),
    "output exists": ("restore broken.png -o whole.png", "already exists"),
    "no format": ("restore broken.png -o out", "suffix"),
    "no folder": ("restore broken.png -o nowhere/out.png", "does not exist"),
    "recipe is none": ("restore broken.png --recipe notes.txt", "not a recipe"),
    "recipe and preset": ("restore broken.png --recipe notes.txt --preset fast", "recipe"),
    "recipe of a mask without a name": ("tune broken.png --mask - --write-recipe r.json", "standard input"),
    "recipe name": ("restore broken.png --write-recipe out.png", ".json"),
    "wrong depth": ("restore broken.png --depth 12", "8 or 16"),
    "wrong quality": ("restore broken.png --quality 101", "from 1 to 100"),
    "an option for a value": ("damage whole.png -o out.png --text --scratches", "--text needs a value"),
    "the end of options for a value": ("restore broken.png -o -- whole.png", "--output needs a value"),
    "no kinds": ("restore broken.png --detect ,", "such as scratches,dust"),
    "value for a flag": ("restore broken.png --overwrite=yes", "takes no value"),
    "damage of no kind": ("damage whole.png -o out.png", "--missing"),
    "damage of two kinds": ("damage whole.png -o out.png --scratches --missing 0.5", "exclude"),
    "damage of all": ("damage whole.png -o out.png --missing 80", "between 0 and 1"),
    "damage without alpha": ("damage whole.png -o out.jpg --scratches", "write PNG, TIFF, WebP"),
    "damage to the source": ("damage whole.png -o whole.png --scratches", "source itself"),
    "mask over output": ("damage whole.png -o out.png --mask-out ./out.png --scratches", "same file"),
    "mask exists": ("damage whole.png -o out.png --mask-out gray.png --scratches", "already exists"),
    "score of other size": ("score whole.png small.png", "same size"),
    "score of one": ("score whole.png", "B is missing"),
    "compare without reference": ("compare broken.png", "--reference is missing"),
    "compare of constraints": ("compare broken.png --reference whole.png --constraint average", "no option"),
    "tune of a whole picture": ("tune whole.png", "No missing pixels"),
    "tune to a picture": ("tune broken.png --write-recipe out.png", ".json"),
    "batch without output": ("batch broken.png", "is missing"),
    "batch onto sources": ("batch broken.png -o .", "where the sources are"),
    "batch of nothing": ("batch empty -o out", "contains no picture"),
    "batch into a file": ("batch broken.png -o notes.txt", "not a folder"),
    "batch of equal names": ("batch broken.png sub/broken.png -o out", "both be written"),
    "detect in bands": ("detect bands.npy", "has 5 bands"),
    "detect on pages": ("detect pages.npy", "has 3 pages"),
    "damage to pages": ("damage pages.npy -o out.tif --missing 0.5", "has 3 pages"),
    "score of pages": ("score pages.npy pages.npy", "has 3 pages"),
    "score of unknown values": ("score nan.npy nan.npy", "NaN"),
    "reference of pages": ("restore pages.npy --key 0 --reference pages.npy", "leave it out"),
    "mask without marks": ("restore whole.png --mask zeros.npy", "The mask marks no pixel"),
    "option after the names": ("restore -- broken.png --preset", "before --"),
    "letters together": ("restore broken.png -hx", "There is no option -x"),
    "no jobs": ("batch broken.png -o out --jobs 0", "--jobs"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    write_pair(tmp_path)
    write_picture(scene(shape=(20, 20)), tmp_path / "small.png")
    write_picture(scene(color=False), tmp_path / "gray.png")
    dark = read_picture(tmp_path / "whole.png").pixels // 4
    write_picture(Picture(np.where(dark > 40, np.uint8(200), dark)), tmp_path / "dark.png")
    (tmp_path / "notes.txt").write_text("buy milk\n")
    np.save(tmp_path / "pages.npy", np.arange(1200, dtype=np.uint16).reshape(3, 20, 20))
    np.save(tmp_path / "bands.npy", np.ones((20, 20, 5), np.uint8))
    np.save(tmp_path / "nan.npy", np.full((20, 20), np.nan))
    np.save(tmp_path / "zeros.npy", np.zeros(read_picture(tmp_path / "whole.png").pixels.shape[:2], np.int32))
    scratch = np.full(read_picture(tmp_path / "whole.png").pixels.shape[:2], 255, np.uint8)
    scratch[20:23] = 0
    write_picture(Picture(scratch), tmp_path / "inverted.png")
    (tmp_path / "empty").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "broken.png").write_bytes((tmp_path / "broken.png").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("command", "words"), WRONG.values(), ids=WRONG)
def test_one_sentence_and_nothing_changed(folder, capsys, command, words) -> None:
    files, names = contents(folder), sorted(folder.iterdir())
    assert main(command.split()) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("inpaint: ")
    assert printed.err.count("\n") == 1
    assert printed.err.rstrip()[-1] in ".?"
    assert words in printed.err
    assert contents(folder) == files
    assert sorted(folder.iterdir()) == names


def test_with_json_stdout_stays_empty_on_errors(folder, capsys) -> None:
    assert main(["restore", "nope.png", "--json"]) == 2
    assert capsys.readouterr().out == ""


def test_overwrite_allows_to_replace_the_source(folder, capsys) -> None:
    before = contents(folder)["broken.png"]
    assert main(["restore", "broken.png", "-o", "broken.png", "--overwrite", "--no-estimate"]) == 0
    assert contents(folder)["broken.png"] != before


def test_everything_missing_is_refused(folder, capsys) -> None:
    clear = Picture(np.zeros((9, 9), np.uint8), alpha=np.zeros((9, 9), np.uint8))
    write_picture(clear, "clear.png")
    assert main(["restore", "clear.png"]) == 2
    assert "Every pixel" in capsys.readouterr().err


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (3, 3), (5, 40)])
def test_tiny_pictures_are_restored(folder, capsys, shape) -> None:
    alpha = np.full(shape, 255, np.uint8)
    alpha[0, 0] = 0
    write_picture(Picture(np.full(shape, 77, np.uint8), alpha=alpha), "tiny.png")
    write_picture(Picture(np.full(shape, 77, np.uint8)), "original.png")
    assert main(["restore", "tiny.png"]) == 0
    assert main(["restore", "tiny.png", "--reference", "original.png", "--overwrite"]) == 0
    assert main(["compare", "tiny.png", "--reference", "original.png"]) == 0
    assert main(["dictionary", "tiny.png", "-o", "atoms.png"]) == 0


def test_names_that_no_terminal_shows(folder, capsys) -> None:
    strange = "two\nlines\x1b[31m.png"
    (folder / "broken.png").rename(strange)
    assert main(["restore", strange]) == 0
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out
    assert main(["restore", strange]) == 2
    assert capsys.readouterr().err.count("\n") == 1
