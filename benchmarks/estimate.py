"""The PSNR of narrow damage, estimated without the original, against the true one."""

import os
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image as Pillow

from benchmarks.estimated_damage import damages
from benchmarks.measure import print_table
from benchmarks.pictures import Image, Mask, gray
from dictsel_core import estimate_psnr, psnr, restore
from dictsel_core.completion import wide_parts
from dictsel_core.restoration import PresetName

#: Photographs inside scikit-image, in their own size; none of them was used to choose anything.
_PICTURES = (
    "camera",
    "astronaut",
    "chelsea",
    "coffee",
    "rocket",
    "coins",
    "brick",
    "gravel",
    "moon",
    "grass",
)
#: A folder of other pictures, and which of them: first, step and number.
_FOLDER, _WHICH = os.environ.get("ESTIMATE_PICTURES"), os.environ.get("ESTIMATE_WHICH", "0:1:40")


class Case(NamedTuple):
    """True and estimated PSNR of one picture, its interval, and the time relative to the restoration."""

    truth: float
    estimated: float
    low: float
    high: float
    cost: float

    @property
    def is_inside(self) -> bool:
        """Whether the truth lies in the interval."""
        return self.low <= self.truth <= self.high


def main(preset: PresetName = "balanced") -> None:
    """Print bias, deviation and coverage of the estimate by class of damage."""
    cases: dict[str, list[Case]] = {}
    pictures = _pictures()
    for number, (name, image) in enumerate(pictures.items()):
        for damage, mask in damages(image.shape, number).items():
            case = _case(image, mask, preset)
            cases.setdefault(damage, []).append(case)
            print(
                f"{damage}, {name}: {case.truth:.1f} dB, estimated {case.estimated:.1f} "
                f"({case.low:.1f} to {case.high:.1f}){'' if case.is_inside else ', outside'}",
                flush=True,
            )
    header = ["damage", "bias", "deviation", "inside", "width", "time"]
    title = f"Estimated PSNR of narrow damage, preset {preset}, {len(pictures)} whole photographs"
    print_table(title, header, [_row(damage, each) for damage, each in cases.items()])


def _pictures() -> dict[str, Image]:
    if _FOLDER is None:
        return {name: gray(name) for name in _PICTURES}
    first, step, count = map(int, _WHICH.split(":"))
    paths = sorted(path for path in Path(_FOLDER).iterdir() if path.is_file())[first::step][:count]
    return {path.name: np.array(Pillow.open(path).convert("L")) for path in paths}


def _case(image: Image, mask: Mask, preset: PresetName) -> Case:
    start = time.process_time()
    restored = restore(image, mask, preset).image
    middle = time.process_time()
    estimate = estimate_psnr(image, mask, preset)
    cost = (time.process_time() - middle) / (middle - start)
    narrow = mask & ~wide_parts(mask, 8)
    return Case(psnr(image, restored, mask=narrow), estimate.psnr, estimate.low, estimate.high, cost)


def _row(damage: str, cases: list[Case]) -> list[str]:
    errors = [case.estimated - case.truth for case in cases]
    inside = sum(case.is_inside for case in cases)
    return [
        damage,
        f"{np.mean(errors):+.2f} dB",
        f"{np.std(errors):.2f} dB",
        f"{inside} of {len(cases)}",
        f"{np.mean([case.high - case.low for case in cases]):.1f} dB",
        f"{np.median([case.cost for case in cases]):.1f}",
    ]
