"""The patches on which the dictionary is selected, and the selection."""

from dataclasses import dataclass

import numpy as np

from dictsel_core._validation import Bools, Ints
from dictsel_core.ground_set import GroundSet
from dictsel_core.restoration.canvas import Canvas, Plane
from dictsel_core.restoration.settings import ResolvedSettings
from dictsel_core.selection import SelectionRun, iter_replacement_ols, iter_replacement_omp

#: Maximum number of patches: a sample of a large image is as good as all of it.
MAX_PATCHES = 2048
#: Minimum number of patches, as far as there are patches with an observed pixel.
_MIN_PATCHES = 48


@dataclass(frozen=True, eq=False)
class PatchSample:
    """Patches as rows (T, d), their mask (True = missing), and the top-left pixel of each (T, 2)."""

    data: Plane
    mask: Bools
    positions: Ints


def sample_patches(canvas: Canvas, size: int, seed: int) -> PatchSample:
    """Cut the channels into adjacent patches, and return those with enough observed pixels.

    The image is mirrored below and to the right so that patches cover every pixel.
    """
    counts = np.stack([_observed_counts(canvas.mask(c), size) for c in range(canvas.missing.shape[2])])
    n_observed = np.broadcast_to(counts, (canvas.n_channels, counts.shape[1]))
    # If little is observed, patches with few observed pixels have to do.
    n_needed = min(_MIN_PATCHES, n_observed.size)
    threshold = max(1, min(max(4, size * size // 16), int(np.sort(n_observed, axis=None)[-n_needed])))
    channels, tiles = np.nonzero(n_observed >= threshold)
    if len(tiles) > MAX_PATCHES:
        rng = np.random.default_rng(seed)
        chosen = np.sort(rng.choice(len(tiles), MAX_PATCHES, replace=False))
        channels, tiles = channels[chosen], tiles[chosen]
    n_across = -(-canvas.shape[1] // size)
    positions = np.stack(np.divmod(tiles, n_across), axis=1) * size
    rows, columns = (
        _mirrored(length, size)[start[:, None] + np.arange(size)]
        for length, start in zip(canvas.shape, positions.T, strict=True)
    )
    return PatchSample(*canvas.values_at(channels, rows, columns), positions)


def select_dictionary(sample: PatchSample, settings: ResolvedSettings, ground_set: GroundSet) -> SelectionRun:
    """Return a run that selects a dictionary on sampled patches, as the settings say."""
    constraint = settings.constraint_for(len(sample.data))
    if settings.selector == "rols":
        return iter_replacement_ols(ground_set, sample.data, constraint, settings.n_atoms, mask=sample.mask)
    decay = settings.selector == "rompd"
    return iter_replacement_omp(
        ground_set,
        sample.data,
        constraint,
        settings.n_atoms,
        mask=sample.mask,
        decay=decay,
        threads=settings.threads,
    )


def _mirrored(length: int, size: int) -> Ints:
    """Return the pixels along an axis, mirrored at its end until patches cover it."""
    return np.pad(np.arange(length), (0, -length % size), mode="symmetric")


def _observed_counts(missing: Bools, size: int) -> Ints:
    """Return how many pixels of each adjacent patch are observed: (n_tiles,)."""
    rows, columns = (_mirrored(length, size) for length in missing.shape)
    observed = ~missing
    whole = observed.shape == (len(rows), len(columns))
    observed = observed if whole else observed[rows][:, columns]
    down = np.add.reduce(observed.reshape(-1, size, len(columns)), axis=1, dtype=np.uint16)
    counts: Ints = np.add.reduce(down.reshape(len(down), -1, size), axis=2, dtype=np.intp).ravel()
    return counts
