"""Pixels that belong together: those like one of them, or an object that somebody drew a line around."""

import numpy as np
import numpy.typing as npt

from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.model.missing import dilate
from inpaint_app.model.picture import Array, Mask, Picture, Rect, full_scale


def similar_region(picture: Picture, row: int, column: int, tolerance: float) -> tuple[Rect, Mask]:
    """Return the pixels of nearly the color of one, connected with it: a rectangle, and which lie in it.

    No channel may differ by more than the tolerance, in levels of 255.
    """
    from skimage.segmentation import flood  # noqa: PLC0415  (slow to import)

    pixels = np.atleast_3d(picture.pixels)
    color, most = pixels[row, column].astype(float), tolerance / 255 * full_scale(pixels.dtype)
    near = ((pixels >= color - most) & (pixels <= color + most)).all(axis=2)
    near[row, column] = True  # even if it is not a number
    region = flood(near, (row, column), connectivity=1)
    rows, columns = (np.flatnonzero(region.any(axis=axis)) for axis in (1, 0))
    rect = Rect(int(rows[0]), int(columns[0]), int(np.ptp(rows)) + 1, int(np.ptp(columns)) + 1)
    return rect, region[rect.slices]


_Values = npt.NDArray[np.float64]

#: Longest side, in pixels, of what is looked at; larger parts of a picture are reduced.
_MAX_SIDE = 240
#: Room around the line that is certainly no object, as a part of its longest side.
_ROOM = 0.12
#: Colors that are told apart, and steps to find them.
_N_COLORS, _N_STEPS = 16, 10
#: Of the colors outside of the line, by how much of the surroundings they are: which says how much of these
#: is inside.
_QUANTILE = 0.9
#: Depth inside the line, as a part of the greatest, from which on what looks like the object is its own.
_CORE = 0.35
#: How much an edge hinders the walk.
_BETA = 90.0


def outline_object(pixels: Array, rect: Rect, inside: Mask, control: JobControl) -> tuple[Rect, Mask]:
    """Return the pixels of the object that a line surrounds: the rectangle of the line, and which lie in it.

    `inside` are the pixels of the rectangle that the line surrounds, in a picture of these pixels.
    What lies outside of the line is no object. Inside, colors that are seen outside too make a pixel less
    likely to be one; a random walk (Grady, 2006) from what is certain to what is not then finds the border
    along the edges of the picture. It reaches a pixel further, for the soft edge of the object.
    """
    from skimage.segmentation import random_walker  # noqa: PLC0415  (slow to import)

    outer = rect.widened(max(4, round(_ROOM * max(rect.height, rect.width))), pixels.shape)
    whole = np.zeros((outer.height, outer.width), np.bool_)
    whole[rect.within(outer).slices] = inside
    colors, within = _reduced(pixels[outer.slices], whole)
    if np.ptp(colors) == 0:
        return rect, inside
    control.report(Progress("looking for the object", 0.2))
    control.check()
    likely = _likelihood(colors, within)
    seeds = _seeds(likely, within)
    if not (seeds == 1).any():
        return rect, inside
    control.report(Progress("looking for the object", 0.6))
    control.check()
    probability = (seeds == 1).astype(float)
    if not seeds.all():  # something is left to decide
        walk = random_walker(colors, seeds, beta=_BETA, mode="bf", return_full_prob=True, channel_axis=-1)
        probability = walk[0]
    control.check()
    found = dilate(_solid(_enlarged(probability, whole.shape) > 0.5), 1)[rect.within(outer).slices] & inside
    return rect, found if found.any() else inside


