"""Pages of a file that help each other."""

from pathlib import Path

import numpy as np
import pytest
from pictures import photograph, random_mask

from dictsel_core import RestoreSettings, restore
from inpaint_app.cli import main
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import write_picture
from inpaint_app.model.picture import Picture

OPTIONS = ("--rounds", "1", "--atoms", "12", "--threads", "1", "--quiet", "--overwrite")


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """Write three pages of a moving picture, of which the second is whole."""
    monkeypatch.chdir(tmp_path)
    wide = photograph(36).astype(np.float32) / 255
    stack = np.stack([wide[z : z + 32, :32] for z in range(3)])
    stack[:, random_mask((32, 32), 0.5)] = np.nan
    stack[1] = wide[1:33, :32]
    np.save("pages.npy", stack)
    return stack


def test_pages_are_restored_as_the_library_restores_a_stack(pages) -> None:
    settings = RestoreSettings(rounds=1, n_atoms=12)
    expected = restore(pages, settings=settings, axes=(1, 2), neighbor_planes=1).image
    assert main(["restore", "pages.npy", "-o", "out.npy", "--neighbor-planes", "1", *OPTIONS]) == 0
    np.testing.assert_array_equal(np.load("out.npy"), expected)
    assert main(["restore", "pages.npy", "-o", "alone.npy", *OPTIONS]) == 0
    assert (np.load("alone.npy")[0] != expected[0]).any()


def test_channels_may_miss_pixels_of_their_own(pages) -> None:
    colors = np.stack([pages[0], pages[1], pages[2]], axis=-1)
    np.save("colors.npy", np.stack([colors, np.nan_to_num(colors, nan=0.5)]))
    assert main(["restore", "colors.npy", "-o", "out.npy", "--neighbor-planes", "1", *OPTIONS]) == 0
    assert np.isfinite(np.load("out.npy")).all()


def test_what_is_no_stack_is_refused_in_a_sentence(pages, capsys) -> None:
    np.save("one.npy", pages[0])
    damaged = np.where(np.isnan(pages[0]), 0, pages[0])
    write_picture(Picture(damaged, more_pages=(Picture(damaged[1:]),)), Path("sizes.tif"))
    for name, sentence in (("one.npy", "has a single page"), ("sizes.tif", "differ in size or depth")):
        marks = ("--key", "0") if name == "sizes.tif" else ()
        command = ["restore", name, "-o", "out" + Path(name).suffix, "--neighbor-planes", "2", *marks]
        assert main([*command, *OPTIONS]) != 0
        assert sentence in capsys.readouterr().err
    assert main(["restore", "pages.npy", "--neighbor-planes", "9"]) != 0
    assert "--neighbor-planes" in capsys.readouterr().err
    command = ["restore", "pages.npy", "--neighbor-planes", "1", "--block", "64"]
    assert main(command) != 0
    assert "not for pictures that are restored in blocks" in capsys.readouterr().err
    assert not Path("out.npy").exists()


def test_pages_without_missing_pixels_stay(pages) -> None:
    assert main(["restore", "pages.npy", "-o", "out.npy", "--neighbor-planes", "2", *OPTIONS]) == 0
    written = read_picture("out.npy")
    np.testing.assert_array_equal(written.pages[1].pixels, pages[1])
