"""Masked OMP on all patches of a photograph, against SPAMS and against the bare matrix products."""

from statistics import median

import numpy as np
import skimage.data

from benchmarks.measure import print_table, ratio, seconds_in_turns
from dictsel_core import IndividualSparsity, omp, replacement_omp, standard_ground_set
from dictsel_core._threads import as_thread_count, map_chunks
from dictsel_core.patches import all_patches
from dictsel_core.pursuit import CHUNK


def main(missing: float = 0.8, n_atoms: int = 100, sparsity: int = 5) -> None:
    """Print the table."""
    import spams  # GPL: a peer to measure against, never a dependency

    rng = np.random.default_rng(0)
    image = skimage.data.camera().astype(np.float32) / 255
    hidden = rng.random(image.shape) < missing
    data, mask = (
        np.ascontiguousarray(all_patches(plane, 8).reshape(-1, 64))
        for plane in (np.where(hidden, 0, image), hidden)
    )
    tiles = np.arange(len(data)).reshape(505, 505)[::8, ::8].ravel()
    selection = replacement_omp(
        standard_ground_set(), data[tiles], IndividualSparsity(sparsity), n_atoms, mask=mask[tiles]
    )
    dictionary = selection.dictionary.astype(np.float32)
    threads = as_thread_count(None)

    def products() -> None:
        def chunk(start: int, stop: int) -> None:
            for _ in range(sparsity):
                data[start:stop] @ dictionary

        for _ in map_chunks(chunk, len(data), CHUNK, threads):
            pass

    columns, observed = np.asfortranarray(data.T), np.asfortranarray(~mask.T)
    atoms = np.asfortranarray(dictionary)
    candidates = {
        "omp": lambda: omp(dictionary, data, sparsity, mask=mask),
        "spams.ompMask": lambda: spams.ompMask(
            columns, atoms, observed, L=sparsity, eps=0.0, return_reg_path=False, numThreads=threads
        ),
        f"its {sparsity} matrix products": products,
    }
    seconds = seconds_in_turns(candidates, rounds=7)
    print_table(
        f"Coding: {len(data):,} masked patches of 512 x 512, {missing:.0%} missing, k = {n_atoms}, "
        f"s = {sparsity}, float32, {threads} threads",
        ["method", "seconds", "time / omp", "omp / time"],
        [
            [
                name,
                f"{median(seconds[name]):.3f}",
                f"{ratio(seconds, name, 'omp'):.2f}",
                f"{ratio(seconds, 'omp', name):.2f}",
            ]
            for name in candidates
        ],
    )
