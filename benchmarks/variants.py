"""Other ways to refine, or to start from, that the library does not have: for the ablation only."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_cdt

from benchmarks.pictures import Image, Mask
from dictsel_core import GroundSet, RestoreSettings, Run, ground_set_from_array, psnr, standard_ground_set
from dictsel_core._threads import as_thread_count
from dictsel_core.restoration.canvas import Canvas, as_canvas
from dictsel_core.restoration.coding import complete, window_coder
from dictsel_core.restoration.pipeline import select_dictionary
from dictsel_core.restoration.pyramid import double, halve
from dictsel_core.restoration.refinement import Manner, Planes, Refiner
from dictsel_core.restoration.similar import Search, Tile, rows_of_windows, similar_windows

Floats = NDArray[np.floating]
FAST = RestoreSettings.preset("fast")
THREADS = as_thread_count(None)
#: Weight of what the picture says so far at missing pixels, where blocks are coded.
_FILL_WEIGHT = 0.1


@dataclass(frozen=True, eq=False)
class Start:
    """A first restoration, the dictionary it was made with, and how many atoms a window used at most."""

    planes: Planes
    dictionary: Floats
    sparsity: int


@dataclass(frozen=True, eq=False)
class Case:
    """A photograph and its damage."""

    image: Image
    mask: Mask

    @cached_property
    def canvas(self) -> Canvas:
        """The damaged picture as the stages see it."""
        return as_canvas(self.image, self.mask)

    @cached_property
    def fast(self) -> Start:
        """What the preset fast makes of it."""
        return self.start(standard_ground_set())

    @property
    def hole_radius(self) -> int:
        """How far a missing pixel is from any observed one, at most."""
        return int(distance_transform_cdt(self.mask, "chessboard").max())

    def start(self, ground_set: GroundSet, *, coarse_only: bool = False) -> Start:
        """Select from a ground set, and restore by coding alone."""
        canvas = self.canvas
        settings = FAST.resolved(1 - canvas.missing_fraction, len(ground_set))
        dictionary = select_dictionary(canvas, settings, ground_set).finish().dictionary
        coder = window_coder(dictionary, settings)
        if coarse_only:
            half = Run(complete(*halve(canvas.plane(0), self.mask), coder)).finish()
            restored = double(half, canvas.shape)
        else:
            restored = Run(complete(canvas.plane(0), self.mask, coder)).finish()
        planes = np.where(self.mask, restored, canvas.plane(0))[:, :, None]
        return Start(planes, dictionary, settings.coding_sparsity or 1)

    def quality(self, planes: Planes) -> float:
        """PSNR of the picture that some planes make."""
        picture = self.canvas.blank()
        self.canvas.put(picture, 0, slice(0, len(picture)), planes[:, :, 0], self.mask)
        return psnr(self.image, picture)


class BlockRefiner(Refiner):
    """Rebuilds groups of similar windows as blocks: all members use the same few atoms.

    Parameters
    ----------
    missing, threads, manner
        As for `Refiner`, of gray pictures; windows are of the size of the atoms.
    start : Start
        Whose dictionary and sparsity are used.
    centred : bool
        Code what the members differ by from the mean of their group.
    """

    def __init__(self, missing: Mask, threads: int, manner: Manner, start: Start, *, centred: bool) -> None:
        super().__init__(missing, threads, manner)
        self._atoms, self._sparsity = start.dictionary.astype(np.float32), start.sparsity
        self._centred = centred

    def _ask(self, picture: Planes, tile: Tile, search: Search) -> "Estimates | None":  # type: ignore[override]
        values = rows_of_windows(picture[tile.place], search.size)[:, 0]
        unknown = rows_of_windows(self._missing[tile.place], search.size)[:, 0]
        references, candidates = tile.references, tile.candidates
        lacking = unknown[references].any(axis=1)
        if not lacking.any():
            return None
        n_estimated = self._manner.n_estimated
        groups = similar_windows(
            values - values.mean(), references[lacking], candidates[lacking], search.n_members, n_estimated
        )
        means = values[groups].mean(axis=1, keepdims=True) * self._centred
        nearest = groups[:, :n_estimated]
        weights = np.where(unknown[nearest], np.float32(_FILL_WEIGHT), np.float32(1))
        rebuilt = means + block_omp(self._atoms, values[nearest] - means, weights, self._sparsity)
        rebuilt = rebuilt.reshape(-1, values.shape[1])
        return Estimates(nearest.ravel(), rebuilt, np.ones(len(rebuilt)), search.size)


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


class WeightedRefiner(Refiner):
    """Averages the estimates of a pixel with weights.

    Parameters
    ----------
    missing, threads, manner
        As for `Refiner`, of gray pictures.
    by : {"agreement", "observed pixels"}
        Estimates count by the inverse of the variance among those of their group, or by how many pixels
        of their window are observed.
    """

    def __init__(self, missing: Mask, threads: int, manner: Manner, by: str) -> None:
        super().__init__(missing, threads, manner)
        self._by = by

    def _ask(self, picture: Planes, tile: Tile, search: Search) -> "Estimates | None":  # type: ignore[override]
        said = super()._ask(picture, tile, search)
        if said is None:
            return None
        values = said.values[:, 0]
        if self._by == "agreement":
            groups = values.reshape(-1, self._manner.n_estimated, values.shape[1])
            variances = groups.var(axis=1).mean(axis=1) + self._manner.noise
            weights = np.repeat(1 / variances, self._manner.n_estimated)
        else:
            unknown = rows_of_windows(self._missing[tile.place], search.size)[:, 0]
            weights = 1 + (~unknown[said.numbers]).sum(axis=1)
        return Estimates(said.numbers, values, weights, search.size)


@dataclass(frozen=True, eq=False)
class Estimates:
    """Windows of a tile by number, their estimates (N, d), and how much each counts (N,): at least 1."""

    numbers: NDArray[np.intp]
    values: Floats
    weights: Floats
    size: int

    def summed(self, height: int, width: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return weighted sums (height, width, 1) and sums of weights (height, width)."""
        rows, columns = np.divmod(self.numbers, width - self.size + 1)
        inside = np.add.outer(np.arange(self.size) * width, np.arange(self.size)).ravel()
        pixels = ((rows * width + columns)[:, None] + inside).ravel()
        each = np.broadcast_to(self.weights[:, None], self.values.shape)
        sums = np.bincount(pixels, (each * self.values).ravel(), minlength=height * width)
        counts = np.bincount(pixels, each.ravel(), minlength=height * width)
        return sums.reshape(height, width, 1), counts.reshape(height, width)


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
