"""A first filling of a small hole, layer by layer from its border inwards."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dictsel_core._support.threads import map_chunks
from dictsel_core._support.validation import Ints
from dictsel_core.completion.scale import N_TEXTURE, PATCH_SIZE, Scale

#: Pixels that are filled together.
_CHUNK = 64
#: Weight of a pixel of the smooth estimate, relative to a known one.
_SMOOTH_WEIGHT = 0.3


def fill_by_layers(scale: Scale, threads: int) -> None:
    """Fill the hole of a coarse scale by copies.

    Each pixel becomes the middle of the source whose pixels are nearest to those around it which are known or
    already filled. See Newson et al., section 3.4, "onion peel" initialization.
    """
    size, n_layers = PATCH_SIZE, scale.planes.shape[2]
    patches = sliding_window_view(scale.planes, (size, size), axis=(0, 1))
    unknown = scale.hole.copy()
    unknown_patches = sliding_window_view(unknown, (size, size))
    shape = unknown_patches.shape[:2]
    source_rows, source_columns = np.divmod(scale.sources, shape[1])
    sources = patches[source_rows, source_columns].reshape(len(source_rows), -1)
    squares = np.square(sources)
    trust = np.full((n_layers, 1), _SMOOTH_WEIGHT, np.float32)
    trust[-N_TEXTURE:] = 0  # there is none in the smooth estimate
    for layer in range(1, int(scale.depth.max()) + 1):
        y, x = np.nonzero(scale.depth == layer)
        top, left = (np.clip(at - size // 2, 0, n - 1) for at, n in zip((y, x), shape, strict=True))

        def nearest(start: int, stop: int, top: Ints = top, left: Ints = left) -> Ints:
            at = top[start:stop], left[start:stop]
            known = ~unknown_patches[at].reshape(len(at[0]), 1, -1)
            weights = np.where(known, np.float32(1), trust).reshape(len(known), -1)
            values = patches[at].reshape(len(known), -1) * weights
            return np.asarray((weights @ squares.T - 2 * values @ sources.T).argmin(axis=1))

        best = np.concatenate(list(map_chunks(nearest, len(y), _CHUNK, threads)))
        scale.planes[y, x] = scale.planes[source_rows[best] + y - top, source_columns[best] + x - left]
        unknown[y, x] = False
