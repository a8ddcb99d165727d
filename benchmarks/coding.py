"""Masked OMP on all patches of a photograph, against SPAMS and against the bare matrix products."""

from collections.abc import Callable
from statistics import median

import numpy as np
import skimage.data
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.measure import print_table, ratio, seconds_in_turns
from dictsel_core import IndividualSparsity, omp, replacement_omp, standard_ground_set
from dictsel_core._util.parallel import as_thread_count, map_chunks
from dictsel_core._util.validation import Bools, Floats
from dictsel_core.pursuit.columns import CHUNK

_MISSING, _N_ATOMS, _SPARSITY, _N_ROUNDS = 0.8, 100, 5, 7


def main() -> None:
    """Print the table."""
    seconds = measure()
    print_table(
        f"Coding: all masked patches of 512 x 512, {_MISSING:.0%} missing, k = {_N_ATOMS}, "
        f"s = {_SPARSITY}, float32, {as_thread_count(None)} threads",
        ["method", "seconds", "time / omp", "omp / time"],
        [
            [
                name,
                f"{median(seconds[name]):.3f}",
                f"{ratio(seconds, name, 'omp'):.2f}",
                f"{ratio(seconds, 'omp', name):.2f}",
            ]
            for name in seconds
        ],
    )


def measure() -> dict[str, list[float]]:
    """Return the seconds of omp, spams.ompMask and the bare products in turns."""
    rng = np.random.default_rng(0)
    image = skimage.data.camera().astype(np.float32) / 255
    hidden = rng.random(image.shape) < _MISSING
    data, mask = (
        np.ascontiguousarray(sliding_window_view(plane, (8, 8)).reshape(-1, 64))
        for plane in (np.where(hidden, 0, image), hidden)
    )
    tiles = np.arange(len(data)).reshape(505, 505)[::8, ::8].ravel()
    selection = replacement_omp(
        standard_ground_set(), data[tiles], IndividualSparsity(_SPARSITY), _N_ATOMS, mask=mask[tiles]
    )
    dictionary = selection.dictionary.astype(np.float32)
    candidates = {
        "omp": lambda: omp(dictionary, data, _SPARSITY, mask=mask),
        "spams.ompMask": _spams(dictionary, data, mask),
        f"its {_SPARSITY} matrix products": lambda: _products(dictionary, data),
    }
    return seconds_in_turns(candidates, _N_ROUNDS)


def _spams(dictionary: Floats, data: Floats, mask: Bools) -> Callable[[], object]:
    """Return what codes the same patches by SPAMS."""
    import spams  # GPL: a peer to measure against, never a dependency

    columns, observed = np.asfortranarray(data.T), np.asfortranarray(~mask.T)
    atoms, threads = np.asfortranarray(dictionary), as_thread_count(None)
    return lambda: spams.ompMask(
        columns, atoms, observed, L=_SPARSITY, eps=0.0, return_reg_path=False, numThreads=threads
    )


def _products(dictionary: Floats, data: Floats) -> None:
    """Compute what no implementation can do without: the correlations of every step."""

    def chunk(start: int, stop: int) -> None:
        for _ in range(_SPARSITY):
            data[start:stop] @ dictionary

    for _ in map_chunks(chunk, len(data), CHUNK, as_thread_count(None)):
        pass
