"""The PSNR of missing pixels, estimated without the original, against the true one."""

import numpy as np

from benchmarks.measure import print_table
from benchmarks.pictures import Mask, damages, photographs
from dictsel_core import PresetName, estimate_psnr, psnr, restore

_LENGTH = 256
#: Size of square holes, and where the first one is; others of the same size follow at this distance.
_HOLES = {"24 px holes": (24, (40, 60), 104), "60 px hole": (60, (98, 98), _LENGTH)}


def main(preset: PresetName = "balanced") -> None:
    """Print true and estimated PSNR by picture and damage, and how often the interval holds the truth."""
    rows, inside = [], []
    for damage, mask in _damages().items():
        for name, image in photographs(_LENGTH).items():
            estimate = estimate_psnr(image, mask, preset)
            truth = psnr(image, restore(image, mask, preset).image, mask=mask)
            inside.append(estimate.low <= truth <= estimate.high)
            rows.append(
                [
                    f"{damage}, {name}",
                    f"{truth:.1f}",
                    f"{estimate.psnr:.1f}" if estimate.is_known else "none",
                    f"{estimate.low:.1f} to {estimate.high:.1f}",
                    "yes" if inside[-1] else "no",
                ]
            )
    title = f"Estimated PSNR of the missing pixels, preset {preset}, gray photographs of 256 x 256"
    print_table(title, ["damage, picture", "true", "estimate", "90 % interval", "inside"], rows)
    print(f"inside: {np.mean(inside):.0%} of {len(inside)}")


def _damages() -> dict[str, Mask]:
    masks = damages((_LENGTH, _LENGTH))
    for name, (size, (top, left), distance) in _HOLES.items():
        mask = np.zeros((_LENGTH, _LENGTH), bool)
        for y in range(top, _LENGTH - size, distance):
            for x in range(left, _LENGTH - size, distance):
                mask[y : y + size, x : x + size] = True
        masks[name] = mask
    return masks
