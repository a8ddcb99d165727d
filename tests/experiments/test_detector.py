"""The data that the network for damage is trained on."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from dictsel_core import detection
from dictsel_core.detection.network import load_network
from experiments.detector import collect
from experiments.detector.aging import Place, aged_part
from experiments.detector.compose import CHANCES, compose
from experiments.detector.covers import film_damage
from experiments.detector.material import Frame, Material, Outline, load_material

SHAPE = (96, 112)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Material of the form that the training reads."""
    root, rng = tmp_path_factory.mktemp("damage"), np.random.default_rng(0)
    for name in ("photographs", "film", "overlays/lint", "overlays/scratches"):
        (root / name).mkdir(parents=True)
    for number in range(20):
        smooth = ndimage.gaussian_filter(rng.random((150, 200, 3)), (3, 3, 0))
        pixels = np.uint8(255 * (smooth - smooth.min()) / np.ptp(smooth))
        pixels[0, 0] = number
        Image.fromarray(pixels).save(root / "photographs" / f"{number:04}.jpg", quality=98)
        for kind in ("lint", "scratches"):
            opacity = np.uint8(255 * (ndimage.gaussian_filter(rng.random((60, 60)), 2) > 0.52))
            Image.fromarray(opacity).save(root / "overlays" / kind / f"{number:04}.png")
    for number in range(1, 8):
        corners = rng.uniform(0, [4900, 3380], (3000, 2))
        outlines = [
            {"label": "Scratch" if i % 9 == 0 else "Dust", "points": points.tolist()}
            for i, points in enumerate(corners[:, None] + np.array([[0, 0], [9, 1], [5, 11]]))
        ]
        (root / "film" / f"scan{number}.json").write_text(json.dumps(outlines))
    return root


def test_no_file_is_in_two_parts(folder):
    parts = [load_material(folder, part) for part in ("training", "choosing", "confirming")]
    assert [len(part.photographs) for part in parts] == [16, 2, 2]
    assert [len(part.frames) for part in parts] == [5, 1, 1]
    assert [len(part.overlays) for part in parts] == [32, 4, 4]
    seen = [photograph.tobytes() for part in parts for photograph in part.photographs]
    assert len(set(seen)) == len(seen) == 20


def test_further_photographs_are_divided_too(folder):
    further = [folder / "photographs"]
    assert len(load_material(folder, "choosing", further).photographs) == 4


def test_a_part_around_a_place_shows_it(folder):
    material = load_material(folder, "training")
    dark = np.zeros((400, 400, 3), np.uint8)
    dark[100:110, 300:310] = 255
    one = Material((dark,), material.frames, material.overlays)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        part = aged_part(one, (96, 96), rng, Place(0, 105, 305, 1.0))
        assert np.ptp(ndimage.gaussian_filter(part.plane, 2)) > 0.3


