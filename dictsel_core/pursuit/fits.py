"""Patches fitted by atoms on the entries that they have.

One Gram-Schmidt serves all: columns of a patch are made orthogonal one after the other, and the residual to
them. All arrays of a patch stay in the first levels of the cache.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.compiled import Kernel, PartialKernel
from dictsel_core._util.validation import Bools, Doubles, Floats, Ints

Number = float | np.floating[Any]
Index = np.uintp
Indices = NDArray[np.uintp]
Keys = NDArray[np.signedinteger[Any]]
#: Of B patches, the entries that are worked on and their factors, (B, d + 4) each, then zeros; and how many
#: there are, (B,).
Observed = tuple[Indices, Floats, Indices]
#: Of B patches, residuals (B, d + 4); orthogonal vectors, one after the other (B, S * (d + 4)); overlaps of
#: columns with these (B, S, S); and, (B, 4, S), overlaps of the data with them, one over their squared
#: lengths, squared lengths of the columns, and memory.
Fits = tuple[Floats, Floats, Floats, Floats]

#: Gram-Schmidt is repeated if less than this fraction of the squared length of a column is left.
REPEAT_BELOW = 0.1
#: Largest entry of an inverse Gram matrix of unit columns above which a fit is made by singular values, of
#: which those up to this fraction of the largest one are rounding error.
_ILL_CONDITIONED, _NEGLIGIBLE = 1e6, 1e-10

_0, _1, _2, _3, _4 = (Index(number) for number in range(5))


class PatchFits:
    """Fits of up to N patches by up to `capacity` rows of a matrix (k, d), in arrays that are used again.

    New pages would cost more than the arithmetic on them. If they are `sparse`, which pays if half of the
    entries are missing, nothing but observed entries is worked on. See the kernels for the arrays.
    """

    def __init__(self, n_patches: int, capacity: int, rows: Floats, *, sparse: bool) -> None:
        self._rows, self._sparse, self.capacity = rows, sparse, capacity
        pitch, dtype = rows.shape[1] + 4, rows.dtype
        factors = np.empty((n_patches, pitch), dtype)
        self.observed = np.empty(factors.shape, np.uintp), factors, np.empty(n_patches, np.uintp)
        self.residuals, self._weighted = np.empty_like(factors), np.empty_like(factors)
        self.vectors = np.zeros((n_patches, capacity * pitch), dtype)
        self._overlaps = np.empty((n_patches, capacity, capacity), dtype)
        self.steps = np.empty((n_patches, 4, capacity), dtype)
        self.arrays = self.residuals, self.vectors, self._overlaps, self.steps

    def __len__(self) -> int:
        return len(self.residuals)

    def begin(self, data: Floats, weights: Floats | None) -> None:
        """Begin with the data of some patches, (B, d), multiplied by the weights of their entries."""
        factors = np.ones((1, data.shape[1]), data.dtype) if weights is None else weights
        observe(data, factors, self._sparse, self.observed, self.residuals)
        self._overlaps[: len(data)] = self.steps[: len(data)] = 0

    def correlate(self, vectors: Floats, matrix: Floats, out: Floats) -> None:
        """Write the products of vectors of patches, and their factors, with a matrix (d, n) to (B, n)."""
        if self._sparse:
            correlate(vectors, self.observed, matrix, out)
        else:
            n, d = len(out), len(matrix)
            np.multiply(vectors[:n, :d], self.observed[1][:n, :d], out=self._weighted[:n, :d])
            np.matmul(self._weighted[:n, :d], matrix, out=out, casting="same_kind")

    def project(self, n_columns: int, matrix: Floats, out: Floats) -> None:
        """Write which parts of the squared lengths of columns (d, n) lie in the span of each fit: (B, n)."""
        if self._sparse:
            project(n_columns, self.observed, self.arrays, matrix, out)
            return
        n, (d, pitch) = len(out), (len(matrix), self.residuals.shape[1])
        basis = self.vectors[:n].reshape(n, -1, pitch)[:, :n_columns, :d] * self.observed[1][:n, None, :d]
        basis *= np.sqrt(self.steps[:n, 1, :n_columns, None])
        inside = (basis.reshape(-1, d).astype(matrix.dtype) @ matrix).reshape(n, n_columns, -1)
        np.einsum("bsn,bsn->bn", inside, inside, out=out)

    def fit(self, data: Floats, weights: Floats | None, supports: Ints) -> tuple[Doubles, Doubles]:
        """Fit patches by supports (B, S), with -1 behind the atoms.

        Returns weights and the diagonals of the inverse Gram matrices, (B, S) both, 0 in empty slots.
        Dependent columns get weights of minimum norm.
        """
        self.begin(data, weights)
        n, width = supports.shape
        sizes, reliable, energies = (supports >= 0).sum(axis=1), np.ones(n, bool), np.empty(n)
        nothing = np.empty((0, 0))
        append_columns(
            (0, width),
            (self._rows, self._rows, self._rows),
            (nothing, nothing.view(np.intp)),
            self.observed,
            self.arrays,
            (1 / _ILL_CONDITIONED, REPEAT_BELOW, -1.0),
            (supports, sizes, energies, energies, nothing),
            reliable,
        )
        coefficients, diagonals = np.zeros((n, width)), np.zeros((n, width))
        solve_columns(width, self.arrays, coefficients)
        invert_columns(width, self.arrays, diagonals)
        strain = diagonals * self.steps[:n, 2, :width]
        ill = np.flatnonzero(~reliable | (strain > _ILL_CONDITIONED).any(axis=1))
        if ill.size:
            coefficients[ill], diagonals[ill] = self._fit_dependent(ill, data[ill], supports[ill])
        return coefficients, diagonals

    def _fit_dependent(self, rows: Ints, data: Floats, supports: Ints) -> tuple[Doubles, Doubles]:
        """Fit some patches by singular values, which is slow but accurate even for dependent columns."""
        entries, factors, counts = (each[rows] for each in self.observed)
        (n, pitch), places = entries.shape, entries.astype(np.intp)
        columns = self._rows[supports[:, :, None], places[:, None]] * factors[:, None]
        columns[supports < 0] = 0
        residual = np.take_along_axis(data, places, axis=1).astype(np.float64)
        residual[np.arange(pitch) >= counts[:, None]] = 0
        left, sizes, directions = np.linalg.svd(columns, full_matrices=False)
        visible = sizes > _NEGLIGIBLE * sizes[:, :1]
        directions *= visible[:, :, None]
        duals = left * np.divide(1, sizes, out=np.zeros_like(sizes), where=visible)[:, None]
        along = np.matvec(directions, residual)
        self.residuals[rows] = residual - np.vecmat(along, directions)
        vectors = np.zeros((n, self.capacity, pitch))
        vectors[:, : directions.shape[1]] = directions
        self.vectors[rows], self.steps[rows, 1] = vectors.reshape(n, -1), 1
        return np.matvec(duals, along), np.vecdot(duals, duals)


@Kernel
def observe(data: Floats, weights: Floats, sparse: bool, observed: Observed, residuals: Floats) -> None:
    """Write the entries that patches have, all or, if `sparse`, those with a weight, and what is there.

    Data (B, d) are multiplied by the weights (B or 1, d), which become the factors.
    """
    entries, factors, counts = observed
    for row in range(len(data)):
        own, values = weights[min(row, len(weights) - 1)], data[row]
        places, known, residual, n = entries[row], factors[row], residuals[row], _0
        for entry in range(Index(len(own))):
            places[n], known[n], residual[n] = entry, own[entry], values[entry]
            n += _1 if (own[entry] > 0) | (not sparse) else _0  # no branch, which could not be predicted
        for at in range(n, Index(len(residual))):
            places[at], known[at], residual[at] = _0, 0, 0
        counts[row] = n


@Kernel
def correlate(vectors: Floats, observed: Observed, matrix: Floats, out: Floats) -> None:
    """Write the products of vectors (B, d + 4) of patches, and their factors, with a matrix (d, n)."""
    entries, factors, counts = observed
    n_columns, flat = Index(matrix.shape[1]), matrix.reshape(-1)
    places, products = np.empty(entries.shape[1], np.uintp), np.empty(entries.shape[1], matrix.dtype)
    for row in range(len(out)):
        own, known, vector = entries[row], factors[row], vectors[row]
        for at in range(counts[row] + _4):
            places[at], products[at] = own[at] * n_columns, known[at] * vector[at]
        _combine(flat, places, counts[row], products, out[row])


@Kernel
def project(n_columns: int, observed: Observed, fits: Fits, matrix: Floats, out: Floats) -> None:
    """Write which parts of the squared lengths of columns (d, n) lie in the span of each fit: (B, n)."""
    entries, factors, counts = observed
    residuals, vectors, _, steps = fits
    n, pitch, flat = Index(matrix.shape[1]), Index(residuals.shape[1]), matrix.reshape(-1)
    places, products, parts = (
        np.empty(pitch, np.uintp),
        np.empty(pitch, matrix.dtype),
        np.empty(n, matrix.dtype),
    )
    for row in range(len(out)):
        own, known, basis, sums = entries[row], factors[row], vectors[row], out[row]
        sums[:] = 0
        for j in range(Index(n_columns)):
            unit = matrix.dtype.type(steps[row, 1, j])
            if unit > 0:
                for at in range(counts[row] + _4):
                    places[at], products[at] = own[at] * n, known[at] * basis[j * pitch + at]
                _combine(flat, places, counts[row], products, parts)
                for a in range(n):
                    sums[a] += unit * parts[a] * parts[a]


@Kernel
def append_columns(
    columns: tuple[int, int],
    dictionary: tuple[Floats, Floats, Floats],
    scores: tuple[Floats, Keys],
    observed: Observed,
    fits: Fits,
    limits: tuple[Number, ...],
    codes: tuple[Ints, Ints, Floats, Floats, Floats],
    active: Bools,
) -> None:
    """Append columns, from one number up to another, to the fits of patches that are active and below a cap.

    The dictionary is the atoms (d, k), the same as rows (k, d), and what a squared correlation is multiplied
    by to be a score, (B, k). Scores, and the same as integers, select the atoms: they are given, (B, k), or
    memory for those of one patch, (1, k); without any, (0, 0), supports do. The limits are those of `_append`
    and the squared residual at which a patch is finished. The codes are supports (B, s); caps, energies of
    the residuals and least scores, (B,) each; and the path of the energies, (B, s + 1), or (0, 0).
    """
    atoms, rows, inverse_lengths = dictionary
    entries, factors, counts = observed
    residuals, vectors, overlaps, steps = fits
    supports, caps, energies, min_scores, path = codes
    n_atoms, d, pitch = Index(atoms.shape[1]), Index(rows.shape[1]), Index(residuals.shape[1])
    flat, flat_rows = atoms.reshape(-1), rows.reshape(-1)
    places, products = np.empty(pitch, np.uintp), np.empty(pitch, atoms.dtype)
    n_scores = len(scores[0])
    for row in range(len(active)):
        own, known, residual, basis = entries[row], factors[row], residuals[row], vectors[row]
        own_overlaps, own_steps, n = overlaps[row], steps[row], counts[row]
        for j in range(columns[0], min(columns[1], caps[row])):
            if not active[row]:
                break
            chosen = Index(supports[row, j])
            if n_scores:
                number = min(row, n_scores - 1)
                if n_scores < len(active):
                    for at in range(n + _4):
                        places[at], products[at] = own[at] * n_atoms, known[at] * residual[at]
                    _combine(flat, places, n, products, scores[0][0])
                    _score(scores[0][0], inverse_lengths[row])
                chosen = _choose(scores[1][number])
                active[row] = scores[0][number, chosen] > min_scores[row]
            if active[row]:
                start, source = Index(j) * pitch, chosen * d
                for at in range(n + _3):
                    basis[start + at] = known[at] * flat_rows[source + own[at]]
                size = (n + _3) // _4 * _4
                active[row] = _append(basis, start, size, residual, limits, own_overlaps[j], own_steps)
            if active[row]:
                supports[row, j] = chosen
                energies[row] = _dot(residual, _0, residual, _0, n)
                if len(path):
                    path[row, j + 1 :] = energies[row]
                active[row] = energies[row] > limits[2]


@Kernel
def solve_columns(n_columns: int, fits: Fits, coefficients: Floats) -> None:
    """Write the coefficients (B, s) of the columns that were appended."""
    _, _, overlaps, steps = fits
    for row in range(len(coefficients)):
        for j in range(n_columns - 1, -1, -1):
            coefficient = steps[row, 0, j]
            for i in range(j + 1, n_columns):
                coefficient -= overlaps[row, i, j] * coefficients[row, i]
            coefficients[row, j] = coefficient


@Kernel
def invert_columns(n_columns: int, fits: Fits, diagonals: Doubles) -> None:
    """Add the diagonals (B, s) of the inverse Gram matrices of the columns that were appended."""
    _, _, overlaps, steps = fits
    triangle = np.zeros((n_columns, n_columns))
    for row in range(len(diagonals)):
        for j in range(n_columns):
            for i in range(j + 1):
                entry = 1.0 if i == j else 0.0
                for k in range(i, j):
                    entry -= triangle[k, i] * overlaps[row, j, k]
                triangle[j, i] = entry
                diagonals[row, i] += entry * entry * steps[row, 1, j]


@Kernel
def spread(vectors: Floats, observed: Observed, rows: Ints, out: Floats) -> None:
    """Write vectors of patches to some rows of `out`, (T, d), with zeros at entries that they do not have."""
    entries, _, counts = observed
    for b in range(len(rows)):
        row = out[rows[b]]
        row[:] = 0
        for at in range(counts[b]):
            row[entries[b, at]] = vectors[b, at]


@PartialKernel
def _combine(rows: Floats, places: Indices, n: np.uintp, factors: Floats, out: Floats) -> None:
    """Write the sum of some rows, times factors: four at a time, of which the last ones may be zero."""
    k = Index(len(out))
    for j in range(k):
        out[j] = 0
    for i in range(_0, n, _4):
        at = Index(i)
        one, two, three, four = places[at], places[at + _1], places[at + _2], places[at + _3]
        p, q, u, v = factors[at], factors[at + _1], factors[at + _2], factors[at + _3]
        for j in range(k):
            out[j] += p * rows[one + j] + q * rows[two + j] + (u * rows[three + j] + v * rows[four + j])


@PartialKernel
def _choose(keys: Keys) -> np.uintp:
    """Return the first of the atoms with the largest score."""
    # Numbers that are not negative have the order of their bits, and the largest integer is found in lanes.
    largest = keys[0]
    for atom in range(len(keys)):  # by numbers, which is faster than by elements
        largest = max(largest, keys[atom])
    last = np.int32(len(keys))
    chosen = last
    for atom in range(len(keys)):
        chosen = min(chosen, np.int32(atom) if keys[atom] == largest else last)
    return Index(chosen)


@PartialKernel
def _score(correlations: Floats, inverse: Floats) -> None:
    for atom in range(Index(len(inverse))):
        correlations[atom] = correlations[atom] * correlations[atom] * inverse[atom]


@PartialKernel
def _append(
    vectors: Floats,
    own: np.uintp,
    d: np.uintp,
    residual: Floats,
    limits: tuple[Number, ...],
    overlaps: Floats,
    steps: Floats,
) -> bool:
    """Make the vector from `own` on orthogonal to the previous ones, and the residual to it.

    Returns False if it is dependent. The overlaps with the previous vectors are in units of their squared
    lengths. The limits are the fractions of the squared length below which a vector is dependent, and made
    orthogonal a second time.
    """
    pitch = Index(len(residual))
    j = own // pitch
    overlaps[:] = 0
    length = _dot(vectors, own, vectors, own, d)
    remaining = length
    for _ in range(2):
        for i in range(j):
            steps[3, i] = _dot(vectors, i * pitch, vectors, own, d) * steps[1, i]
        for i in range(j):
            overlaps[i] += steps[3, i]
            _subtract(vectors, own, steps[3, i], vectors, i * pitch, d)
        if j == _0:
            break
        remaining = _dot(vectors, own, vectors, own, d)
        if not remaining < limits[1] * length:
            break
    if not remaining > limits[0] * length:
        return False
    steps[2, j], steps[1, j] = length, 1 / remaining
    steps[0, j] = _dot(vectors, own, residual, _0, d) * steps[1, j]
    _subtract(residual, _0, steps[0, j], vectors, own, d)
    return True


@PartialKernel
def _dot(left: Floats, first: np.uintp, right: Floats, second: np.uintp, d: np.uintp) -> Number:
    total = left.dtype.type(0)
    for at in range(d):
        total += left[first + at] * right[second + at]
    return total


@PartialKernel
def _subtract(
    target: Floats, first: np.uintp, factor: Number, vector: Floats, second: np.uintp, d: np.uintp
) -> None:
    """Subtract a multiple of a part of one array from that of another."""
    for at in range(d):
        target[first + at] -= factor * vector[second + at]
