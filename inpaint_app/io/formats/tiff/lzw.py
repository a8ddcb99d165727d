"""Check LZW as TIFF has it: imagecodecs reads wild memory where a code refers to what is not there.

After a clear code the widths of the codes are known beforehand: the table grows by one entry with each. So
all codes up to the next clear code are cut out of the bits at once.
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


def check_lzw(packed: bytes) -> None:
    """Raise `DamagedError` if a code refers to what is not there yet."""
    stored = np.frombuffer(packed + bytes(4), np.uint8)
    position, n_bits = 0, 8 * len(packed)
    while True:
        codes = _codes(stored, position, n_bits)
        stops = np.flatnonzero((codes == _CLEAR) | (codes == _END))
        n_codes = int(stops[0]) if stops.size else len(codes)
        if bool((codes[:n_codes] >= _FIRST + np.arange(n_codes)).any()):
            raise DamagedError("its pixels cannot be unpacked")
        if not stops.size or codes[n_codes] == _END:
            return
        position += int(_STARTS[n_codes + 1])


def _codes(stored: npt.NDArray[np.uint8], position: int, n_bits: int) -> Ints:
    """Return the codes from a position on that lie within the data, as many as the table has room for."""
    n_codes = int(np.searchsorted(_STARTS, n_bits - position, side="right")) - 1
    n_codes = min(max(n_codes, 0), len(_WIDTHS))
    starts, widths = position + _STARTS[:n_codes], _WIDTHS[:n_codes]
    first, shift = starts >> 3, starts & 7
    bits = sum(stored[first + place].astype(np.int64) << (24 - 8 * place) for place in range(4))
    codes: Ints = (bits >> (32 - widths - shift)) & ((1 << widths) - 1)
    return codes
