"""How far to trust the refinement of a smooth picture, by held-out pixels.

Similar patches know more than a few atoms about texture and edges, but not always about what is smooth.
There, held-out pixels of a few tiles are restored with and without refinement, and the result is a blend.
"""

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from dictsel_core._runs import GeneratorRun
from dictsel_core._threads import as_thread_count
from dictsel_core._validation import Bools
from dictsel_core.restoration.canvas import Canvas, Plane, Planes
from dictsel_core.restoration.coding import detail, patch_coder, restore_planes
from dictsel_core.restoration.held_out import folds
from dictsel_core.restoration.refinement import Refiner
from dictsel_core.restoration.rounds import refine
from dictsel_core.restoration.settings import ResolvedSettings

#: Root mean square of the detail, for unit range, above which a picture is not smooth. Most photographs have
#: 0.02 to 0.055; pictures that lost by refinement had 0.009 to 0.016 (docs/refinement.md).
_MAX_DETAIL = 0.02
_N_TILES, _TILE_SIZE = 6, 64
#: Fewer held-out pixels than this tell nothing.
_MIN_HELD_OUT = 50
#: What is assumed about the weight before anything is measured: its mean, and its variance.
_PRIOR_MEAN, _PRIOR_VARIANCE = 0.5, 0.25
#: Weights nearer to 0 or 1 than this are taken for these.
_MARGIN = 0.05


def is_smooth(planes: Planes) -> bool:
    """Return whether restored planes (H, W, C) have so little detail that refinement may do harm."""
    gray = planes.mean(axis=2)
    return bool(detail(gray, np.zeros(gray.shape, bool)) < _MAX_DETAIL**2)


def refinement_weight(
    canvas: Canvas, dictionary: NDArray[np.float64], settings: ResolvedSettings, n_rounds: int
) -> Generator[float, None, float]:
    r"""Return the weight w of the refined picture r in the blend f + w (r - f) with the unrefined f.

    Least squares on held-out pixels y give :math:`\sum (y - f)(r - f) / \sum (r - f)^2`, which is shrunk
    according to its standard error. Yields the fraction of the work that is done.

    Parameters
    ----------
    canvas : Canvas
        Whose channels share a mask.
    dictionary : (d, k) ndarray
    settings : ResolvedSettings
    n_rounds : int
        Of the refinement.
    """
    missing = canvas.mask(0)
    plane: Plane = canvas.planes().mean(axis=2)
    held_out = folds(missing, np.random.default_rng([settings.seed, 2018]))[0]
    tiles = _tiles(held_out, missing)
    errors, changes = [np.zeros(0)], [np.zeros(0)]
    for number, tile in enumerate(tiles):
        part, chosen = plane[tile], held_out[tile]
        first, refined = _trial(part, missing[tile] | chosen, dictionary, settings, n_rounds)
        errors.append((part - first)[chosen].astype(np.float64))
        changes.append((refined - first)[chosen].astype(np.float64))
        yield (number + 1) / len(tiles)
    return blend_weight(np.concatenate(errors), np.concatenate(changes))


def blend_weight(errors: NDArray[np.float64], changes: NDArray[np.float64]) -> float:
    """Return the weight of changes that brings errors nearest to zero, from 0 to 1; 1 if too few are known.

    Parameters
    ----------
    errors, changes : (N,) ndarray
        By how much pixels must change to be right, and by how much refinement changes them.
    """
    scale = float(np.square(changes).sum())
    if len(errors) < _MIN_HELD_OUT or scale == 0:
        return 1.0
    weight = float((errors * changes).sum()) / scale
    variance = float(np.square((errors - weight * changes) * changes).sum()) / scale**2
    share = _PRIOR_VARIANCE / (_PRIOR_VARIANCE + variance)
    weight = share * weight + (1 - share) * _PRIOR_MEAN
    if weight < _MARGIN:
        return 0.0
    return 1.0 if weight > 1 - _MARGIN else weight


def _trial(
    plane: Plane,
    missing: Bools,
    dictionary: NDArray[np.float64],
    settings: ResolvedSettings,
    n_rounds: int,
) -> tuple[Plane, Plane]:
    """Restore a tile without refinement, and with it."""
    hidden = np.where(missing, np.float32(0), plane)[:, :, None]
    coder = patch_coder(dictionary, settings)
    first = np.clip(GeneratorRun(restore_planes(hidden, missing, coder)).finish(), 0, 1)
    refined = first.copy()
    refiner = Refiner(missing[:, :, None], as_thread_count(settings.threads))
    GeneratorRun(refine(refined, refiner, n_rounds)).finish()
    return first[:, :, 0], refined[:, :, 0]


def _tiles(held_out: Bools, missing: Bools) -> list[tuple[slice, slice]]:
    """Return some tiles with held-out pixels, and others, all over a picture."""
    rows, columns = (range(0, max(1, length - _TILE_SIZE + 1), _TILE_SIZE) for length in held_out.shape)
    tiles = [(slice(y, y + _TILE_SIZE), slice(x, x + _TILE_SIZE)) for y in rows for x in columns]
    usable = [each for each in tiles if held_out[each].any() and not (missing | held_out)[each].all()]
    n_tiles = min(_N_TILES, len(usable))
    return [usable[(2 * i + 1) * len(usable) // (2 * n_tiles)] for i in range(n_tiles)]
