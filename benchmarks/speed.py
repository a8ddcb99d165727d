"""Where users wait: one table, with what is wanted beside what is measured, as ratios within one run."""

import resource
import runpy
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np
import skimage.data
from skimage.draw import line
from skimage.restoration import inpaint_biharmonic

from benchmarks import coding
from benchmarks.data import synthetic
from benchmarks.measure import print_table
from benchmarks.pictures import Image, Mask
from dictsel_core import (
    IndividualSparsity,
    Restoration,
    RestoreSettings,
    replacement_omp,
    restore,
    restore_region,
    standard_ground_set,
)
from dictsel_core.restoration import PresetName
from inpaint_app.engine import restore as jobs
from inpaint_app.engine.control import CancelledError, JobControl
from inpaint_app.model.picture import Rect

Result = TypeVar("Result")
Row = tuple[str, str, str, str, str]

#: Calls every kernel once; `make run` does the same.
_COMPILE = str(Path(__file__).parents[1] / ".ci" / "compile_kernels.py")
_HEADER = ("work", "seconds", "processor", "measured", "wanted")


@dataclass(frozen=True)
class Timing:
    """Seconds by the clock, and of processor time in all threads."""

    clock: float
    processor: float

    def row(self, work: str, measured: str, wanted: str) -> Row:
        """Return a line of the table."""
        return work, f"{self.clock:.2f}", f"{self.processor:.2f}", measured, wanted


def main(scale: float = 1.0) -> None:
    """Print the table; the sides of the large pictures are multiplied by `scale`."""
    print("Under a minute per line on two idle cores; processor time means more on a busy machine.")
    runpy.run_path(_COMPILE, run_name="__main__")  # so that no line of the table is about the compiler
    rows: list[Row] = []
    for row in _rows(scale):
        print(f"  {row[0]}: {row[3]}", flush=True)
        rows.append(row)
    print_table("Where users wait", _HEADER, rows)


def _rows(scale: float) -> Iterator[Row]:
    yield from _work_and_damage(scale)
    yield from _against_biharmonic()
    yield from _preview(scale)
    yield from _selection_steps()
    if find_spec("spams") is None:
        yield "masked omp over spams.ompMask", "-", "-", "spams is not installed", "4x faster"
        return
    seconds = coding.measure()
    ours, theirs, products = (median(each) for each in seconds.values())
    yield "masked omp over spams.ompMask", f"{ours:.3f}", "-", f"{theirs / ours:.2f}x faster", "4x faster"
    yield "masked omp over its products", f"{ours:.3f}", "-", f"{ours / products:.2f}x", "under 3x"


def _work_and_damage(scale: float) -> Iterator[Row]:
    """Compare the cost of a missing pixel in sparse and in dense damage; then one more stroke."""
    rng = np.random.default_rng(0)
    large = _color(round(4000 * scale), round(6000 * scale))
    scratches = _scratches(large.shape[:2], 0.016, rng)
    sparse, restored = _timed(partial(restore, large, scratches, channel_axis=-1))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # KiB on Linux
    stroke_row = _stroke(large, scratches.copy(), restored)
    dense_image = _color(round(1634 * scale), round(2448 * scale))
    random = rng.random(dense_image.shape[:2]) < 0.8
    dense, _ = _timed(partial(restore, dense_image, random, channel_axis=-1))
    cost = (sparse.processor / scratches.sum()) / (dense.processor / random.sum())
    name = f"{_megapixels(large)} RGB, {scratches.mean():.1%} scratches"
    yield sparse.row(
        f"{name}, per missing pixel over 80 % random", f"{cost:.2f}x", "2.5x; about 20 s at 24 MP"
    )
    yield stroke_row
    yield dense.row(f"{_megapixels(dense_image)} RGB, 80 %", f"{dense.clock:.1f} s", "30 s at 4 MP")
    yield f"{name}, peak memory", "-", "-", f"{peak:.2f} GiB in all", "1.2 GB at 24 MP"


