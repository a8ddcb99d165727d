"""Detection of damage: what is found and what is not, false marks, the restored picture, seconds.

Cracks, scratches, dust and hairs are drawn on photographs that no network was trained on, as those it was
trained on are (`experiments.detector`). With ``--damage FOLDER``, the outlines of real film damage and the
photographs of that folder are used, of which a tenth is kept for this; without, the photographs inside
scikit-image, and drawn shapes alone.
"""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from benchmarks.detect_drawn import (
    CHOOSING,
    CONFIRMING,
    SENSITIVITIES,
    accuracy,
    count_marks,
    false_marks,
    photograph,
    precision_and_recall,
)
from benchmarks.measure import print_table
from dictsel_core import restore
from dictsel_core.damage_kinds import DAMAGE_KINDS, USUAL_KINDS
from dictsel_core.detection import analyze_damage
from dictsel_core.detection.network import load_network, read_network
from experiments.detector.compose import Sample, compose
from experiments.detector.dusted import dusted
from experiments.detector.material import Material, load_material

#: Shapes that are drawn into one picture, by what they show.
CLASSES: dict[str, tuple[str, ...]] = {
    "cracks": ("crack", "crack"),
    "folds, faint": ("fold", "fold"),
    "scratches": ("scratches", "scratches"),
    "thin cracks, many fine scratches": ("hairline", "scuffs"),
    "creases": ("crease",),
    "tears, lost emulsion": ("tear", "flakes"),
    "dust, hairs: film": ("film",),
    "dust, hairs: drawn": ("specks", "hairs"),
    "overlays": ("overlay", "overlay"),
}
_FROM_FOLDER = ("film", "overlay")
_N_PICTURES = 24
_SHAPE = (320, 320)


def main(damage: Path | None = None, weights: Sequence[Path] = ()) -> None:
    """Print all tables; or, where weights are given, compare them with those of the library."""
    material = _photographs_of_scikit_image() if damage is None else load_material(damage, "confirming")
    if weights:
        compare(material, damage, weights)
        return
    learned_accuracy(material)
    if material.frames:
        dust_on_whole_photographs(material)
    undamaged(material, damage)
    restored(material)
    for title, names in (("chosen on", CHOOSING), ("confirmed on", CONFIRMING)):
        accuracy(title, names)
        false_marks(title, names)
    seconds()
    if damage is not None:
        draw_examples(damage / "old")


def _photographs_of_scikit_image() -> Material:
    pictures = [photograph(name) for name in (*CHOOSING, *CONFIRMING)]
    colored = [np.repeat(each[..., None], 3, axis=2) if each.ndim == 2 else each for each in pictures]
    return Material(tuple(colored), (), ())


def _samples(material: Material) -> Iterator[tuple[str, Sample, NDArray[np.uint8]]]:
    """Return damaged pictures with their class."""
    for name, shapes in CLASSES.items():
        if any(each in _FROM_FOLDER for each in shapes) and not material.frames:
            continue
        for number in range(_N_PICTURES):
            sample = compose(material, _SHAPE, np.random.default_rng([1, number]), shapes=shapes)
            yield name, sample, _as_picture(sample.plane, sample.tint)


