"""Draw the picture of a removed object in holes.md: ``python docs/object_removal.py``."""

from pathlib import Path

import numpy as np
import skimage.data
from PIL import Image
from skimage.draw import polygon

from dictsel_core import restore

#: Corners of a line around the rocket: rows and columns.
OUTLINE = (60, 60, 426, 426), (290, 350, 372, 270)


def main() -> None:
    """Write removal.jpg: a photograph of scikit-image, and the same without the rocket."""
    image = skimage.data.rocket()
    mask = np.zeros(image.shape[:2], bool)
    mask[polygon(*OUTLINE)] = True
    pair = np.concatenate([image, np.full_like(image[:, :8], 255), restore(image, mask).image], axis=1)
    Image.fromarray(pair).save(Path(__file__).parent / "removal.jpg", quality=88)


if __name__ == "__main__":
    main()
