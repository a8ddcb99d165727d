"""Change the bit depth of samples."""

import numpy as np

from inpaint_app.model.picture import Array


def stretch(values: Array, white: int, *, bits: int | None = None) -> Array:
    """Map integers 0..white to the full range of 8 or 16 bits (8 if white fits), rounding to nearest."""
    bits = bits or (8 if white <= 255 else 16)
    top, dtype = 2**bits - 1, np.dtype(f"u{bits // 8}")
    if white == top:
        return values.astype(dtype, copy=False)
    table = ((np.arange(white + 1, dtype=np.uint64) * top + white // 2) // white).astype(dtype)
    stretched: Array = table[values]
    return stretched


def to_depth(values: Array, bits: int) -> Array:
    """Return samples of a picture with 8 or 16 bits; float values must lie between 0 and 1."""
    if values.dtype.kind == "u":
        return stretch(values, int(np.iinfo(values.dtype).max), bits=bits)
    return np.rint(values * np.float32(2**bits - 1)).astype(f"u{bits // 8}")
