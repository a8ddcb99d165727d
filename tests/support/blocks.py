"""Blocks of reference patches, by their definition: which patches are references, candidates and members."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dictsel_core.refinement.rounds import refine_round


def references(block):
    """Numbers of the references: (B,)."""
    return _numbers(block, block.vertical.references, block.horizontal.references)


def candidates(block):
    """Numbers of the patches that each reference is compared with, in its own image: (B, c)."""
    down, across = np.arange(block.vertical.n_candidates), np.arange(block.horizontal.n_candidates)
    first = _numbers(block, block.vertical.first, block.horizontal.first)
    return first[:, None] + _numbers(block, down, across)


def _numbers(block, rows, columns):
    return (rows[:, None] * block.horizontal.n_patches + columns).ravel()


def patches_at(region, size, numbers):
    """Patches of the region of a block (h, w, C) by their numbers: (*numbers.shape, C, size, size)."""
    rows, columns = np.divmod(numbers, region.shape[1] - size + 1)
    layers = [sliding_window_view(each, (size, size))[rows, columns] for each in np.moveaxis(region, 2, 0)]
    return np.stack(layers, axis=numbers.ndim)


def refine(planes, missing, n_rounds, threads=1, **options):
    """All rounds, in place."""
    for number in range(n_rounds):
        for _ in refine_round(planes, missing, number, n_rounds, threads=threads, **options):
            pass
