"""Restore small pictures, so that the window need not compile anything later and stand still meanwhile."""

import numpy as np

from dictsel_core import restore


def main() -> None:
    """Call every kernel with every type of arguments that pictures lead to."""
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (96, 96, 3), np.uint8)
    mask = rng.random(image.shape) < 0.3
    mask[30:60, 30:60] = True  # wide enough for a completion
    restore(image, mask, channel_axis=2)
    restore(image, mask[:, :, 0], channel_axis=2)
    restore(image[:, :, 0], mask[:, :, 0])
    restore(image[:, :, 0], rng.random(image.shape[:2]) < 0.1)  # little enough for Replacement OMP


if __name__ == "__main__":
    main()
