"""What `rebuilding` does to patches, compiled, from gathering to rebuilding them: the same up to rounding.

A vector holds one number of each of `WIDTH` patches, the lanes, so that all of these are coded at once, and
no patch depends on which others these are. Indices are unsigned, and arrays one-dimensional, as vectors need
them.
"""

import numpy as np

from dictsel_core._support.compiled import InlinedKernel, Kernel
from dictsel_core._support.validation import Ints
from dictsel_core._support.vectors import (
    WIDTH,
    Place,
    Vector,
    add,
    load,
    multiply,
    multiply_add,
    splat,
    store,
    subtract,
    where_larger,
)
from dictsel_core.restoration.coding._rebuild_tables import (
    BLOCK,
    MIN_WEIGHTS,
    Indices,
    Lanes,
    PatchLimits,
    PatchTables,
    PlaneTables,
    Single,
)

Index = np.uintp

_0, _1, _LANES, _BLOCK = Index(0), Index(1), Index(WIDTH), Index(BLOCK)
_A, _B, _C, _D, _E, _F, _G = (Index(number * WIDTH) for number in range(1, 8))


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
    """Write rebuilt patches.

    Parameters
    ----------
    planes : PlaneTables
    rows, columns : (n,) ndarray of int
        The patches.
    tables : PatchTables
    limits : PatchLimits
    first : int
        Where in `out` the first patch is.
    out : (C, N, d) ndarray
    usage : (k,) ndarray of int
        The number of patches that use an atom is added to it.
    """
    n_channels, n_out, d = out.shape
    lanes = _lanes(d, tables, limits.capacity)
    values, pixels, data, supports = planes.values, lanes.pixels, lanes.data, lanes.supports
    flat = out.reshape(-1)
    for start in range(0, len(rows), WIDTH):
        _observe(planes, rows[start:], columns[start:], limits.squared_weight, lanes)
        _sum_pairs(tables, limits.squared_weight, lanes)
        _invert_lengths(tables, limits, lanes)
        n_lanes = min(WIDTH, len(rows) - start)
        for channel in range(n_channels):
            for at in range(Index(d * WIDTH)):
                data[at] = values[pixels[at] * Index(n_channels) + Index(channel)]
            _weigh(lanes, limits)
            _correlate(tables.columns, lanes)
            _pursue(tables.places, limits.threshold, lanes)
            at = (channel * n_out + first + start) * d
            _combine(tables.rows, limits.min_observed, lanes, d, flat[at : at + n_lanes * d])
            for at in range(len(supports)):
                if supports[at] < Index(len(usage)) and at % WIDTH < n_lanes:
                    usage[supports[at]] += 1


@Kernel
def _lanes(d: int, tables: PatchTables, capacity: int) -> Lanes:
    """Return memory for all lanes."""
    (n_atoms, n_entries), n_pairs, single = tables.rows.shape, len(tables.complete), np.float32
    width = n_atoms + capacity
    return Lanes(
        np.empty(d * WIDTH, np.uintp),
        np.empty(d * WIDTH, single),
        np.empty(d * WIDTH, single),
        np.empty(WIDTH, np.uintp),
        np.empty(WIDTH * n_pairs, single),
        np.empty(n_atoms * WIDTH, single),
        np.zeros(WIDTH, single),
        np.empty(WIDTH, single),
        np.empty((width + WIDTH) * WIDTH, single),  # room for atoms of zeros
        np.empty(capacity * width * WIDTH, single),
        np.empty(capacity * WIDTH, single),
        np.empty(capacity * WIDTH, single),
        np.empty(capacity * WIDTH, np.uintp),
        np.empty(WIDTH * (d + 1), np.uintp),
        np.empty(d, np.uint8),
        np.empty(n_entries, single),
        np.empty(WIDTH, single),
        np.empty(WIDTH, single),
        np.empty(WIDTH, single),
        np.empty(WIDTH, np.uintp),
        np.empty(WIDTH, np.bool_),
    )


