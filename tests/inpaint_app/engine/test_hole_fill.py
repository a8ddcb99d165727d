"""Wide holes that are filled from where the user says, or by the user's own network."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from onnx_files import FLOAT, byte_network, float_network, node, tensor, write_network
from PIL import Image

from dictsel_core import RestoreSettings
from inpaint_app.engine.control import JobControl, ProgressReporter
from inpaint_app.engine.heal import HealRequest, heal, surroundings
from inpaint_app.engine.hole_fill import HoleFill, HoleFillFiles
from inpaint_app.engine.network import Network, fill_by_network
from inpaint_app.engine.painted import HealedPicture
from inpaint_app.engine.restore import RestoreRequest, preview, restore
from inpaint_app.errors import UserError
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.picture import Picture, Rect

FAST = RestoreSettings(n_atoms=8, rounds=0)


@pytest.fixture
def gray():
    """Noise around a medium gray, with a hole that is restored smoothly."""
    image = np.random.default_rng(0).integers(100, 140, (60, 80)).astype(np.uint8)
    mask = np.zeros((60, 80), bool)
    mask[20:40, 30:50] = True
    image[mask] = 120
    return image, mask


@pytest.fixture
def onnxruntime():
    return pytest.importorskip("onnxruntime")


def test_pieces_come_from_where_the_user_says(gray):
    image, mask = gray
    image[:, 60:] //= 2  # farther away than what is around the hole
    allowed = np.zeros_like(mask)
    allowed[:, 62:] = True
    request = RestoreRequest(image, mask, FAST, HoleFill(PackedMask.pack(allowed)))
    around = RestoreRequest(image, mask, FAST)
    dark, usual = (restore(each, JobControl()).restoration for each in (request, around))
    assert dark.settings.fill == "auto"
    assert (dark.image[~mask] == image[~mask]).all()
    assert dark.image[mask].mean() < usual.image[mask].mean() - 20


def test_previews_and_strokes_copy_from_there_too(gray):
    image, mask = gray
    image[:, 60:] //= 2
    allowed = np.zeros_like(mask)
    allowed[:, 62:] = True
    fill, rect = HoleFill(PackedMask.pack(allowed)), Rect(10, 20, 40, 38)  # without anything allowed
    previews = [
        preview(RestoreRequest(image, mask, FAST, each), rect, JobControl()).image for each in (None, fill)
    ]
    hole = mask[rect.slices]
    assert previews[1][hole].mean() < previews[0][hole].mean() - 20
    assert (previews[1][~hole] == image[rect.slices][~hole]).all()

    stroke, nothing = Rect(20, 30, 20, 20), PackedMask.empty(mask.shape)
    outer = surroundings(stroke, FAST, mask.shape)[1]
    request = HealRequest(image, HealedPicture(image, nothing), mask[outer.slices], stroke, FAST)
    usual = heal(request, JobControl()).picture
    steered = heal(replace(request, hole_fill=fill, packed_mask=PackedMask.pack(mask)), JobControl()).picture
    assert steered.image[mask].mean() < usual.image[mask].mean() - 20
    assert (steered.image[~mask] == image[~mask]).all()
    assert (steered.restoration.image == steered.image).all()
    assert steered.restoration.settings.fill == "auto"


def test_missing_pixels_elsewhere_are_not_copied_into_a_stroke(gray):
    image, mask = gray
    other = np.zeros_like(mask)
    other[:, 70:] = True
    image[other] = 255  # damage, farther away than a stroke looks
    allowed = np.zeros_like(mask)
    allowed[:, 55:] = True
    stroke, nothing = Rect(20, 30, 20, 20), PackedMask.empty(mask.shape)
    outer = surroundings(stroke, FAST, mask.shape)[1]
    request = HealRequest(
        image,
        HealedPicture(image, nothing),
        (mask | other)[outer.slices],
        stroke,
        FAST,
        HoleFill(PackedMask.pack(allowed)),
        PackedMask.pack(mask | other),
    )
    assert heal(request, JobControl()).picture.image[mask].max() < 200


@pytest.mark.parametrize("n_channels", [None, 2])
def test_missing_pixels_beyond_a_preview_or_a_stroke_may_be_nan(gray, n_channels):
    image, mask = gray
    scattered = np.random.default_rng(1).random(mask.shape) < 0.08
    scattered[:, 60:] = False
    missing, allowed = mask | scattered, np.zeros_like(mask)
    allowed[:, 60:] = True
    image = np.where(missing, np.nan, np.where(allowed, 0.5, 1) * image / 255).astype(np.float32)
    if n_channels is not None:
        image = np.repeat(image[:, :, None], n_channels, axis=2)
    texture, rect = replace(FAST, fill="texture"), Rect(16, 26, 28, 28)
    fill, packed = HoleFill(PackedMask.pack(allowed)), PackedMask.pack(missing)
    seen = preview(RestoreRequest(image, missing, texture, fill), rect, JobControl()).image
    assert seen[mask[rect.slices]].mean() < 0.35

    stroke, nothing = Rect(20, 30, 20, 20), PackedMask.empty(mask.shape)
    outer = surroundings(stroke, texture, mask.shape)[1]
    picture = HealedPicture(image, nothing)
    request = HealRequest(image, picture, missing[outer.slices], stroke, texture, fill, packed)
    healed = heal(request, JobControl()).picture.image
    assert healed[mask].mean() < 0.35
    left = scattered.copy()
    left[surroundings(stroke, texture, mask.shape)[0].slices] = False
    assert np.isnan(healed[left]).all()


@pytest.mark.parametrize("make", [byte_network, float_network])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("is_color", [False, True])
def test_a_network_fills_holes_of_any_picture(onnxruntime, gray, tmp_path, make, kind, is_color):
    image, mask = gray
    image = image.astype(kind) * kind(257 if kind == np.uint16 else 1)
    image = np.repeat(image[:, :, None], 3, axis=2) if is_color else image
    before = image.copy()
    result = fill_by_network(image, mask, Network.load(make(tmp_path / "tiny.onnx")))
    white = {np.uint8: 255, np.uint16: 65535, np.float32: image[~mask].max()}[kind]
    black = image[~mask].min() if kind == np.float32 else 0
    assert (image == before).all()
    assert result.dtype == kind
    assert (result[~mask] == image[~mask]).all()
    assert result[25:35, 35:45] == pytest.approx(black if make is byte_network else white, rel=1e-5)


def test_a_network_of_any_size_takes_pictures_of_odd_size(onnxruntime, gray, tmp_path):
    image, mask = (each[:57, :73] for each in gray)
    result = fill_by_network(image, mask, Network.load(float_network(tmp_path / "tiny.onnx", "n")))
    assert (result[mask] == 255).all()


def test_a_run_uses_the_network(onnxruntime, gray, tmp_path):
    image, mask = gray
    fill = HoleFillFiles(network=byte_network(tmp_path / "tiny.onnx")).read(Picture(image))
    result = restore(RestoreRequest(image, mask, FAST, fill), JobControl()).restoration
    assert (result.image[mask] == 0).all()


def test_files_without_a_network_are_refused(onnxruntime, tmp_path):
    (tmp_path / "text.onnx").write_text("no network")
    with pytest.raises(UserError, match="holds no network"):
        Network.load(tmp_path / "text.onnx")
    with pytest.raises(UserError, match="There is no file"):
        Network.load(tmp_path / "nothing.onnx")
    one = write_network(
        tmp_path / "one.onnx",
        node("Neg", ["image"], "output"),
        tensor(11, "image", FLOAT, [1, 3, 8, 8]),
        tensor(12, "output", FLOAT, [1, 3, 8, 8]),
    )
    with pytest.raises(UserError, match="one picture and one mask"):
        Network.load(one)


def test_networks_that_return_something_else_are_refused(onnxruntime, gray, tmp_path):
    other = write_network(
        tmp_path / "other.onnx",
        node("Neg", ["mask"], "output"),
        tensor(11, "image", FLOAT, [1, 3, 8, 8]),
        tensor(11, "mask", FLOAT, [1, 1, 8, 8]),
        tensor(12, "output", FLOAT, [1, 1, 8, 8]),
    )
    with pytest.raises(UserError, match="does not return a picture"):
        fill_by_network(*gray, Network.load(other))
    with pytest.raises(UserError, match="gray and color"):
        fill_by_network(np.zeros((60, 80, 4), np.uint8), gray[1], Network.load(other))


def test_without_onnxruntime_a_sentence_says_so(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(UserError, match="not installed"):
        Network.load(tmp_path / "tiny.onnx")


def test_a_mask_that_marks_nothing_or_too_little_to_copy_is_refused(gray, tmp_path):
    image, mask = gray
    files = HoleFillFiles(tmp_path / "from.png")
    Image.fromarray(np.zeros_like(image)).save(tmp_path / "from.png")
    with pytest.raises(UserError, match="marks nothing to copy"):
        files.read(Picture(image))
    request = RestoreRequest(image, mask, FAST, HoleFill(PackedMask.empty(mask.shape)))
    with pytest.raises(UserError, match="too few observed pixels"):
        restore(request, JobControl())


def test_texture_fills_narrower_holes_too(gray):
    image, mask = gray
    mask = mask.copy()
    mask[30:] = mask[:, 40:] = False  # 10 x 10: no spot either
    control, smooth = JobControl(), np.where(mask, 120, image).astype(np.uint8)
    filled = {
        fill: HoleFill().fill(smooth, mask, replace(FAST, fill=fill), control, ProgressReporter(control))
        for fill in ("auto", "texture")
    }
    assert (filled["auto"] == smooth).all()
    assert (filled["texture"] != smooth).any()