def _as_picture(plane: NDArray[np.float32], tint: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return a picture in color from its brightness, and from how much brighter red and blue are."""
    red, blue = np.repeat(np.repeat(tint, 2, axis=1), 2, axis=2)
    colors = plane[..., None] + np.stack([red, -red - blue, blue], axis=2)
    return np.asarray(np.rint(np.clip(colors, -0.25, 1.25) * 170 + 42.5), np.uint8)


def learned_accuracy(material: Material) -> None:
    """Print precision and recall by class, how often the kind is right, and how sure one can be."""
    counts = {name: np.zeros((len(SENSITIVITIES), 4)) for name in CLASSES}
    kinds = {name: np.zeros(2) for name in CLASSES}
    regions: list[tuple[float, bool]] = []
    for name, sample, picture in _samples(material):
        analysis = analyze_damage(picture, USUAL_KINDS)
        damaged = sample.truth | ~sample.known
        counts[name] += count_marks(analysis, sample.truth, damaged)
        lines = analysis.mask(kinds=["scratches"])
        found = analysis.mask() & sample.truth
        kinds[name] += [(found & (lines == sample.is_line)).sum(), found.sum()]
        for number, confidence in enumerate(analysis.confidences):
            touched = damaged.reshape(-1)[analysis.region_pixels(number)].any()
            regions.append((float(confidence), bool(touched)))
    rows = [
        [name, *precision_and_recall(counts[name]), f"{kinds[name][0] / max(kinds[name][1], 1):.2f}"]
        for name in CLASSES
        if counts[name].any()
    ]
    header = ["class", *(str(each) for each in SENSITIVITIES), "right kind"]
    print_table("Precision / recall of damaged pixels by sensitivity", header, rows)
    _print_calibration(regions)


def dust_on_whole_photographs(material: Material) -> None:
    """Print precision and recall of film dust that is laid over whole photographs, new and in color.

    It is light or dark, nearly opaque, and counts where it changes the brightness by a tenth of the range.
    """
    header = ["", *(str(each) for each in SENSITIVITIES)]
    rows = [["film dust", *precision_and_recall(_dust_counts(material))]]
    print_table("Precision / recall of film dust on whole photographs, by sensitivity", header, rows)


def _dust_counts(material: Material) -> NDArray[np.float64]:
    counts = np.zeros((len(SENSITIVITIES), 4))
    for number, whole in enumerate(material.photographs):
        picture, truth, touched = dusted(whole, material, np.random.default_rng([2, number]))
        counts += count_marks(analyze_damage(picture, USUAL_KINDS), truth, touched)
    return counts


def compare(material: Material, damage: Path | None, weights: Sequence[Path]) -> None:
    """Print what networks find of the same pictures: those of the library, then others."""
    networks = [load_network()]
    for path in weights:
        with path.open("rb") as stream:
            networks.append(read_network(stream))
    chosen, names = [SENSITIVITIES.index(each) for each in (0.3, 0.5, 0.7)], ["library", *map(str, weights)]
    counts = np.zeros((len(CLASSES) + 1, len(networks), len(SENSITIVITIES), 4))
    false: dict[str, list[list[float]]] = {}
    for number, network in enumerate(networks):
        with patch("dictsel_core.detection.learned.load_network", return_value=network):
            for name, sample, picture in _samples(material):
                damaged = sample.truth | ~sample.known
                marks = count_marks(analyze_damage(picture, USUAL_KINDS), sample.truth, damaged)
                counts[list(CLASSES).index(name), number] += marks
            counts[-1, number] = _dust_counts(material) if material.frames else 0
            for name, pictures in _undamaged_groups(material, damage).items():
                masks = [analyze_damage(each, USUAL_KINDS).mask() for each in pictures]
                false.setdefault(name, []).append([100 * each.mean() for each in masks])
    rows = [
        [name, *(cell for each in of_class for cell in precision_and_recall(each[chosen]))]
        for name, of_class in zip([*CLASSES, "film dust, whole photographs"], counts, strict=True)
    ]
    header = ["class", *(f"{name}, {SENSITIVITIES[i]}" for name in names for i in chosen)]
    print_table("Precision / recall of damaged pixels, by weights and sensitivity", header, rows)
    rows = [
        [name, *(f"{np.mean(each):.2f} ({np.max(each):.2f})" for each in of_group)]
        for name, of_group in false.items()
    ]
    print_table("Percent of undamaged pictures that are marked: mean (largest)", ["", *names], rows)


def _print_calibration(regions: list[tuple[float, bool]]) -> None:
    confidence, right = np.array([each[0] for each in regions]), np.array([each[1] for each in regions])
    rows = []
    for low in np.arange(0.1, 1, 0.1):
        chosen = (confidence >= low) & (confidence < low + 0.1)
        rows.append([f"{low:.1f} to {low + 0.1:.1f}", str(chosen.sum()), f"{right[chosen].mean():.2f}"])
    print_table("Regions that touch damage, by their confidence", ["confidence", "regions", "right"], rows)


def undamaged(material: Material, damage: Path | None) -> None:
    """Print which part of undamaged pictures is marked."""
    rows = []
    for name, pictures in _undamaged_groups(material, damage).items():
        analyses = [analyze_damage(each, USUAL_KINDS) for each in pictures]
        parts = [[100 * each.mask(s).mean() for each in analyses] for s in SENSITIVITIES]
        rows.append([f"{name} ({len(pictures)})", *(f"{np.mean(p):.2f} ({np.max(p):.2f})" for p in parts)])
    header = ["undamaged", *(str(each) for each in SENSITIVITIES)]
    print_table("Percent of undamaged pictures that are marked: mean (largest), by sensitivity", header, rows)


def _undamaged_groups(material: Material, damage: Path | None) -> dict[str, list[NDArray[np.uint8]]]:
    groups = {"photographs": list(material.photographs)}
    for path in sorted((damage / "old").glob("uncracked_*.png")) if damage else []:
        groups[path.stem] = [np.asarray(Image.open(path).convert("RGB"))]
    return groups


def restored(material: Material, n_pictures: int = 8) -> None:
    """Print the error of pictures restored with what was found, and with the true mask.

    Also in those pieces of the damage alone of which at least a half was found: there, the rims that the mask
    leaves out are what remains.
    """
    rows = []
    errors: dict[str, list[NDArray[np.float64]]] = {}
    for name, sample, picture in _samples(material):
        of_class = errors.setdefault(name, [])
        if len(of_class) < n_pictures and sample.truth.sum() > 100:
            of_class.append(_restoration_errors(sample, picture))
    for name, of_class in errors.items():
        sums = np.sum(of_class, axis=0)
        decibels = [f"{-10 * np.log10(each / sums[6]):.1f}" for each in sums[:3]]
        where_found = [f"{-10 * np.log10(each / max(sums[7], 1)):.1f}" for each in sums[3:6]]
        rows.append([name, *decibels, *where_found[1:], f"{100 * sums[8] / sums[9]:.2f}"])
    print_table(
        "PSNR in the damage (dB), the same where it was found, percent of undamaged pixels that are changed",
        ["class", "damaged", "found mask", "true mask", "found, where found", "true, where found", "changed"],
        rows,
    )


def _restoration_errors(sample: Sample, picture: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return sums of squared errors as it is, with the mask found, and with the true one.

    First in all damage, then in what was found of it; then the pixels of both, those that are changed
    although they are undamaged, and all undamaged ones.
    """
    clean = _as_picture(sample.clean, 0 * sample.tint)[..., 0] / 255
    found = analyze_damage(picture, USUAL_KINDS).mask()
    true = sample.truth | ~sample.known
    labels, n_pieces = ndimage.label(sample.truth, np.ones((3, 3)))
    parts = ndimage.mean(found, labels, np.arange(n_pieces + 1))
    hit = (np.asarray(parts) >= 0.5)[labels] & sample.truth
    results = [restore(picture, mask, "fast").image if mask.any() else picture for mask in (found, true)]
    squares = [(values.mean(axis=2) / 255 - clean) ** 2 for values in (picture, *results)]
    changed = found & ~ndimage.binary_dilation(true, iterations=2)
    return np.array(
        [
            *(each[sample.truth].sum() for each in squares),
            *(each[hit].sum() for each in squares),
            *(each.sum() for each in (sample.truth, hit, changed, ~true)),
        ]
    )


def seconds() -> None:
    """Print the processor time of the analysis, and of a mask."""
    astronaut = photograph("astronaut")
    rows = []
    for tiles in ((2, 2), (8, 12)):
        picture = np.tile(astronaut, (*tiles, 1))
        area = picture.shape[0] * picture.shape[1] / 1e6
        for kinds in (USUAL_KINDS, *((kind,) for kind in DAMAGE_KINDS if kind not in USUAL_KINDS)):
            start = time.process_time()
            analysis = analyze_damage(picture, kinds)
            middle = time.process_time()
            analysis.mask(0.6)
            taken = time.process_time() - middle
            rows.append([", ".join(kinds), f"{area:.1f}", f"{middle - start:.2f}", f"{taken:.4f}"])
    print_table(
        "Processor time of pictures in color",
        ["kinds", "megapixels", "seconds", "seconds for a mask"],
        rows,
    )


def draw_examples(folder: Path, path: Path = Path("docs/detection.jpg")) -> None:
    """Draw old photographs as they are, with what is found in red, and as ``inpaint repair`` leaves them."""
    rows = []
    for name in ("photo1", "photo2", "uncracked_a"):
        source = folder / f"{name}.png"
        picture = np.asarray(Image.open(source).convert("RGB"))
        mask = analyze_damage(picture, USUAL_KINDS).mask()
        marked = np.where(mask[..., None], np.array([255, 0, 0], np.uint8), picture)
        rows += [np.hstack([_of_height(each) for each in (picture, marked, _repaired(source))])]
    width = max(each.shape[1] for each in rows)
    padded = [
        np.pad(each, ((0, 8), (0, width - each.shape[1]), (0, 0)), constant_values=255) for each in rows
    ]
    Image.fromarray(np.vstack(padded)).save(path, quality=82)


def _repaired(source: Path) -> NDArray[np.uint8]:
    with TemporaryDirectory() as folder:
        target = Path(folder) / "repaired.png"
        program = Path(sys.executable).with_name("inpaint")
        subprocess.run([program, "repair", source, "-o", target], check=True)
        left = target if target.exists() else source  # where no damage is found, nothing is written
        return np.asarray(Image.open(left).convert("RGB"))


def _of_height(picture: NDArray[np.uint8], height: int = 420) -> NDArray[np.uint8]:
    size = (round(picture.shape[1] * height / picture.shape[0]), height)
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS))