def _stroke(image: Image, mask: Mask, restored: Restoration) -> Row:
    """Restore one more stroke of 20 x 200 pixels, into the image at hand."""
    middle = image.shape[0] // 2
    stroke = np.s_[middle : middle + 20, middle : middle + 200]
    mask[stroke] = True
    timing, _ = _timed(partial(restore_region, image, mask, restored, stroke, channel_axis=-1, in_place=True))
    return timing.row("  one more stroke of 20 x 200", f"{timing.clock:.2f} s", "under 1 s")


def _against_biharmonic() -> Iterator[Row]:
    """Compare the presets with scikit-image's biharmonic inpainting; of either the best of three runs."""
    camera = skimage.data.camera()
    cases: dict[str, tuple[Image, float, dict[PresetName, str]]] = {
        "512 x 512 gray, 80 %": (
            camera,
            0.8,
            {"fast": "0.05", "balanced": "0.1", "best": "0.2", "finest": "none"},
        ),
        "256 x 256 gray, 50 %": (camera[100:356, 130:386], 0.5, {"balanced": "2"}),
    }
    for name, (image, missing, presets) in cases.items():
        mask = np.random.default_rng(1).random(image.shape) < missing
        broken = np.where(mask, 0, image).astype(np.uint8)
        theirs = _best_of_three(partial(inpaint_biharmonic, broken, mask))
        for preset, wanted in presets.items():
            ours = _best_of_three(partial(restore, broken, mask, preset))
            yield ours.row(
                f"{name}, {preset} over biharmonic",
                f"{ours.clock / theirs.clock:.2f} (processor {ours.processor / theirs.processor:.2f})",
                wanted,
            )


def _preview(scale: float) -> Iterator[Row]:
    """Time the first image of a preview after a slider has moved, in a picture of 12 megapixels."""
    picture = _color(round(3000 * scale), round(4000 * scale))
    mask = np.random.default_rng(3).random(picture.shape[:2]) < 0.8
    settings = replace(RestoreSettings(), n_atoms=20)
    request = jobs.RestoreRequest(picture, mask, settings)
    middle = picture.shape[0] // 2
    square = Rect(middle, middle, 160, 160)  # the size of the first preview

    def first_image() -> None:
        control = JobControl()
        control.report = lambda _: control.cancel()
        with suppress(CancelledError):
            jobs.preview(request, square, control)

    timing = _best_of_three(first_image)
    yield timing.row(
        f"{_megapixels(picture)}: slider moved to preview shown", f"{timing.clock:.2f} s", "under 0.3 s"
    )


def _selection_steps() -> Iterator[Row]:
    """Time a step of Replacement OMP, and the part of it that does not depend on the number of points."""
    ground_set = standard_ground_set()
    data, _ = synthetic(ground_set, 100, 100, 5, seed=2)

    def steps(n_points: int) -> Timing:
        work = partial(replacement_omp, ground_set, data[:n_points], IndividualSparsity(5), 20)
        return min((_timed(work)[0] for _ in range(200)), key=lambda each: each.processor)  # for a second

    steps(2)
    whole, calls = steps(100), steps(2)
    yield whole.row(
        "replacement_omp, T = 100, k = 20",
        f"{whole.processor / 20 * 1e3:.2f} ms a step, {calls.processor / 20 * 1e3:.2f} with T = 2",
        "0.25 ms",
    )


def _best_of_three(work: Callable[[], object]) -> Timing:
    return min((_timed(work)[0] for _ in range(3)), key=lambda each: each.clock)


def _timed(work: Callable[[], Result]) -> tuple[Timing, Result]:
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    return Timing(time.perf_counter() - clock, time.process_time() - processor), result


def _megapixels(image: Image) -> str:
    return f"{image.shape[0] * image.shape[1] / 1e6:.2g} MP"


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