@Kernel
def _observe(
    planes: PlaneTables, rows: Ints, columns: Ints, squared_weight: np.float32, lanes: Lanes
) -> None:
    """Write where the pixels of patches are, their weights, and the entries to list."""
    down, across, hidden, flags = planes.down, planes.across, planes.hidden, lanes.flags
    pixels, squares, entries, d = lanes.pixels, lanes.squares, lanes.entries, Index(len(lanes.flags))
    size, one = Index(round(np.sqrt(d))), np.float32(1)
    for lane in range(_LANES):
        patch = min(Index(lane), Index(len(rows) - 1))  # the last one as often as needed
        row, column = Index(rows[patch]), Index(columns[patch])
        at, entry, n_hidden = Index(lane), _0, _0
        for i in range(size):
            base = down[row + i]
            for j in range(size):
                pixel = base + across[column + j]
                flag = hidden[pixel]
                pixels[at], flags[entry] = pixel, flag
                squares[at] = one - np.float32(flag) + np.float32(flag) * squared_weight
                n_hidden += Index(flag)
                entry, at = entry + _1, at + _LANES
        lanes.n_observed[lane] = d - n_hidden
        is_listed, count = np.uint8(n_hidden + n_hidden < d), lane * (d + _1)
        for number in range(d):  # without branches, which could not be predicted
            entries[count] = number
            count += Index(flags[number] == is_listed)


@Kernel
def _sum_pairs(tables: PatchTables, squared_weight: np.float32, lanes: Lanes) -> None:
    """Write the products of all pairs of atoms under each mask: the listed entries, or all less these."""
    pairs, complete, n_pairs = tables.pairs.reshape(-1), tables.complete, Index(len(tables.complete))
    entries, n_observed, grams, d = lanes.entries, lanes.n_observed, lanes.grams, Index(len(lanes.flags))
    for block in range(_0, n_pairs, _BLOCK):  # of all entries, it stays in the cache
        for lane in range(_LANES):
            is_dense = n_observed[lane] + n_observed[lane] > d
            count = d - n_observed[lane] if is_dense else n_observed[lane]
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = splat(np.float32(0))
            for i in range(lane * (d + _1), lane * (d + _1) + count):
                at = entries[i] * n_pairs + block
                s0, s1 = add(s0, load(pairs, at)), add(s1, load(pairs, at + _A))
                s2, s3 = add(s2, load(pairs, at + _B)), add(s3, load(pairs, at + _C))
                s4, s5 = add(s4, load(pairs, at + _D)), add(s5, load(pairs, at + _E))
                s6, s7 = add(s6, load(pairs, at + _F)), add(s7, load(pairs, at + _G))
            at, sign = lane * n_pairs + block, splat(np.float32(-1 if is_dense else 1))
            part = splat(np.float32(1) if is_dense else squared_weight)
            store(grams, at, multiply_add(sign, s0, multiply(part, load(complete, block))))
            store(grams, at + _A, multiply_add(sign, s1, multiply(part, load(complete, block + _A))))
            store(grams, at + _B, multiply_add(sign, s2, multiply(part, load(complete, block + _B))))
            store(grams, at + _C, multiply_add(sign, s3, multiply(part, load(complete, block + _C))))
            store(grams, at + _D, multiply_add(sign, s4, multiply(part, load(complete, block + _D))))
            store(grams, at + _E, multiply_add(sign, s5, multiply(part, load(complete, block + _E))))
            store(grams, at + _F, multiply_add(sign, s6, multiply(part, load(complete, block + _F))))
            store(grams, at + _G, multiply_add(sign, s7, multiply(part, load(complete, block + _G))))


@Kernel
def _invert_lengths(tables: PatchTables, limits: PatchLimits, lanes: Lanes) -> None:
    """Write one over the squared lengths of atoms; 0 of those that are not used."""
    grams, inverse, n_observed, usable = lanes.grams, lanes.inverse_lengths, lanes.n_observed, tables.usable
    places, n_atoms, n_pairs = tables.places.reshape(-1), Index(len(usable)), Index(len(tables.complete))
    unused, at = np.float32(np.inf), _0
    for atom in range(n_atoms):
        pair, is_usable = places[Index(atom) * (n_atoms + _1)], usable[atom]
        for lane in range(_LANES):
            visible = limits.threshold * (np.float32(1) if n_observed[lane] > _0 else limits.squared_weight)
            length = grams[lane * n_pairs + pair]
            inverse[at] = length if length > visible and is_usable else unused
            at += _1
    for place in range(Index(len(inverse))):
        inverse[place] = np.float32(1) / inverse[place]


