"""Patches gathered, coded by orthogonal matching pursuit, and rebuilt.

`LANES` patches are coded at once: the innermost loops are over these, so that each of their numbers is a
number of a vector, and no patch depends on which others these are.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.compiled import Kernel, PartialKernel
from dictsel_core._util.validation import Bools, Ints

Single = NDArray[np.float32]
Indices = NDArray[np.uintp]
Index = np.uintp
Place = int | np.uintp

#: Patches that are coded at the same time.
LANES = 32
#: Sum of the squared weights of a patch, of which a mean is taken, at least.
_MIN_WEIGHTS = np.float32(1e-6)
_0, _1, _2, _3, _4, _LANES = (Index(number) for number in (0, 1, 2, 3, 4, LANES))
_ZERO, _ONE = np.float32(0), np.float32(1)


class PlaneTables(NamedTuple):
    """Planes, of which patches are gathered."""

    values: Single  #: (H * W * C,), with a first estimate of every missing pixel
    hidden: NDArray[np.uint8]  #: (H * W,), 1 where missing, otherwise 0
    down: Indices  #: of the mirrored planes: the first pixel of each row,
    across: Indices  #: and the number of each column


class PatchTables(NamedTuple):
    """A dictionary of k atoms of d entries, as kernels need it."""

    pairs: Single  #: ((d + 1) * P,), products of all P pairs, times 1 less the squared weight; then zeros
    complete: Single  #: (P,), sums of the products of all pairs over all entries
    places: Indices  #: (k * k,), where the products of two atoms are
    atoms: Single  #: (k * d,), atom by atom
    usable: Bools  #: (k,), atoms that may be chosen


class PatchLimits(NamedTuple):
    """Numbers that say how patches are coded."""

    squared_weight: np.float32  #: of missing pixels
    threshold: np.float32  #: an atom is dependent if less of its squared length is orthogonal to the others
    centered: bool  #: whether the mean is coded separately
    capacity: int  #: maximum number of atoms of a patch
    min_observed: int  #: patches with fewer observed pixels become NaN


@Kernel
def rebuild(
    planes: PlaneTables,
    rows: Ints,
    columns: Ints,
    tables: PatchTables,
    limits: PatchLimits,
    first: int,
    out: Single,
    usage: Ints,
) -> None:
    """Write patches to `out`, (C, N, d), from `first` on; add how many use each atom to `usage`, (k,)."""
    n_channels, n_out, d = out.shape
    values, atoms, places = planes.values, tables.atoms, tables.places
    squared_weight, threshold, centered = limits.squared_weight, limits.threshold, limits.centered
    length, n_atoms, capacity = Index(d), Index(len(usage)), Index(limits.capacity)
    n_pairs, n_numbers = Index(len(tables.complete)), (n_atoms + capacity) * _LANES
    pixels, squares = np.empty(length * _LANES, np.uintp), np.empty(length * _LANES, np.float32)
    n_observed, entries = np.empty(_LANES, np.uintp), np.empty(_LANES * (length + _4), np.uintp)
    data, grams = np.empty(length * _LANES, np.float32), np.empty(_LANES * n_pairs, np.float32)
    inverse_lengths, means = np.empty(n_atoms * _LANES, np.float32), np.zeros(_LANES, np.float32)
    rest, vectors = np.empty(n_numbers, np.float32), np.empty(capacity * n_numbers, np.float32)
    supports, min_scores = np.empty(capacity * _LANES, np.uintp), np.empty(_LANES, np.float32)
    steps, flat = np.empty((_2 * capacity + _3) * _LANES, np.float32), out.reshape(-1)
    for start in range(_0, Index(len(rows)), _LANES):
        n_lanes = min(_LANES, Index(len(rows)) - Index(start))
        for lane in range(_LANES):  # the last patch as often as needed
            patch = start + min(Index(lane), n_lanes - _1)
            row, column = Index(rows[patch]), Index(columns[patch])
            own = entries[lane * (length + _4) : (lane + _1) * (length + _4)]
            n_observed[lane] = _observe(planes, row, column, squared_weight, lane, pixels, squares, own)
            _sum_pairs(
                tables.pairs, tables.complete, own, n_observed[lane], length, squared_weight, grams, lane
            )
        _invert_lengths(tables, grams, n_observed, squared_weight, threshold, inverse_lengths)
        for channel in range(Index(n_channels)):
            for at in range(length * _LANES):
                data[at] = values[pixels[at] * Index(n_channels) + channel]
            _weigh(data, squares, centered, threshold, means, min_scores)
            _correlate(atoms, data, n_atoms, rest)
            _pursue(places, grams, inverse_lengths, (threshold, min_scores), rest, vectors, supports, steps)
            for lane in range(n_lanes):
                to = (channel * Index(n_out) + Index(first) + start + lane) * length
                is_known = n_observed[lane] >= Index(limits.min_observed)
                mean = means[lane] if is_known else np.float32(np.nan)
                for entry in range(length):
                    flat[to + entry] = mean
                for j in range(capacity):
                    atom = supports[j * _LANES + lane]
                    if atom < n_atoms:
                        usage[atom] += 1
                        weight = -rest[(n_atoms + j) * _LANES + lane]
                        for entry in range(length):
                            flat[to + entry] += weight * atoms[atom * length + entry]


@PartialKernel
def _observe(
    planes: PlaneTables,
    row: np.uintp,
    column: np.uintp,
    squared_weight: np.float32,
    lane: Place,
    pixels: Indices,
    squares: Single,
    entries: Indices,
) -> np.uintp:
    """Write where the pixels of a patch are, their weights, and the entries to sum.

    Those are the observed ones, or the missing ones if they are fewer, then some that do not exist. Returns
    how many are observed.
    """
    down, across, hidden = planes.down, planes.across, planes.hidden
    d = Index(len(entries)) - _4
    size, at, n_hidden = Index(round(np.sqrt(d))), Index(lane), _0
    for i in range(size):
        base = down[row + i]
        for j in range(size):
            pixel = base + across[column + j]
            flag = hidden[pixel]
            pixels[at] = pixel
            squares[at] = _ONE - np.float32(flag) + np.float32(flag) * squared_weight
            n_hidden += Index(flag)
            at += _LANES
    is_listed, count = np.uint8(n_hidden + n_hidden < d), _0
    for number in range(d):
        entries[count] = number
        count += Index(hidden[pixels[lane + number * _LANES]] == is_listed)
    for behind in range(count, count + _4):
        entries[behind] = d
    return d - n_hidden


@PartialKernel
def _sum_pairs(
    pairs: Single,
    complete: Single,
    entries: Indices,
    n_observed: np.uintp,
    d: np.uintp,
    squared_weight: np.float32,
    grams: Single,
    lane: Place,
) -> None:
    """Write the products of all pairs of atoms under a mask: those of entries, or all less these."""
    n_pairs, is_dense = Index(len(complete)), n_observed + n_observed > d
    count, sign = d - n_observed if is_dense else n_observed, np.float32(-1 if is_dense else 1)
    part, to = _ONE if is_dense else squared_weight, lane * n_pairs
    for pair in range(n_pairs):
        grams[to + pair] = part * complete[pair]
    for i in range(_0, count, _4):
        at = Index(i)
        a, b = entries[at] * n_pairs, entries[at + _1] * n_pairs
        c, e = entries[at + _2] * n_pairs, entries[at + _3] * n_pairs
        for pair in range(n_pairs):
            products = pairs[a + pair] + pairs[b + pair] + (pairs[c + pair] + pairs[e + pair])
            grams[to + pair] += sign * products


@PartialKernel
def _invert_lengths(
    tables: PatchTables,
    grams: Single,
    n_observed: Indices,
    squared_weight: np.float32,
    threshold: np.float32,
    inverse: Single,
) -> None:
    """Write one over the squared lengths of atoms; 0 of those that are not used."""
    n_atoms, n_pairs = Index(len(tables.usable)), Index(len(tables.complete))
    for atom in range(n_atoms):
        pair = tables.places[atom * (n_atoms + _1)]
        for lane in range(_LANES):
            visible = threshold * (_ONE if n_observed[lane] > _0 else squared_weight)
            length = grams[lane * n_pairs + pair]
            is_used = length > visible and tables.usable[atom]
            inverse[atom * _LANES + lane] = _ONE / length if is_used else _ZERO


@PartialKernel
def _weigh(
    data: Single, squares: Single, centered: bool, threshold: np.float32, means: Single, min_scores: Single
) -> None:
    """Multiply data by squared weights, less their mean if it is coded separately; write bounds on scores."""
    n_values = Index(len(data))
    if centered:
        means[:] = _ZERO
        min_scores[:] = _ZERO  # the sums of weights
        for start in range(_0, n_values, _LANES):
            for lane in range(_LANES):
                min_scores[lane] += squares[start + lane]
                means[lane] += squares[start + lane] * data[start + lane]
        for lane in range(_LANES):
            means[lane] /= max(min_scores[lane], _MIN_WEIGHTS)
    min_scores[:] = _ZERO
    for start in range(_0, n_values, _LANES):
        for lane in range(_LANES):
            value = data[start + lane] - means[lane]
            weighted = squares[start + lane] * value
            data[start + lane] = weighted
            min_scores[lane] += threshold * threshold * weighted * value


@PartialKernel
def _correlate(atoms: Single, data: Single, n_atoms: np.uintp, rest: Single) -> None:
    """Write the inner products of data with all atoms."""
    rest[:] = _ZERO
    d = Index(len(data)) // _LANES
    for entry in range(_0, d - _1, _2):
        at = entry * _LANES
        for atom in range(n_atoms):
            to, one, other = atom * _LANES, atoms[atom * d + entry], atoms[atom * d + entry + _1]
            for lane in range(_LANES):
                rest[to + lane] += one * data[at + lane] + other * data[at + _LANES + lane]
    if d % _2:
        at = (d - _1) * _LANES
        for atom in range(n_atoms):
            for lane in range(_LANES):
                rest[atom * _LANES + lane] += atoms[atom * d + d - _1] * data[at + lane]


@PartialKernel
def _pursue(
    places: Indices,
    grams: Single,
    inverse_lengths: Single,
    limits: tuple[np.float32, Single],
    rest: Single,
    vectors: Single,
    supports: Indices,
    steps: Single,
) -> None:
    """Write supports, in which the number of atoms stands for none, and coefficients, negative.

    Every selected atom is made orthogonal to the previous ones in the inner product of its patch: of each
    such vector there are its products with all atoms, then its coefficients, and the same of the residual,
    `rest`. In `steps` are the inverse squared lengths of vectors and their overlaps with the next one, and of
    this one the score, the atom, and the step. The limits are the threshold and the least scores.
    """
    n_atoms, capacity = Index(len(inverse_lengths)) // _LANES, Index(len(supports)) // _LANES
    n_pairs, pitch = Index(len(grams)) // _LANES, Index(len(rest))
    score = _2 * capacity * _LANES
    chosen, step = score + _LANES, score + _2 * _LANES
    threshold, min_scores = limits
    supports[:] = n_atoms
    n_active, start = _1, _0
    for j in range(capacity):
        if n_active == _0:
            break
        _choose(rest, inverse_lengths, steps[score : score + _2 * _LANES])
        _orthogonalize(j, places, grams, steps, vectors, pitch)
        n_active = _0
        for lane in range(_LANES):
            atom = Index(np.intp(steps[chosen + lane]))
            remaining = vectors[start + atom * _LANES + lane]  # <q_j, a> = |q_j|^2
            length = grams[lane * n_pairs + places[atom * (n_atoms + _1)]]
            is_active = j == _0 or supports[(j - _1) * _LANES + lane] < n_atoms
            is_active &= steps[score + lane] > min_scores[lane] and remaining > threshold * length
            inverse = _ONE / remaining if is_active else _ZERO
            steps[j * _LANES + lane] = inverse
            steps[step + lane] = rest[atom * _LANES + lane] * inverse
            supports[j * _LANES + lane] = atom if is_active else n_atoms
            n_active += Index(is_active)
        for at in range(_0, (n_atoms + j + _1) * _LANES, _LANES):
            for lane in range(_LANES):
                rest[at + lane] -= steps[step + lane] * vectors[start + at + lane]
        start += pitch


@PartialKernel
def _choose(rest: Single, inverse_lengths: Single, best: Single) -> None:
    """Write the best score of each lane, and behind them the first atoms that have these."""
    for lane in range(_LANES):
        best[lane], best[_LANES + lane] = np.float32(-1), _ZERO
    for atom in range(Index(len(inverse_lengths)) // _LANES):
        for lane in range(_LANES):
            correlation = rest[atom * _LANES + lane]
            score = correlation * correlation * inverse_lengths[atom * _LANES + lane]
            is_better = score > best[lane]
            best[_LANES + lane] = np.float32(atom) if is_better else best[_LANES + lane]
            best[lane] = score if is_better else best[lane]


@PartialKernel
def _orthogonalize(
    j: Place, places: Indices, grams: Single, steps: Single, vectors: Single, pitch: np.uintp
) -> None:
    """Make the j-th vector of each lane, an atom, orthogonal to previous ones."""
    n_pairs, n_atoms = Index(len(grams)) // _LANES, Index(round(np.sqrt(len(places))))
    capacity, start = pitch // _LANES - n_atoms, j * pitch
    overlaps, chosen = capacity * _LANES, (_2 * capacity + _1) * _LANES
    for lane in range(_LANES):
        atom = Index(np.intp(steps[chosen + lane]))
        for other in range(n_atoms):
            vectors[start + other * _LANES + lane] = grams[lane * n_pairs + places[atom * n_atoms + other]]
        for i in range(capacity):
            vectors[start + (n_atoms + i) * _LANES + lane] = _ONE if i == j else _ZERO
        for i in range(j):
            product = vectors[i * pitch + atom * _LANES + lane]
            steps[overlaps + i * _LANES + lane] = product * steps[i * _LANES + lane]
    for i in range(j):
        for at in range(_0, (n_atoms + j) * _LANES, _LANES):
            for lane in range(_LANES):
                part = steps[overlaps + i * _LANES + lane] * vectors[i * pitch + at + lane]
                vectors[start + at + lane] -= part
