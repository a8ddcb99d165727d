"""Where users wait: ratios within one run, from a healing stroke to a whole scan."""

import resource
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from statistics import median
from typing import TypeVar

import numpy as np
import skimage.data
from skimage.draw import line
from skimage.restoration import inpaint_biharmonic

from benchmarks import coding
from benchmarks.measure import print_table, ratio, seconds_in_turns
from benchmarks.pictures import Image, Mask
from dictsel_core import IndividualSparsity, replacement_omp, restore, restore_region, standard_ground_set
from dictsel_core.restoration import PresetName

Result = TypeVar("Result")

#: Rows of the large picture; its columns are 1.5 times as many.
_LARGE = 4000


def main() -> None:
    """Print all tables."""
    _work_and_damage()
    _against_biharmonic()
    _selection_steps()
    if find_spec("spams") is not None:
        coding.main()
    else:
        print("\nspams is not installed: no table of masked OMP against it.")


def _work_and_damage() -> None:
    """Compare the cost of a missing pixel in sparse and in dense damage, and of one more stroke."""
    rng = np.random.default_rng(0)
    small, large = _color(512, 768), _color(_LARGE, _LARGE * 3 // 2)
    scratches = _scratches(large.shape[:2], 0.016, rng)
    rows, per_value = [], {}
    cases = {
        "0.4 MP RGB, 80 % random": (small, rng.random(small.shape[:2]) < 0.8),
        f"{large.shape[0] * large.shape[1] / 1e6:.0f} MP RGB, {scratches.mean():.1%} scratches": (
            large,
            scratches,
        ),
    }
    for name, (image, mask) in cases.items():
        seconds, restored = _timed(partial(restore, image, mask))
        per_value[name] = seconds / mask.sum()
        first = next(iter(per_value.values()))
        rows.append(
            [name, f"{seconds:.1f}", f"{per_value[name] * 1e6:.1f}", f"{per_value[name] / first:.2f}"]
        )
    stroke = np.s_[_LARGE // 2 : _LARGE // 2 + 20, _LARGE // 2 : _LARGE // 2 + 200]
    scratches[stroke] = True
    seconds, _ = _timed(partial(restore_region, large, scratches, restored, stroke))
    rows.append(["  one more stroke of 20 x 200", f"{seconds:.2f}", f"{seconds / 4000 * 1e6:.1f}", ""])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # KiB on Linux
    print_table(
        f"Work and damage: preset balanced; peak memory so far {peak:.2f} GiB in all",
        ["picture", "seconds", "microseconds per missing pixel", "to the first"],
        rows,
    )


def _against_biharmonic() -> None:
    """Compare the presets with scikit-image's biharmonic inpainting."""
    camera = skimage.data.camera()
    presets: dict[str, tuple[Image, float, list[PresetName]]] = {
        "512 x 512 gray, 80 %": (camera, 0.8, ["fast", "balanced", "best"]),
        "256 x 256 gray, 50 %": (camera[100:356, 130:386], 0.5, ["balanced"]),
    }
    rows = []
    for name, (image, missing, names) in presets.items():
        mask = np.random.default_rng(1).random(image.shape) < missing
        broken = np.where(mask, 0, image).astype(np.uint8)
        theirs, _ = _timed(partial(inpaint_biharmonic, broken, mask))
        for preset in names:
            ours, _ = _timed(partial(restore, broken, mask, preset))
            rows.append([f"{name}, {preset}", f"{ours:.2f}", f"{theirs:.2f}", f"{ours / theirs:.2f}"])
    print_table(
        "Presets over scikit-image biharmonic", ["picture", "seconds", "biharmonic", "ours / theirs"], rows
    )


def _selection_steps() -> None:
    """Compare a step of Replacement OMP on few points with its matrix products alone."""
    ground_set = standard_ground_set()
    data = np.random.default_rng(2).normal(size=(100, 64))
    seconds = seconds_in_turns(
        {
            "replacement_omp": lambda: replacement_omp(ground_set, data, IndividualSparsity(5), 20),
            "its products": lambda: [data @ ground_set.atoms for _ in range(20)],
        },
        rounds=9,
    )
    print_table(
        "Selection: T = 100, k = 20",
        ["method", "milliseconds a step", "to its products"],
        [
            [name, f"{median(each) / 20 * 1e3:.3f}", f"{ratio(seconds, name, 'its products'):.1f}"]
            for name, each in seconds.items()
        ],
    )


def _timed(work: Callable[[], Result]) -> tuple[float, Result]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _color(height: int, width: int) -> Image:
    photograph = skimage.data.astronaut()
    copies = -(-height // len(photograph)), -(-width // photograph.shape[1]), 1
    return np.ascontiguousarray(np.tile(photograph, copies)[:height, :width])


def _scratches(shape: tuple[int, int], part: float, rng: np.random.Generator) -> Mask:
    """Return lines of three pixels until this fraction is missing."""
    mask = np.zeros(shape, bool)
    while mask.mean() < part:
        (top, left), (bottom, right) = rng.integers(0, shape, (2, 2))
        rows, columns = line(top, left, bottom, right)
        for shift in range(3):
            mask[np.minimum(rows + shift, shape[0] - 1), columns] = True
    return mask