@Kernel
def _weigh(lanes: Lanes, limits: PatchLimits) -> None:
    """Multiply data by squared weights, less their mean if it is coded separately; write bounds on scores."""
    data, squares, mean = lanes.data, lanes.squares, splat(np.float32(0))
    if limits.centered:
        total, weight = splat(np.float32(0)), splat(np.float32(0))
        for at in range(_0, Index(len(data)), _LANES):
            weight = add(weight, load(squares, at))
            total = multiply_add(load(squares, at), load(data, at), total)
        store(lanes.means, _0, total)
        store(lanes.min_scores, _0, weight)
        for lane in range(WIDTH):
            lanes.means[lane] /= max(lanes.min_scores[lane], MIN_WEIGHTS)
        mean = load(lanes.means, _0)
    energy = splat(np.float32(0))
    for at in range(_0, Index(len(data)), _LANES):
        value = subtract(load(data, at), mean)
        weighted = multiply(load(squares, at), value)
        store(data, at, weighted)
        energy = multiply_add(weighted, value, energy)
    store(lanes.min_scores, _0, multiply(energy, splat(limits.threshold * limits.threshold)))


@Kernel
def _correlate(columns: Single, lanes: Lanes) -> None:
    """Write the inner products of data with all atoms, of which there is a multiple of eight."""
    atoms, data, rest, n_atoms = columns.reshape(-1), lanes.data, lanes.rest, Index(columns.shape[1])
    for first in range(_0, n_atoms, _LANES):
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = splat(np.float32(0))
        at = Index(first)
        for entry in range(_0, Index(len(data)), _LANES):
            value = load(data, entry)
            s0 = multiply_add(splat(atoms[at]), value, s0)
            s1 = multiply_add(splat(atoms[at + Index(1)]), value, s1)
            s2 = multiply_add(splat(atoms[at + Index(2)]), value, s2)
            s3 = multiply_add(splat(atoms[at + Index(3)]), value, s3)
            s4 = multiply_add(splat(atoms[at + Index(4)]), value, s4)
            s5 = multiply_add(splat(atoms[at + Index(5)]), value, s5)
            s6 = multiply_add(splat(atoms[at + Index(6)]), value, s6)
            s7 = multiply_add(splat(atoms[at + Index(7)]), value, s7)
            at += n_atoms
        _store_block(rest, first * _LANES, s0, s1, s2, s3, s4, s5, s6, s7)


