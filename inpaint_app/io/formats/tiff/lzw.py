"""LZW as TIFF has it, unpacked by whole-array operations.

After a clear code the widths of the codes are known beforehand: the table grows by one entry with each. So
all codes up to the next clear code are cut out of the bits at once. Entry 258 + i of the table is what code i
stands for and the first byte of what follows, which is a piece of the output. So a code above 257 says: copy
from there; and where such copies come from is found by following all references at once, in as many steps as
the longest chain has binary digits.
"""

import numpy as np
import numpy.typing as npt

from inpaint_app.errors import DamagedError

Ints = npt.NDArray[np.int64]

_CLEAR, _END, _FIRST, _MAX_ENTRIES = 256, 257, 258, 4096
# Widths of the codes after a clear code; the first two are read with an empty table.
_NEXT_ENTRY = np.maximum(np.arange(_MAX_ENTRIES - _FIRST + 1) - 1, 0) + _FIRST
_WIDTHS = (9 + (_NEXT_ENTRY >= 511) + (_NEXT_ENTRY >= 1023) + (_NEXT_ENTRY >= 2047)).astype(np.int64)
_STARTS = np.concatenate(([0], np.cumsum(_WIDTHS)))


def unpack_lzw(packed: bytes, size: int) -> bytes:
    """Return what LZW codes stand for, at most `size` bytes; fewer if they end early.

    Raises `DamagedError` if a code refers to what is not there yet.
    """
    stored = np.frombuffer(packed + bytes(4), np.uint8).astype(np.int64)
    n_bits, position, parts, n_bytes = 8 * len(packed), 0, [], 0
    while n_bytes < size:
        codes = _codes(stored, position, n_bits)
        stops = np.flatnonzero((codes == _CLEAR) | (codes == _END))
        n_codes = int(stops[0]) if stops.size else len(codes)
        if n_codes:
            parts.append(_resolve(codes[:n_codes], size - n_bytes))
            n_bytes += len(parts[-1])
        if not stops.size or codes[n_codes] == _END:
            break
        position += int(_STARTS[n_codes + 1])
    return b"".join(parts)[:size]


def _codes(stored: Ints, position: int, n_bits: int) -> Ints:
    """Return the codes from a position on that lie within the data, as many as the table has room for."""
    n_codes = int(np.searchsorted(_STARTS, n_bits - position, side="right")) - 1
    n_codes = min(max(n_codes, 0), len(_WIDTHS))
    starts, widths = position + _STARTS[:n_codes], _WIDTHS[:n_codes]
    first, shift = starts >> 3, starts & 7
    bits = (stored[first] << 24) | (stored[first + 1] << 16) | (stored[first + 2] << 8) | stored[first + 3]
    codes: Ints = (bits >> (32 - widths - shift)) & ((1 << widths) - 1)
    return codes


def _resolve(codes: Ints, size: int) -> bytes:
    """Return what the codes of one table stand for, about `size` bytes at most."""
    numbers = np.arange(len(codes))
    parents = np.where(codes >= _FIRST, codes - _FIRST, numbers)
    if bool((parents >= numbers).sum() != np.count_nonzero(codes < _FIRST)):
        raise DamagedError("its pixels cannot be unpacked")
    lengths, above = (codes >= _FIRST).astype(np.int64), parents
    while True:  # the length of a string is the number of references to its first byte, plus one
        further = above[above]
        if np.array_equal(further, above):
            break
        lengths, above = lengths + lengths[above], further
    lengths = lengths + 1
    ends = np.cumsum(lengths)
    n_kept = min(int(np.searchsorted(ends, size)) + 1, len(codes))
    codes, lengths, ends, parents = codes[:n_kept], lengths[:n_kept], ends[:n_kept], parents[:n_kept]
    starts = ends - lengths
    source = np.arange(ends[-1])
    source -= np.repeat(starts - starts[parents], lengths)
    while True:
        further = source[source]
        if np.array_equal(further, source):
            break
        source = further
    literal = np.zeros(len(source), np.uint8)
    literal[starts] = np.where(codes < _CLEAR, codes, 0)
    return literal[source].tobytes()
