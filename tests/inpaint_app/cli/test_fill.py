"""`inpaint restore`: what fills wide holes."""

import numpy as np
import pytest
from onnx_files import byte_network
from PIL import Image

from inpaint_app.cli import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A dark and a bright half, a hole in the dark one, and a mask of the bright one."""
    monkeypatch.chdir(tmp_path)
    image = np.random.default_rng(0).integers(40, 90, (60, 120)).astype(np.uint8)
    image[:, 70:] += 120
    mask, bright = np.zeros((2, 60, 120), np.uint8)
    mask[20:40, 20:40], bright[:, 75:] = 255, 255
    for name, each in {"in": image, "mask": mask, "bright": bright, "none": 0 * mask}.items():
        Image.fromarray(each).save(f"{name}.png")
    return tmp_path


def run(*more):
    arguments = ["restore", "in.png", "--mask", "mask.png", "-o", "out.png", "--preset", "fast", "--quiet"]
    return main([*arguments, "--overwrite", "--no-estimate", *more])


def hole():
    return np.asarray(Image.open("out.png"))[24:36, 24:36]


def test_pieces_come_from_the_mask_of_fill_from(files):
    assert run() == 0
    before = hole().mean()
    assert run("--fill-from", "bright.png") == 0
    assert hole().mean() > before + 10


def test_a_network_fills_the_hole(files):
    pytest.importorskip("onnxruntime")
    byte_network(files / "tiny.onnx")
    assert run("--fill", "model=tiny.onnx") == 0
    assert (hole() == 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fill-from", "none.png"], "marks nothing to copy from"),
        (["--fill-from", "bright.png", "--fill", "smooth"], "copies nothing"),
        (["--fill-from", "bright.png", "--fill", "model=x.onnx"], "has no meaning"),
        (["--fill-from", "bright.png", "--neighbor-planes", "1"], "filled together"),
        (["--fill-from", "bright.png", "--write-recipe"], "A recipe cannot say"),
        (["--fill-from", "nothing.png"], "nothing.png"),
        (["--fill", "magic"], "or model=FILE"),
    ],
)
def test_contradictions_end_in_a_sentence(files, capsys, options, message):
    assert run(*options) == 2
    assert message in capsys.readouterr().err
    assert not (files / "out.png").exists()


def test_networks_are_for_restore_alone(files, capsys):
    assert main(["tune", "in.png", "--mask", "mask.png", "--fill", "model=x.onnx"]) == 2
    assert "'inpaint restore' only" in capsys.readouterr().err
