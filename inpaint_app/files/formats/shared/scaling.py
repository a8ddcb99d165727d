"""Change the bit depth of samples."""

import numpy as np

from inpaint_app.errors import UserError
from inpaint_app.image.picture import Array


def stretch(values: Array, white: int, *, bits: int | None = None) -> Array:
    """Map integers 0..white to the full range of 8 or 16 bits, rounding to nearest.

    Parameters
    ----------
    values : ndarray of unsigned integers, none above `white`
        The samples.
    white : int
        1 to 65535.
    bits : int, optional
        8 or 16; without it 8 if `white` fits into it.
    """
    bits = bits or (8 if white <= 255 else 16)
    top, dtype = 2**bits - 1, np.dtype(f"u{bits // 8}")
    if white == top:
        return values.astype(dtype)
    table = ((np.arange(white + 1, dtype=np.uint64) * top + white // 2) // white).astype(dtype)
    stretched: Array = table[values]
    return stretched


def to_depth(values: Array, bits: int) -> Array:
    """Return samples of a picture with 8 or 16 bits.

    Raises
    ------
    UserError
        If float values are not all between 0 and 1, so that their range is not known.
    """
    if values.dtype.kind == "u":
        return stretch(values, int(np.iinfo(values.dtype).max), bits=bits)
    if not bool(((values >= 0) & (values <= 1)).all()):
        raise UserError(
            f"The float values do not all lie between 0 and 1, so they do not fit into {bits} bits",
            "scale them, or write TIFF",
        )
    return np.rint(values * np.float32(2**bits - 1)).astype(f"u{bits // 8}")