def _reduced(pixels: Array, surrounded: Mask) -> tuple[_Values, Mask]:
    """Return the colors of a part of the picture, spread alike, and what the line surrounds, both reduced."""
    from skimage.color import rgb2lab  # noqa: PLC0415  (slow to import)
    from skimage.transform import resize  # noqa: PLC0415  (slow to import)

    part, inside = np.nan_to_num(np.atleast_3d(pixels).astype(float)), surrounded.astype(float)
    scale = min(1.0, _MAX_SIDE / max(part.shape[:2]))
    shape = tuple(max(round(side * scale), 1) for side in part.shape[:2])
    if shape != part.shape[:2]:
        step = max(1, int(0.5 / scale))  # a mean of four pixels per side is smooth enough
        part = resize(part[::step, ::step], shape, anti_aliasing=True)
        inside = resize(inside, shape)
    low, high = np.percentile(part, (0.5, 99.5))
    part = np.clip((part - low) / max(high - low, 1e-12), 0, 1)
    colors: _Values = rgb2lab(part) / 100 if part.shape[2] == 3 else part
    return colors, inside > 0.5


def _likelihood(colors: _Values, inside: Mask) -> _Values:
    """Return how likely every pixel is the object's by its color, 0 to 1.

    A part of what the line surrounds is not the object and has the colors outside, in the same shares. What
    is left of a color's share inside is the object's.
    """
    groups = _groups(colors.reshape(-1, colors.shape[2])).reshape(inside.shape)
    n_groups = int(groups.max()) + 1
    n_within = np.bincount(groups[inside], minlength=n_groups)
    n_around = np.bincount(groups[~inside], minlength=n_groups)
    within, around = n_within / max(int(n_within.sum()), 1), n_around / max(int(n_around.sum()), 1)
    ratio = within / np.maximum(around, 1e-6)
    order = np.argsort(ratio)
    reached = np.searchsorted(np.cumsum(around[order]), _QUANTILE * around.sum())
    other = min(float(ratio[order[min(reached, n_groups - 1)]]), 1.0)
    likely: _Values = np.clip(1 - other * around / np.maximum(within, 1e-6), 0, 1)
    return likely[groups]


def _groups(points: _Values) -> npt.NDArray[np.intp]:
    """Return the number of the color that every point is nearest to, by Lloyd's algorithm."""
    sample = points[:: max(1, len(points) // 6000)]
    centers = sample[np.argsort(sample[:, 0])[np.linspace(0, len(sample) - 1, _N_COLORS).astype(int)]]
    for _ in range(_N_STEPS):
        labels = _nearest(sample, centers)
        centers = np.stack([sample[labels == label].mean(axis=0) for label in np.unique(labels)])
    return _nearest(points, centers)


def _nearest(points: _Values, centers: _Values) -> npt.NDArray[np.intp]:
    nearest: npt.NDArray[np.intp] = (np.square(centers).sum(axis=1) - 2 * points @ centers.T).argmin(axis=1)
    return nearest


def _seeds(likely: _Values, inside: Mask) -> npt.NDArray[np.int32]:
    """Return 1 where the object is for sure, 2 where it is not, and 0 elsewhere."""
    from scipy import ndimage  # noqa: PLC0415  (slow to import)

    smooth = ndimage.gaussian_filter(likely, 1.0)
    depth = ndimage.distance_transform_edt(inside)
    core = depth >= max(_CORE * depth.max(), 1)
    seeds = np.zeros(inside.shape, np.int32)
    seeds[inside & (smooth > 0.75) & core] = 1
    seeds[inside & (smooth > 0.95) & (depth > 0.1 * depth.max())] = 1
    seeds[inside & (smooth < 0.25)] = 2
    seeds[~inside] = 2
    if not (seeds == 1).any():
        seeds[core & (seeds == 0)] = 1
    return seeds


def _enlarged(values: _Values, shape: tuple[int, ...]) -> _Values:
    from skimage.transform import resize  # noqa: PLC0415  (slow to import)

    enlarged: _Values = values if values.shape == shape else resize(values, shape, order=1)
    return enlarged


def _solid(found: Mask) -> Mask:
    """Return an object without holes, and without crumbs beside it."""
    from scipy import ndimage  # noqa: PLC0415  (slow to import)

    labels, n_parts = ndimage.label(found)
    if n_parts > 1:
        sizes = np.bincount(labels.ravel())[1:]
        found = np.isin(labels, 1 + np.flatnonzero(sizes >= 0.05 * sizes.max()))
    filled: Mask = ndimage.binary_fill_holes(found)
    return filled
