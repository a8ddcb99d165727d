"""Stamped text or dates: rows of letters of one saturated color."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, sparse
from scipy.sparse import csgraph

from dictsel_core._util.validation import Bools, Ints
from dictsel_core.detection.plane import DetectionImage, Single, block_quantile, shrink
from dictsel_core.detection.regions import (
    Regions,
    enlarged,
    grown,
    joined,
    most_confident,
    no_regions,
    regions_from_points,
)
from dictsel_core.detection.work import Work, open_in_bands, part

Doubles = NDArray[np.float64]

#: Larger pictures are looked at at a reduced size: their letters are larger too.
_MAX_PIXELS = 4e6
#: Width of the widest stroke, as a part of the diagonal.
_STROKE = 0.02
_N_HUES = 8
_BLOCK = 128
#: Part of the pixels nearby that are not of the text.
_TEXTURE_QUANTILE = 0.75
_THRESHOLD = 2.5
#: Of CIELAB, above what lies around.
_MIN_CHROMA = 18.0
#: What is weaker than this part of the strongest stroke nearby is its blurred edge.
_PART_OF_PEAK = 0.4
_USUAL_CHROMA = 40.0
_USUAL_LETTERS = 4
_USUAL_SPREAD = 0.12
_USUAL_UNEVENNESS = 0.08
_MIDDLE, _SPREAD = -0.35, 2.4

# Letters and texts
#: Only so many are compared, those of the most contrast.
_MAX_LETTERS = 1500
_MIN_AREA = 5
_MIN_HEIGHT = 5
#: Height of a letter as a part of the shorter side of the picture.
_MAX_PART = 0.2
#: Width from which on a letter counts for more than one, in heights.
_WIDE = 0.9
#: Between two letters, in heights of the larger one: the spaces of a display are wide.
_MAX_GAP = 2.0
#: Of the heights of two letters.
_MAX_RATIO = 1.6
#: Of the upper or the lower ends of two letters, in heights of the larger one.
_MAX_SHIFT = 0.25
#: Of the colors of neighbors in one letter, in each channel of CIELAB.
_MAX_STEP = 25.0
#: Of the colors of two letters, in CIELAB.
_MAX_DISTANCE = 25.0


@dataclass(frozen=True, eq=False)
class Letters:
    """Connected marks.

    The `pixels` are indices into the flattened picture, `numbers` the mark of each. Boxes, (N, 2, 2), are the
    first and last row, and the first and last column; colors, (N, 3), means in CIELAB, weighted by the square
    of the contrast.
    """

    pixels: Ints
    numbers: Ints
    boxes: Doubles
    colors: Doubles
    contrast: Doubles

    def __len__(self) -> int:
        return len(self.contrast)


@dataclass(frozen=True, eq=False)
class Texts:
    """Letters in rows.

    The `numbers` are the text of each mark, -1 for none. Wide marks count for several letters; a single mark
    is no text, and has 0. The unevenness is how far the upper or the lower ends lie off a line, in heights.
    """

    numbers: Ints
    n_letters: Doubles
    unevenness: Doubles


def find_letters(strokes: Bools, lab: Single, contrast: Single) -> Letters:
    """Return the marks that strokes make: pixels of like color that touch or are one pixel apart."""
    pixels = np.flatnonzero(strokes)
    colors = lab.reshape(3, -1)[:, pixels].T
    n_marks, numbers = _like_neighbors(pixels, colors, strokes.shape)
    area = np.bincount(numbers, minlength=n_marks)
    total = np.bincount(numbers, contrast.ravel()[pixels], n_marks)
    kept = area >= _MIN_AREA
    if kept.sum() > _MAX_LETTERS:
        kept &= total >= np.partition(np.where(kept, total, 0), -_MAX_LETTERS)[-_MAX_LETTERS]
    used, n_kept = kept[numbers], int(kept.sum())
    pixels, numbers = pixels[used], (np.cumsum(kept) - 1)[numbers[used]]
    boxes = np.stack([_ends(each, numbers, n_kept) for each in np.divmod(pixels, strokes.shape[1])], axis=1)
    weight = contrast.ravel()[pixels] ** 2  # the middle of a stroke rather than its blurred edge
    weights = np.bincount(numbers, weight, n_kept)
    mean = [np.bincount(numbers, weight * each, n_kept) / weights for each in colors[used].T]
    return Letters(pixels, numbers, boxes, np.stack(mean, axis=1), total[kept] / area[kept])


def _like_neighbors(pixels: Ints, colors: Single, shape: tuple[int, int]) -> tuple[int, Ints]:
    """Return the number of the connected parts of like color, and the part of each pixel."""
    order = np.full(shape, -1, np.int32)
    order.reshape(-1)[pixels] = np.arange(len(pixels))
    pairs = []
    for dy, dx in ((dy, dx) for dy in range(3) for dx in range(-2, 3) if (dy, dx) > (0, 0)):
        left, right = max(dx, 0), min(dx, 0)
        first = order[: shape[0] - dy, -right : shape[1] - left]
        second = order[dy:, left : shape[1] + right]
        both = (first >= 0) & (second >= 0)
        pairs.append(np.stack([first[both], second[both]]))
    first, second = np.concatenate(pairs, axis=1)
    alike = (np.abs(colors[first] - colors[second]) <= _MAX_STEP).all(axis=1)
    links = sparse.coo_array(
        (np.ones(alike.sum(), np.bool_), (first[alike], second[alike])), (len(pixels),) * 2
    )
    n_parts, numbers = csgraph.connected_components(links, directed=False)
    return int(n_parts), numbers.astype(np.intp)


def _ends(places: Ints, numbers: Ints, n_marks: int) -> Doubles:
    """Return the first place of each mark and the one after its last, (N, 2)."""
    ends = np.full((n_marks, 2), np.inf) * [1, -1]
    np.minimum.at(ends[:, 0], numbers, places)
    np.maximum.at(ends[:, 1], numbers, places + 1)
    return ends


def texts_along(letters: Letters, axis: int, shape: tuple[int, int]) -> Texts:
    """Return the texts whose letters follow each other along an axis: 1 for rows, 0 for columns."""
    low, high = letters.boxes[:, 1 - axis].T
    start, stop = letters.boxes[:, axis].T
    height = high - low
    is_letter = (height >= _MIN_HEIGHT) & (height <= _MAX_PART * min(shape)) & (stop - start < 3 * height)
    larger = np.maximum(height[:, None], height)
    near = is_letter[:, None] & is_letter
    near &= larger <= _MAX_RATIO * np.minimum(height[:, None], height)
    near &= np.maximum(start[:, None] - stop, start - stop[:, None]) <= _MAX_GAP * larger
    shift = np.minimum(np.abs(low[:, None] - low), np.abs(high[:, None] - high))
    near &= shift <= _MAX_SHIFT * larger
    for channel in letters.colors.T:
        near &= np.abs(channel[:, None] - channel) <= _MAX_DISTANCE
    n_texts, found = csgraph.connected_components(sparse.csr_array(near), directed=False)
    numbers = np.where(is_letter, found, -1).astype(np.intp)
    owner = numbers[is_letter]
    count = np.bincount(owner, minlength=n_texts)
    wide = np.maximum(1, (stop - start)[is_letter] / (_WIDE * height[is_letter]))  # letters that touch

    def deviation(values: Doubles) -> Doubles:
        mean = np.bincount(owner, values, n_texts) / np.maximum(count, 1)
        return np.sqrt(np.bincount(owner, (values - mean[owner]) ** 2, n_texts) / np.maximum(count, 1))

    mean_height = np.bincount(owner, height[is_letter], n_texts) / np.maximum(count, 1)
    ends = np.minimum(deviation(low[is_letter]), deviation(high[is_letter]))
    return Texts(
        _with_marks_inside(letters.boxes, numbers, n_texts),
        np.where(count > 1, np.bincount(owner, wide, n_texts), 0),
        ends / np.maximum(mean_height, 1),
    )


def _with_marks_inside(boxes: Doubles, numbers: Ints, n_texts: int) -> Ints:
    """Return the text of each mark, where points and accents belong to the text around them."""
    frames = np.full((n_texts, 2, 2), np.inf) * [1, -1]
    has_text = numbers >= 0
    np.minimum.at(frames[..., 0], numbers[has_text], boxes[has_text, :, 0])
    np.maximum.at(frames[..., 1], numbers[has_text], boxes[has_text, :, 1])
    count = np.bincount(numbers[has_text], minlength=n_texts)
    margin = 0.4 * (frames[..., 1] - frames[..., 0]).min(axis=1, initial=np.inf)
    result = numbers.copy()
    for text in np.flatnonzero(count > 1):
        low, high = frames[text, :, 0] - margin[text], frames[text, :, 1] + margin[text]
        inside = ~has_text & (boxes[..., 0] >= low).all(axis=1) & (boxes[..., 1] <= high).all(axis=1)
        result[inside] = text
    return result


def stamp_candidates(image: DetectionImage) -> Work[Regions]:
    """Return rows and columns of letters; nothing in gray pictures."""
    if not image.is_color:
        return no_regions(image.shape)
    from skimage.color import rgb2lab  # noqa: PLC0415  (slow to import)

    channels, factor = image.channels(), 1
    yield 0.0
    while channels[0].size > _MAX_PIXELS:
        channels, factor = [shrink(each) for each in channels], 2 * factor
    yield 0.05
    lab = np.moveaxis(rgb2lab(np.clip(np.stack(channels, axis=-1), 0, 1)), -1, 0)
    shape = lab[0].shape
    size = int(np.clip(_STROKE * np.hypot(*shape), 7, 61)) // 2 * 2 + 1
    raised = yield from part(_raised_chroma(lab[1], lab[2], size), 0.1, 0.8)
    level = _THRESHOLD * block_quantile(raised, _TEXTURE_QUANTILE, _BLOCK)
    np.maximum(level, np.float32(_MIN_CHROMA), out=level)
    np.maximum(level, _PART_OF_PEAK * ndimage.maximum_filter(raised, 2 * size + 1), out=level)
    letters = find_letters(raised > level, lab, raised)
    if not len(letters):
        return no_regions(image.shape)
    texts = joined([_texts(letters, axis, shape) for axis in (1, 0)])
    return enlarged(grown(most_confident(texts)), factor, image.shape)


def _texts(letters: Letters, axis: int, shape: tuple[int, int]) -> Regions:
    """Return texts along an axis; the confidence grows with contrast, number, and likeness of letters."""
    texts = texts_along(letters, axis, shape)
    n_texts, owner = len(texts.n_letters), texts.numbers
    has_text = owner >= 0
    count = np.maximum(np.bincount(owner[has_text], minlength=n_texts), 1)

    def mean(values: Doubles) -> Doubles:
        return np.bincount(owner[has_text], values[has_text], n_texts) / count

    contrast = mean(letters.contrast)
    variance = np.zeros(n_texts)
    for channel in letters.colors.T:
        variance += mean((channel - mean(channel)[owner]) ** 2)
    spread = np.sqrt(variance) / np.maximum(contrast, 1e-3)
    evidence = (
        np.log(np.maximum(contrast, 1e-3) / _USUAL_CHROMA)
        + 1.2 * np.log(np.clip(texts.n_letters, 1, 7) / _USUAL_LETTERS)
        - 0.5 * np.log((0.03 + spread) / _USUAL_SPREAD)
        - 0.3 * np.log((0.02 + texts.unevenness) / _USUAL_UNEVENNESS)
    )
    confidence = np.where(texts.n_letters > 0, 0.5 + (evidence - _MIDDLE) / _SPREAD, 0)
    used = owner[letters.numbers] >= 0
    return regions_from_points(shape, letters.pixels[used], owner[letters.numbers[used]], confidence)


def _raised_chroma(a: Single, b: Single, size: int) -> Work[Single]:
    """Return by how much a pixel is more saturated than what lies around, in the hue where that is most.

    For each hue, the white top-hat, so that a stroke on a saturated ground of another hue is raised too; but
    no more than the difference from the median around, which the ground between two strokes does not have.
    """
    raised = np.zeros_like(a)
    ground = [_median_around(each, size) for each in (a, b)]
    for number in range(_N_HUES):
        angle = 2 * np.pi * number / _N_HUES
        cos, sin = np.float32(np.cos(angle)), np.float32(np.sin(angle))
        chroma = np.maximum(cos * a + sin * b, 0)
        opened = yield from part(open_in_bands(chroma, size), number / _N_HUES, (number + 1) / _N_HUES)
        chroma -= np.maximum(opened, cos * ground[0] + sin * ground[1])
        np.maximum(raised, chroma, out=raised)
    return raised


def _median_around(plane: Single, size: int) -> Single:
    """Return about the median within two `size` of each pixel, from a regular sample."""
    step = min(size // 4, *plane.shape)
    median = ndimage.median_filter(plane[step // 2 :: step, step // 2 :: step], 9, mode="nearest")
    rows, columns = (
        np.minimum(np.arange(n) // step, m - 1) for n, m in zip(plane.shape, median.shape, strict=True)
    )
    return np.asarray(median[np.ix_(rows, columns)], np.float32)