@pytest.mark.parametrize("shape", [*CHANCES, None])
def test_damage_is_where_the_picture_was_changed(folder, shape):
    material = load_material(folder, "training")
    for seed in range(6):
        shapes = () if shape is None else (shape,)
        sample = compose(material, SHAPE, np.random.default_rng(seed), shapes=shapes)
        assert sample.plane.shape == sample.truth.shape == SHAPE
        assert sample.tint.shape == (2, SHAPE[0] // 2, SHAPE[1] // 2)
        assert np.isfinite(sample.plane).all()
        assert np.isfinite(sample.tint).all()
        change = np.abs(sample.plane - sample.clean)
        if sample.truth.sum() > 20:
            assert change[sample.truth].mean() > 4 * change[~sample.truth & sample.known].mean()
        if shape is None:
            assert not sample.truth.any()
            assert sample.known.all()
            np.testing.assert_array_equal(sample.plane, sample.clean)


def test_the_same_seed_makes_the_same_picture(folder):
    material = load_material(folder, "training")
    for seed in range(5):
        first, second = (compose(material, SHAPE, np.random.default_rng(seed)) for _ in range(2))
        np.testing.assert_array_equal(first.plane, second.plane)
        np.testing.assert_array_equal(first.truth, second.truth)


def test_damage_covers_the_colors_of_a_picture(folder):
    material = load_material(folder, "training")
    inside, outside = [], []
    for seed in range(40):
        sample = compose(material, SHAPE, np.random.default_rng(seed), shapes=("crack",) * 3)
        strength, damaged = np.hypot(*sample.tint), sample.truth[::2, ::2] & sample.truth[1::2, 1::2]
        if damaged.sum() > 50 and strength.max() > 0.1:
            inside.append(strength[damaged].mean())
            outside.append(strength[~damaged].mean())
    assert len(inside) > 5
    assert np.mean(inside) < 0.8 * np.mean(outside)


def test_some_pictures_are_gray_some_tinted_and_some_in_color(folder):
    material = load_material(folder, "training")
    kinds = set()
    for seed in range(30):
        tint = aged_part(material, SHAPE, np.random.default_rng(seed)).tint
        hues = np.arctan2(*tint[:, np.hypot(*tint) > 0.02])
        kinds.add("gray" if not tint.any() else "tinted" if hues.size and np.ptp(hues) < 0.5 else "color")
    assert kinds == {"gray", "tinted", "color"}


def test_scratches_of_film_are_apart_from_its_dust(folder):
    material = load_material(folder, "choosing")
    covers = [film_damage(SHAPE, material, np.random.default_rng(seed)) for seed in range(10)]
    assert sum(dust.sum() for dust, _ in covers) > 3 * sum(lines.sum() for _, lines in covers) > 0


def test_a_large_piece_of_film_damage_can_be_asked_for(folder):
    material = load_material(folder, "choosing")
    hair = np.array([[4000.0, 3000.0], [4300.0, 3100.0], [4010.0, 3080.0]])
    outlines = [Outline(hair, False), *(Outline(hair / 30 + 400 * i, False) for i in range(5))]
    low, high = (np.array([edge(each.points, axis=0) for each in outlines]) for edge in (np.min, np.max))
    one = Material(material.photographs, (Frame(tuple(outlines), low, high),), material.overlays)
    hits = [0, 0]
    for is_large in (False, True):
        for seed in range(40):
            rng = np.random.default_rng(seed)
            dust, _ = film_damage((192, 192), one, rng, 0.5, is_large=is_large)
            hits[is_large] += dust.sum() > 200
    assert hits[0] < 3
    assert hits[1] > 15


def test_some_cracks_are_gray_and_some_nearly_white(folder):
    material = load_material(folder, "training")
    tones = []
    for seed in range(60):
        sample = compose(material, SHAPE, np.random.default_rng(seed), shapes=("crack",))
        light = sample.truth & (sample.plane > sample.clean)
        if light.sum() > 50:
            tones.append(np.median(sample.plane[light]))
    assert min(tones) < 0.6
    assert max(tones) > 0.9


def test_a_training_can_begin_with_the_weights_of_the_library():
    torch = pytest.importorskip("torch")
    from experiments.detector.network import Network, folded, unfold

    rng = np.random.default_rng(0)
    plane, tint = rng.random((64, 96), np.float32), rng.normal(0, 0.1, (2, 32, 48)).astype(np.float32)
    given = torch.from_numpy(plane)[None, None], torch.from_numpy(tint)[None]
    network = Network()
    weights = Path(detection.__file__).with_name("network.npz")
    unfold(network, weights, *given)
    with torch.no_grad():
        logits = network(*given)[0].numpy()
        normalized = network.train()(*given)[0].numpy()
    expected = load_network().logits(plane, tint)
    np.testing.assert_allclose(logits, expected, atol=1e-3)
    np.testing.assert_allclose(normalized, expected, atol=0.5)
    again = folded(network.eval())
    with np.load(weights) as arrays:
        for name, values in again.items():
            assert (np.array(values.shape) >= arrays[name].shape).all()  # channels can be added


def test_a_folder_without_photographs_is_named(tmp_path):
    (tmp_path / "photographs").mkdir()
    with pytest.raises(FileNotFoundError, match="no photographs"):
        load_material(tmp_path, "training")


def test_listed_photographs_are_collected_and_reduced(tmp_path, monkeypatch):
    (tmp_path / "package").mkdir()
    for name, size in (("face.jpg", (300, 200)), ("tree one.jpg", (3000, 1500))):
        Image.new("RGB", size).save(tmp_path / "package" / name)
    (tmp_path / "list.txt").write_text("people package/face.jpg\nmore package/tree one.jpg\n")
    monkeypatch.setattr(collect, "_LIST", tmp_path / "list.txt")
    collect.collect(tmp_path, tmp_path / "out")
    sizes = {}
    for path in (tmp_path / "out").rglob("*.jpg"):
        with Image.open(path) as picture:
            sizes[path.relative_to(tmp_path / "out").as_posix()] = picture.size
    assert sizes == {"people/000.jpg": (300, 200), "more/001.jpg": (1400, 700)}
