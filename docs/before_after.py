"""Make the pictures before and after restoration of the README, of the home page and of holes.md.

python docs/before_after.py [OLD_PHOTOGRAPH]

Without an old photograph, the pair of the home page that shows one stays as it is.
"""

import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import skimage.data
from numpy.typing import NDArray
from PIL import Image
from skimage.draw import polygon

from dictsel_core import restore

FOLDER = Path(__file__).parent
PAIRS = FOLDER / "_static" / "uses"
SCRIPTS = ("1_scratches", "2_lettering", "4_dropout", "6_clouds")
#: Corners of a line around the rocket: rows and columns.
OUTLINE = (60, 60, 426, 426), (290, 350, 372, 270)

Pixels = NDArray[Any]


def main() -> None:
    """Write all of them."""
    mpl.use("agg")
    sys.path.insert(0, str(FOLDER / "gallery"))
    draw_sheet()
    removed = without_rocket()
    gap = np.full_like(removed[0][:, :8], 255)
    Image.fromarray(np.concatenate([removed[0], gap, removed[1]], axis=1)).save(
        FOLDER / "removal.jpg", quality=88
    )
    save_pair("object", *(each[20:420, 100:500] for each in removed))
    for path in sys.argv[1:]:
        save_pair("old_photograph", *repaired(Path(path)))


def draw_sheet() -> None:
    """Write the picture of the README, damaged above, restored below, and the pairs it is made of."""
    sheet, axes = plt.subplots(2, len(SCRIPTS), figsize=(11.2, 6), layout="constrained")
    for column, script in enumerate(SCRIPTS):
        runpy.run_path(str(FOLDER / "gallery" / f"plot_{script}.py"))
        damaged, restored, _ = plt.gcf().axes
        for axis, source in zip(axes[:, column], (damaged, restored), strict=True):
            axis.imshow(shown(source))
            axis.set_title(source.get_title(), fontsize=11)
            axis.set_axis_off()
        save_pair(script[2:], shown(damaged), shown(restored))
    sheet.savefig(FOLDER / "before_after.jpg", dpi=90, pil_kwargs={"quality": 88})


def shown(axis: Any) -> Pixels:  # noqa: ANN401  (matplotlib has no types)
    """Return the picture of a panel as it is seen, (H, W, 3)."""
    (picture,) = axis.images
    rgba: Pixels = picture.make_image(None, unsampled=True)[0]
    return rgba[:, :, :3]


def without_rocket() -> tuple[Pixels, Pixels]:
    """Return a photograph of scikit-image, and the same without the rocket."""
    image = skimage.data.rocket()
    mask = np.zeros(image.shape[:2], bool)
    mask[polygon(*OUTLINE)] = True
    return image, restore(image, mask).image


def repaired(path: Path) -> tuple[Pixels, Pixels]:
    """Return a photograph, and what ``inpaint repair`` makes of it."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "repaired.png"
        subprocess.run([sys.executable, "-m", "inpaint_app", "repair", path, "-o", output], check=True)
        return tuple(np.asarray(Image.open(each).convert("RGB")) for each in (path, output))


def save_pair(name: str, before: Pixels, after: Pixels) -> None:
    """Write two pictures at the size of the home page."""
    for suffix, pixels in (("before", before), ("after", after)):
        picture = Image.fromarray(pixels)
        scale = 480 / max(picture.size)
        size = tuple(round(scale * length) for length in picture.size)
        way = Image.Resampling.NEAREST if scale > 1 else Image.Resampling.LANCZOS
        picture.resize(size, way).save(PAIRS / f"{name}_{suffix}.jpg", quality=85)


if __name__ == "__main__":
    main()
