"""Other ways to refine, and other first estimates, that the library does not have: for the ablation only."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from benchmarks.pictures import Image, Mask
from dictsel_core import (
    GroundSet,
    RestoreSettings,
    ground_set_from_array,
    psnr,
    standard_ground_set,
)
from dictsel_core._util.arrays import any_in_windows
from dictsel_core._util.parallel import as_thread_count
from dictsel_core.progress import GeneratorRun
from dictsel_core.refinement.gaussian import BlockEstimates, Estimator
from dictsel_core.refinement.search import Block, Search, find_groups
from dictsel_core.restoration.coding import SparseCoder
from dictsel_core.restoration.image import Image as Damaged
from dictsel_core.restoration.image import Planes, as_image
from dictsel_core.restoration.plan import select_dictionary
from dictsel_core.restoration.scales import double_at, halve, restore_planes

Floats = NDArray[np.floating]
FAST = RestoreSettings(rounds=0)
THREADS = as_thread_count(None)
#: Weight of the current estimate of missing pixels when blocks are coded.
_FILL_WEIGHT = 0.1


@dataclass(frozen=True, eq=False)
class Start:
    """A first estimate, its dictionary, and the maximum number of atoms per patch."""

    planes: Planes
    dictionary: Floats
    sparsity: int


@dataclass(frozen=True, eq=False)
class Case:
    """A photograph and its damage."""

    image: Image
    mask: Mask

    @cached_property
    def damaged(self) -> Damaged:
        """The damaged image."""
        return as_image(self.image[:, :, None], self.mask[:, :, None])

    @cached_property
    def fast(self) -> Start:
        """The first estimate of the preset fast."""
        return self.start(standard_ground_set())

    def start(self, ground_set: GroundSet, *, coarse_only: bool = False) -> Start:
        """Return the first estimate with a dictionary from a ground set."""
        damaged = self.damaged
        settings = FAST.resolved(1 - damaged.missing_fraction, len(ground_set))
        run = GeneratorRun(select_dictionary([((0, 0), damaged)], settings, ground_set))
        dictionary = run.finish().atoms.atoms
        coder = SparseCoder(
            dictionary, settings.coding_sparsity, settings.fill_weight, thinning=2, threads=THREADS
        )
        if coarse_only:
            half, unknown = halve(damaged.planes(), self.mask)
            for _ in restore_planes(half, unknown, coder):
                pass
            everything = np.arange(self.mask.size)
            restored = double_at(half, everything, self.mask.shape[1]).reshape(*self.mask.shape, 1)
        else:
            restored = damaged.planes()
            for _ in restore_planes(restored, self.mask, coder):
                pass
        planes = np.where(self.mask[:, :, None], restored, damaged.planes())
        return Start(planes, dictionary, settings.coding_sparsity)

    def quality(self, planes: Planes) -> float:
        """PSNR of the image that some planes make."""
        return psnr(self.image, self.damaged.render(planes)[:, :, 0])


@dataclass(frozen=True, eq=False)
class BlockEstimator:
    """Estimates groups of similar patches as blocks: all members use the same few atoms.

    Attributes
    ----------
    start : Start
        Whose dictionary and sparsity are used; patches have the size of its atoms.
    n_estimated : int
        How many of the nearest members of a group are estimated.
    centered : bool
        Code the differences from the mean of the group.
    """

    start: Start
    n_estimated: int
    centered: bool

    def estimate(self, planes: Planes, missing: Mask, block: Block, search: Search) -> BlockEstimates:
        """Return estimates of the patches most similar to each reference, of gray images."""
        incomplete = any_in_windows(np.asarray(missing[block.region].any(axis=2)), search.size)
        wanted = incomplete[block.vertical.references[:, None], block.horizontal.references]
        groups = find_groups(planes, block, search, wanted)
        numbers = groups.numbers
        values = _patches_at(planes[block.region], search.size, numbers).reshape(*numbers.shape, -1)
        means = values.mean(axis=1, keepdims=True) * self.centered
        nearest = groups.numbers[:, : self.n_estimated]
        unknown = _patches_at(missing[block.region], search.size, nearest).reshape(*nearest.shape, -1)
        weights = np.where(unknown, np.float32(_FILL_WEIGHT), np.float32(1))
        atoms = self.start.dictionary.astype(np.float32)
        patches = values[:, : self.n_estimated] - means
        rebuilt = means + block_omp(atoms, patches, weights, self.start.sparsity)
        estimates = rebuilt.reshape(-1, 1, values.shape[2])
        return BlockEstimates(nearest.ravel(), estimates, search.size, np.ones(estimates.shape, np.float32))


def _patches_at(region: NDArray[Any], size: int, numbers: NDArray[np.intp]) -> NDArray[Any]:
    """Return patches of the region of a block by their numbers, of gray images."""
    rows, columns = np.divmod(numbers, region.shape[1] - size + 1)
    return sliding_window_view(region[:, :, 0], (size, size))[rows, columns]


def block_omp(dictionary: Floats, data: Floats, weights: Floats, sparsity: int) -> Floats:
    """Rebuild blocks of weighted patches (B, E, d), each block from atoms that all its patches use.

    As in coding patch by patch, a correlation counts relative to the weighted length of the atom.
    """
    k = dictionary.shape[1]
    pairs = (dictionary[:, :, None] * dictionary[:, None]).reshape(-1, k * k)
    squares = np.square(weights)
    gram = (squares @ pairs).reshape(*data.shape[:2], k, k)
    target = (squares * data) @ dictionary
    lengths = np.einsum("beii->bei", gram)
    blocks = np.arange(len(data))[:, None]
    support = np.zeros((len(data), 0), np.intp)
    correlations: Floats = target
    coefficients: Floats = target[:, :, :0]
    for _ in range(min(sparsity, k)):
        scores = (np.square(correlations) / np.maximum(lengths, 1e-6)).sum(axis=1)
        scores[blocks, support] = -1
        support = np.append(support, scores.argmax(axis=1)[:, None], axis=1)
        columns = np.take_along_axis(gram, support[:, None, None, :], axis=3)
        inner = np.take_along_axis(columns, support[:, None, :, None], axis=2)
        right = np.take_along_axis(target, support[:, None, :], axis=2)
        ridge = np.float32(1e-3) * np.eye(support.shape[1], dtype=np.float32)
        coefficients = np.linalg.solve(inner + ridge, right[..., None])[..., 0]
        correlations = target - np.matvec(columns, coefficients)
    return np.asarray(coefficients @ dictionary.T[support])


@dataclass(frozen=True)
class UnweightedEstimator:
    """Gives the estimates of another estimator equal weights in the average of a pixel."""

    inner: Estimator

    def estimate(self, planes: Planes, missing: Mask, block: Block, search: Search) -> BlockEstimates:
        """Return the estimates of the other estimator, without weights."""
        estimates = self.inner.estimate(planes, missing, block, search)
        return replace(estimates, weights=np.ones_like(estimates.weights))


def richer_ground_set() -> GroundSet:
    """Return the standard ground set with three more wavelets."""
    return standard_ground_set(bases=("dct", "haar", "db4", "coif1", "db2", "sym4", "coif2"))


def oriented_ground_set(n_directions: int = 12) -> GroundSet:
    """Return the standard ground set with Gabor functions and edges in many directions."""
    rows, columns = np.mgrid[:8, :8] - 3.5
    oriented = []
    for angle in np.arange(n_directions) * np.pi / n_directions:
        across = rows * np.cos(angle) + columns * np.sin(angle)
        edges = [np.tanh(across - shift) for shift in (-2, -1, 0, 1, 2)]
        hull = np.exp(-(rows**2 + columns**2) / (2 * 2.5**2))
        waves = [
            hull * np.cos(2 * np.pi * across / wavelength + phase)
            for wavelength in (2.8, 4, 5.7, 8)
            for phase in (0, np.pi / 2)
        ]
        oriented += [(each - each.mean()).ravel() for each in edges + waves]
    atoms = np.concatenate([standard_ground_set().atoms, np.transpose(oriented)], axis=1)
    return ground_set_from_array(atoms, patch_shape=(8, 8))
