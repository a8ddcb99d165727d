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
LANES = 64
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
    values, atoms, places, flat = planes.values, tables.atoms, tables.places, out.reshape(-1)
    squared_weight, threshold = limits.squared_weight, limits.threshold
    n_supports, n_numbers = LANES * limits.capacity, LANES * (len(usage) + limits.capacity)
    pixels, squares = np.empty(d * LANES, np.uintp), np.empty(d * LANES, np.float32)
    n_observed, entries = np.empty(LANES, np.uintp), np.empty(d + 4, np.uintp)
    data, grams = np.empty(d * LANES, np.float32), np.empty(LANES * len(tables.complete), np.float32)
    inverse_lengths, numbers = np.empty(len(usage) * LANES, np.float32), np.empty(4 * LANES, np.float32)
    rest, vectors = np.empty(n_numbers, np.float32), np.empty(limits.capacity * n_numbers, np.float32)
    supports, steps = np.empty(n_supports, np.uintp), np.empty(2 * n_supports, np.float32)
    length, n_atoms, capacity = Index(d), Index(len(usage)), Index(limits.capacity)
    n_pairs = Index(len(tables.complete))
    for start in range(_0, Index(len(rows)), _LANES):
        n_lanes = min(_LANES, Index(len(rows)) - Index(start))
        for lane in range(_LANES):  # the last patch as often as needed
            patch = start + min(Index(lane), n_lanes - _1)
            row, column = Index(rows[patch]), Index(columns[patch])
            n_observed[lane] = _observe(planes, row, column, squared_weight, lane, pixels, squares, entries)
            _sum_pairs(tables, entries, n_observed[lane], squared_weight, grams, lane)
        for atom in range(n_atoms):
            pair = places[atom * (n_atoms + _1)]
            for lane in range(_LANES):
                visible = threshold * (_ONE if n_observed[lane] > _0 else squared_weight)
                square = grams[lane * n_pairs + pair]
                is_used = square > visible and tables.usable[atom]
                inverse_lengths[atom * _LANES + lane] = _ONE / square if is_used else _ZERO
        for channel in range(Index(n_channels)):
            for at in range(length * _LANES):
                data[at] = values[pixels[at] * Index(n_channels) + channel]
            _correlate(limits, atoms, squares, data, numbers, rest)
            _pursue((places, grams, inverse_lengths), threshold, numbers, rest, vectors, supports, steps)
            for lane in range(n_lanes):
                to = (channel * Index(n_out) + Index(first) + start + lane) * length
                is_known = n_observed[lane] >= Index(limits.min_observed)
                mean = numbers[_3 * _LANES + lane] if is_known else np.float32(np.nan)
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
    tables: PatchTables,
    entries: Indices,
    n_observed: np.uintp,
    squared_weight: np.float32,
    grams: Single,
    lane: Place,
) -> None:
    """Write the products of all pairs of atoms under a mask: those of entries, or all less these."""
    pairs, complete, d = tables.pairs, tables.complete, Index(len(entries)) - _4
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
def _correlate(
    limits: PatchLimits, atoms: Single, squares: Single, data: Single, numbers: Single, rest: Single
) -> None:
    """Write the inner products of weighted data with all atoms, `rest`.

    Data are less their mean if it is coded separately. Of the four numbers of each lane, that mean is the
    last one, and the least score of an atom that is chosen the one before.
    """
    n_values, n_atoms = Index(len(data)), Index(len(rest)) // _LANES - Index(limits.capacity)
    d, least, means = n_values // _LANES, _2 * _LANES, _3 * _LANES
    numbers[:] = _ZERO
    rest[:] = _ZERO
    if limits.centered:
        for start in range(_0, n_values, _LANES):
            for lane in range(_LANES):
                numbers[lane] += squares[start + lane]
                numbers[means + lane] += squares[start + lane] * data[start + lane]
        for lane in range(_LANES):
            numbers[means + lane] /= max(numbers[lane], _MIN_WEIGHTS)
    for start in range(_0, n_values, _LANES):
        for lane in range(_LANES):
            value = data[start + lane] - numbers[means + lane]
            weighted = squares[start + lane] * value
            data[start + lane] = weighted
            numbers[least + lane] += limits.threshold * limits.threshold * weighted * value
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
    products: tuple[Indices, Single, Single],
    threshold: np.float32,
    numbers: Single,
    rest: Single,
    vectors: Single,
    supports: Indices,
    steps: Single,
) -> None:
    """Write supports, in which the number of atoms stands for none, and coefficients, negative.

    Every selected atom is made orthogonal to the previous ones in the inner product of its patch: of each
    such vector there are its products with all atoms, then its coefficients, and the same of the residual,
    `rest`. Steps are the inverse squared lengths of vectors, and then their overlaps with the next one.
    Of the numbers of each lane, the second is the atom, then the step.
    """
    places, grams, inverse_lengths = products
    n_atoms, capacity = Index(len(inverse_lengths)) // _LANES, Index(len(supports)) // _LANES
    n_pairs, pitch, overlaps = Index(len(grams)) // _LANES, Index(len(rest)), capacity * _LANES
    supports[:] = n_atoms
    n_active, new = _1, _0
    for j in range(capacity):
        if n_active == _0:
            break
        _choose(rest, inverse_lengths, numbers)
        for lane in range(_LANES):
            atom = Index(np.intp(numbers[_LANES + lane]))
            for other in range(n_atoms):
                vectors[new + other * _LANES + lane] = grams[lane * n_pairs + places[atom * n_atoms + other]]
            for i in range(capacity):
                vectors[new + (n_atoms + i) * _LANES + lane] = _ONE if i == j else _ZERO
            for i in range(j):
                product = vectors[i * pitch + atom * _LANES + lane]
                steps[overlaps + i * _LANES + lane] = product * steps[i * _LANES + lane]
        for i in range(j):
            for at in range(_0, (n_atoms + j) * _LANES, _LANES):
                for lane in range(_LANES):
                    part = steps[overlaps + i * _LANES + lane] * vectors[i * pitch + at + lane]
                    vectors[new + at + lane] -= part
        n_active = _0
        for lane in range(_LANES):
            atom = Index(np.intp(numbers[_LANES + lane]))
            remaining = vectors[new + atom * _LANES + lane]  # <q_j, a> = |q_j|^2
            length = grams[lane * n_pairs + places[atom * (n_atoms + _1)]]
            is_active = j == _0 or supports[(j - _1) * _LANES + lane] < n_atoms
            is_active &= numbers[lane] > numbers[_2 * _LANES + lane] and remaining > threshold * length
            inverse = _ONE / remaining if is_active else _ZERO
            steps[j * _LANES + lane] = inverse
            numbers[_LANES + lane] = rest[atom * _LANES + lane] * inverse
            supports[j * _LANES + lane] = atom if is_active else n_atoms
            n_active += Index(is_active)
        for at in range(_0, (n_atoms + j + _1) * _LANES, _LANES):
            for lane in range(_LANES):
                rest[at + lane] -= numbers[_LANES + lane] * vectors[new + at + lane]
        new += pitch


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