@Kernel
def _pursue(places: Indices, threshold: np.float32, lanes: Lanes) -> None:
    """Write supports and coefficients; see `gram._pursue`."""
    n_atoms, capacity = Index(len(places)), Index(len(lanes.inverse) // WIDTH)
    rest, vectors, inverse, overlaps, grams = (
        lanes.rest,
        lanes.vectors,
        lanes.inverse,
        lanes.overlaps,
        lanes.grams,
    )
    inverse_lengths, supports, min_scores = lanes.inverse_lengths, lanes.supports, lanes.min_scores
    scores, steps, chosen, atoms, active = lanes.scores, lanes.steps, lanes.chosen, lanes.atoms, lanes.active
    pitch = (n_atoms + capacity) * _LANES
    active[:] = True
    supports[:] = n_atoms
    rest[n_atoms * _LANES : pitch] = 0
    for j in range(capacity):
        _choose(rest, inverse_lengths, n_atoms, scores, chosen)
        for lane in range(_LANES):
            atoms[lane] = Index(np.intp(chosen[lane]))
            active[lane] &= scores[lane] > min_scores[lane]
        if not active.any():
            break
        start = j * pitch
        _orthogonalize(j, places, atoms, grams, vectors, overlaps, inverse, scores)
        for lane in range(_LANES):
            atom = atoms[lane]
            remaining = vectors[start + atom * _LANES + lane]  # <q_j, a> = |q_j|^2
            active[lane] &= remaining > threshold * scores[lane]
            one = np.float32(1) / remaining if active[lane] else np.float32(0)
            inverse[j * _LANES + lane] = one
            steps[lane] = rest[atom * _LANES + lane] * one
            supports[j * _LANES + lane] = atom if active[lane] else n_atoms
        step = load(steps, _0)
        for at in range(_0, (n_atoms + j + _1) * _LANES, _LANES):
            store(rest, at, subtract(load(rest, at), multiply(step, load(vectors, start + at))))


@Kernel
def _choose(rest: Single, inverse_lengths: Single, n_atoms: np.uintp, scores: Single, chosen: Single) -> None:
    """Write the best score in each lane, and the atom that has it, the first of equal ones."""
    best, atoms = splat(np.float32(-1)), splat(np.float32(0))
    for atom in range(n_atoms):
        correlation = load(rest, atom * _LANES)
        score = multiply(multiply(correlation, correlation), load(inverse_lengths, atom * _LANES))
        atoms = where_larger(score, best, splat(np.float32(atom)), atoms)
        best = where_larger(score, best, score, best)
    store(scores, _0, best)
    store(chosen, _0, atoms)


@Kernel
def _orthogonalize(
    j: Place,
    places: Indices,
    atoms: Indices,
    grams: Single,
    vectors: Single,
    overlaps: Single,
    inverse: Single,
    lengths: Single,
) -> None:
    """Make the j-th vector of each lane, an atom, orthogonal to previous ones; write its squared length."""
    n_atoms, capacity = Index(len(places)), Index(len(inverse) // WIDTH)
    flat, n_pairs = places.reshape(-1), Index(len(grams) // WIDTH)
    pitch = (n_atoms + capacity) * _LANES
    start = j * pitch
    for lane in range(_LANES):
        atom = atoms[lane]
        gram, place, at = lane * n_pairs, atom * n_atoms, start + lane
        for other in range(n_atoms):
            vectors[at] = grams[gram + flat[place + other]]
            at += _LANES
        at = atom * _LANES + lane
        lengths[lane] = vectors[start + at]
        for i in range(j):
            overlaps[i * _LANES + lane] = vectors[i * pitch + at] * inverse[i * _LANES + lane]
    for row in range(_0, n_atoms * _LANES, _LANES):
        _project(load(vectors, start + row), _0, j, row, pitch, overlaps, vectors)
    for i in range(j):
        _project(splat(np.float32(0)), i, j, (n_atoms + i) * _LANES, pitch, overlaps, vectors)
    store(vectors, start + (n_atoms + j) * _LANES, splat(np.float32(1)))


@InlinedKernel
def _project(
    value: Vector,
    first: Place,
    j: Place,
    at: Place,
    pitch: np.uintp,
    overlaps: Single,
    vectors: Single,
) -> None:
    """Write an entry of the j-th vector: a value less those of previous vectors, times their overlaps."""
    for i in range(first, j):
        value = subtract(value, multiply(load(overlaps, i * _LANES), load(vectors, i * pitch + at)))
    store(vectors, j * pitch + at, value)


@Kernel
def _combine(rows: Single, min_observed: int, lanes: Lanes, d: int, out: Single) -> None:
    """Write patches: their means, and their atoms times their coefficients."""
    means, supports, rest, n_observed = lanes.means, lanes.supports, lanes.rest, lanes.n_observed
    n_atoms, pitch, flat = Index(rows.shape[0]), Index(rows.shape[1]), rows.reshape(-1)
    patch = lanes.patch
    for lane in range(Index(len(out) // d)):
        for block in range(_0, pitch, _BLOCK):
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = splat(means[lane])
            for j in range(Index(len(supports)) // _LANES):
                atom = supports[j * _LANES + lane]
                if atom < n_atoms:
                    at, factor = atom * pitch + block, splat(-rest[(n_atoms + j) * _LANES + lane])
                    s0 = multiply_add(factor, load(flat, at), s0)
                    s1 = multiply_add(factor, load(flat, at + _A), s1)
                    s2 = multiply_add(factor, load(flat, at + _B), s2)
                    s3 = multiply_add(factor, load(flat, at + _C), s3)
                    s4 = multiply_add(factor, load(flat, at + _D), s4)
                    s5 = multiply_add(factor, load(flat, at + _E), s5)
                    s6 = multiply_add(factor, load(flat, at + _F), s6)
                    s7 = multiply_add(factor, load(flat, at + _G), s7)
            _store_block(patch, block, s0, s1, s2, s3, s4, s5, s6, s7)
        is_known = n_observed[lane] >= Index(min_observed)
        for entry in range(Index(d)):
            out[lane * Index(d) + entry] = patch[entry] if is_known else np.float32(np.nan)


@InlinedKernel
def _store_block(  # noqa: PLR0913, PLR0917
    out: Single,
    at: Place,
    s0: Vector,
    s1: Vector,
    s2: Vector,
    s3: Vector,
    s4: Vector,
    s5: Vector,
    s6: Vector,
    s7: Vector,
) -> None:
    """Write vectors one after the other."""
    store(out, at, s0)
    store(out, at + _A, s1)
    store(out, at + _B, s2)
    store(out, at + _C, s3)
    store(out, at + _D, s4)
    store(out, at + _E, s5)
    store(out, at + _F, s6)
    store(out, at + _G, s7)
