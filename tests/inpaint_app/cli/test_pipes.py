"""`-` for standard input and output, --verbose and --strict."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from cli_files import contents, pixels, scene, write_pair

from inpaint_app.cli import main
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import write_picture
from inpaint_app.model.picture import Picture

FAST = ("--preset", "fast", "--no-estimate")


@pytest.fixture
def pair(tmp_path, monkeypatch) -> tuple[Path, Path]:
    monkeypatch.chdir(tmp_path)
    return write_pair(tmp_path)


def feed(monkeypatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))


def test_from_and_to_a_pipe_as_from_and_to_files(pair, monkeypatch, capsysbinary) -> None:
    _, broken = pair
    assert main(["restore", str(broken), "-o", "file.png", *FAST, "--quiet"]) == 0
    for output in (["-o", "-"], ["-o", "png:-"], []):  # what comes from a pipe goes to one
        feed(monkeypatch, broken.read_bytes())
        assert main(["restore", "-", *output, *FAST]) == 0
        printed = capsysbinary.readouterr()
        assert printed.out == Path("file.png").read_bytes()
        assert b"Picture:     standard input, 40 x 32" in printed.err
        assert b"Written:     standard output" in printed.err


def test_the_format_of_standard_output(pair, monkeypatch, capsysbinary) -> None:
    _, broken = pair
    for name, start in (("tif:-", b"II*"), ("webp:-", b"RIFF"), ("-", b"\x89PNG")):
        assert main(["restore", str(broken), "-o", name, *FAST, "--quiet"]) == 0
        assert capsysbinary.readouterr().out.startswith(start)
    write_picture(read_picture(broken), "broken.tif")
    assert main(["restore", "broken.tif", "-o", "-", *FAST, "--quiet"]) == 0
    assert capsysbinary.readouterr().out.startswith(b"II*")
    feed(monkeypatch, Path("broken.tif").read_bytes())
    assert main(["restore", "-", *FAST, "--quiet"]) == 0
    assert capsysbinary.readouterr().out.startswith(b"II*")


class SlowPipe(io.RawIOBase):
    """Delivers one byte at first, then a few at a time."""

    def __init__(self, data: bytes) -> None:
        self._data, self._n_reads = io.BytesIO(data), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        self._n_reads += 1
        part = self._data.read(min(len(buffer), 1 if self._n_reads < 5 else 100))
        buffer[: len(part)] = part
        return len(part)


def test_a_pipe_may_be_slow(pair, monkeypatch, capsysbinary) -> None:
    _, broken = pair
    write_picture(read_picture(broken), "broken.tif")
    slow = io.BufferedReader(SlowPipe(Path("broken.tif").read_bytes()))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(slow))
    assert main(["restore", "-", *FAST, "--quiet"]) == 0
    assert capsysbinary.readouterr().out.startswith(b"II*"), "the format is that of the input"


def test_other_commands_in_a_pipe(pair, monkeypatch, capsysbinary) -> None:
    whole, broken = pair
    feed(monkeypatch, whole.read_bytes())
    assert main(["damage", "-", "-o", "-", "--missing", "0.5", "--quiet"]) == 0
    damaged = capsysbinary.readouterr().out
    feed(monkeypatch, damaged)
    assert main(["restore", "-", "--reference", str(whole), "-o", "out.png", *FAST, "--json", "--quiet"]) == 0
    assert json.loads(capsysbinary.readouterr().out)["psnr"] > 25
    feed(monkeypatch, whole.read_bytes())
    assert main(["score", str(broken), "-", "--json"]) == 0
    assert json.loads(capsysbinary.readouterr().out)["psnr"] is not None
    assert main(["detect", str(whole), "-o", "npy:-", "--quiet"]) == 0
    assert np.load(io.BytesIO(capsysbinary.readouterr().out)).shape == (32, 40)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("restore - --mask -", "only once"),
        ("restore broken.png -o - --json", "both write to standard output"),
        ("restore broken.png -o xyz:-", "one of png:-, tif:-"),
        ("restore broken.png -o - --write-recipe", "give it one"),
        ("damage whole.png -o - --mask-out png:- --scratches", "same file"),
        ("batch - -o out", "inpaint restore -"),
        ("batch broken.png -o -", "needs files or folders"),
        ("restore -", "is empty"),
        ("restore broken.png --quiet --verbose", "exclude each other"),
        ("completion tcsh", "bash, zsh, fish or powershell"),
        ("completion", "is missing"),
    ],
)
def test_what_cannot_be(pair, monkeypatch, capsys, command, words) -> None:
    before = contents(Path())
    feed(monkeypatch, b"")
    assert main(command.split()) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert words in printed.err
    assert contents(Path()) == before


@pytest.mark.parametrize(
    ("stream", "command"), [("stdin", "restore -"), ("stdout", "restore broken.png -o -")]
)
def test_terminals_neither_give_nor_take_pictures(pair, monkeypatch, capsys, stream, command) -> None:
    monkeypatch.setattr(getattr(sys, stream), "isatty", lambda: True)
    assert main(command.split()) == 2
    assert "erminal" in capsys.readouterr().err


def test_a_file_called_minus(pair, capsys) -> None:
    _, broken = pair
    broken.rename("-")
    assert main(["restore", "./-", "-o", "out.png", *FAST]) == 0
    assert Path("out.png").exists()


def test_input_larger_than_the_limit(pair, monkeypatch, capsys) -> None:
    monkeypatch.setattr("inpaint_app.io.read.MAX_FILE_BYTES", 100)
    feed(monkeypatch, pair[0].read_bytes())
    assert main(["restore", "-"]) == 2
    assert "larger than" in capsys.readouterr().err


def test_verbose_tells_stages_and_settings(pair, capsys) -> None:
    assert main(["restore", "broken.png", "--verbose", *FAST]) == 0
    printed = capsys.readouterr()
    assert " s  selecting the dictionary" in printed.err
    assert "patch_size = 8" in printed.err
    assert "Written:" in printed.out
    assert main(["batch", "broken.png", "-o", "out", "--verbose", *FAST]) == 0
    assert "patch_size = 8" in capsys.readouterr().err


def test_strict_batches_fail_where_something_is_lost(pair, capsys) -> None:
    frames = np.zeros((2, 8, 9))
    frames[:, 2, 3] = np.nan
    np.savez("stack.npz", image=frames, time=frames[0])
    assert main(["batch", "stack.npz", "broken.png", "-o", "out", "--strict", *FAST]) == 1
    printed = capsys.readouterr().out
    assert "FAILED: the array 'time' would be lost" in printed
    assert "1 of 2 pictures restored" in printed
    assert main(["batch", "stack.npz", "-o", "out", *FAST]) == 0
    assert np.isfinite(np.load("out/stack.npz")["image"]).all()


def test_a_dictionary_too_tall_for_its_format_is_refused_at_once(pair, capsys, monkeypatch) -> None:
    monkeypatch.setattr("inpaint_app.cli.commands.dictionary.restore", None)
    how = ["--atoms", "2000", "--patch-size", "32"]
    assert main(["dictionary", "broken.png", "-o", "atoms.webp", *how]) == 2
    assert "taller than 16383 pixels" in capsys.readouterr().err


def test_arrays_on_the_command_line(pair, capsys) -> None:
    image = scene(np.float32, color=False).pixels.copy()
    image[10:14, 5:9] = np.nan
    np.save("holes.npy", image)
    assert main(["restore", "holes.npy", *FAST]) == 0
    assert np.isfinite(np.load("holes_restored.npy")).all()
    np.save("mask.npy", np.isnan(image))
    write_picture(Picture(np.nan_to_num(image)), "zeros.tif")
    assert main(["restore", "zeros.tif", "--mask", "mask.npy", "--grow-mask", "0", *FAST]) == 0
    assert np.array_equal(pixels(Path("zeros_restored.tif")), np.load("holes_restored.npy"))
