"""Detection of dead pixels, dead lines and stamps, drawn on photographs inside scikit-image."""

from collections.abc import Iterable

import numpy as np
import skimage.data
from numpy.typing import NDArray
from scipy import ndimage

from benchmarks.drawn_damage import DAMAGE, Picture
from benchmarks.measure import print_table
from benchmarks.pictures import Mask
from dictsel_core.damage_kinds import DamageKind
from dictsel_core.detection import DamageAnalysis, analyze_damage

SENSITIVITIES = (0.1, 0.3, 0.5, 0.7, 0.9)
#: Features, weights and thresholds were chosen on the first; the second was run when they stood.
CHOOSING = ("astronaut", "camera", "chelsea", "brick", "motorcycle", "coffee", "rocket")
CONFIRMING = (
    "coins",
    "moon",
    "grass",
    "clock",
    "gravel",
    "immunohistochemistry",
    "retina",
    "hubble_deep_field",
)
_MAX_SHAPE = (512, 640)
#: Marks within so many pixels of damage are right: masks reach a little over it.
NEAR = 2


def photograph(name: str) -> Picture:
    """Return one of the photographs inside scikit-image; of large ones, the middle."""
    loaded = skimage.data.stereo_motorcycle()[0] if name == "motorcycle" else getattr(skimage.data, name)()
    picture = np.asarray(loaded)
    top, left = (max(0, side - limit) // 2 for side, limit in zip(picture.shape, _MAX_SHAPE, strict=False))
    return picture[top : top + _MAX_SHAPE[0], left : left + _MAX_SHAPE[1]]


def accuracy(title: str, names: Iterable[str], n_seeds: int = 2) -> None:
    """Print precision and recall by kind and sensitivity."""
    rows = []
    for kind, draw in DAMAGE.items():
        counts = np.zeros((len(SENSITIVITIES), 4))
        for name in names:
            picture = photograph(name)
            if kind == "stamps" and picture.ndim == 2:
                continue
            for seed in range(n_seeds):
                damaged, truth = draw(picture, np.random.default_rng(seed))
                counts += count_marks(analyze_damage(damaged, [kind]), truth, truth)
        rows.append([kind, *precision_and_recall(counts)])
    print_table(
        f"Precision / recall of damaged pixels by sensitivity, {title} {', '.join(names)}",
        ["kind", *(str(each) for each in SENSITIVITIES)],
        rows,
    )


def count_marks(analysis: DamageAnalysis, truth: Mask, allowed: Mask) -> NDArray[np.float64]:
    """Return, by sensitivity: marks near what is allowed, all marks, damage that is marked, all damage."""
    near = ndimage.binary_dilation(allowed, iterations=NEAR)
    masks = [analysis.mask(each) for each in SENSITIVITIES]
    return np.array([[(m & near).sum(), m.sum(), (m & truth).sum(), truth.sum()] for m in masks], float)


def precision_and_recall(counts: NDArray[np.float64]) -> list[str]:
    """Return both for each row of `count_marks`."""
    right, marked, found, damage = counts.T
    precision, recall = right / np.maximum(marked, 1), found / np.maximum(damage, 1)
    return [f"{p:.2f} / {r:.2f}" for p, r in zip(precision, recall, strict=True)]


def false_marks(title: str, names: Iterable[str]) -> None:
    """Print how many regions are found in undamaged photographs, per megapixel."""
    kinds: tuple[DamageKind, ...] = tuple(DAMAGE)
    rows = []
    for name in names:
        picture = photograph(name)
        analysis = analyze_damage(picture, kinds)
        area = picture.shape[0] * picture.shape[1] / 1e6
        for_each = [analysis.found(each) for each in SENSITIVITIES]
        cells = [" ".join(f"{found[kind].n_regions / area:.0f}" for kind in kinds) for found in for_each]
        rows.append([name, *cells])
    print_table(
        f"Regions found in undamaged photographs, per megapixel, by sensitivity ({' '.join(kinds)})",
        [title, *(str(each) for each in SENSITIVITIES)],
        rows,
    )
