"""Draw the picture at the top of the README from scripts of the gallery: ``python docs/before_after.py``."""

import runpy
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
SCRIPTS = ("1_scratches", "2_lettering", "4_dropout", "6_clouds")


def main() -> None:
    """Write before_after.jpg: damaged above, restored below."""
    mpl.use("agg")
    sys.path.insert(0, str(FOLDER / "gallery"))
    sheet, axes = plt.subplots(2, len(SCRIPTS), figsize=(11.2, 6), layout="constrained")
    for column, script in enumerate(SCRIPTS):
        runpy.run_path(str(FOLDER / "gallery" / f"plot_{script}.py"))
        damaged, restored, _ = plt.gcf().axes
        for axis, source in zip(axes[:, column], (damaged, restored), strict=True):
            (picture,) = source.images
            axis.imshow(picture.get_array(), cmap="gray", clim=picture.get_clim())
            axis.set_title(source.get_title(), fontsize=11)
            axis.set_axis_off()
    sheet.savefig(FOLDER / "before_after.jpg", dpi=90, pil_kwargs={"quality": 88})


if __name__ == "__main__":
    main()
