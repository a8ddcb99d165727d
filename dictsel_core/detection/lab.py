"""The colors of CIELAB (CIE 1976, D65 white, 2 degrees) from sRGB (IEC 61966-2-1)."""

import numpy as np
from numpy.typing import NDArray

Single = NDArray[np.float32]

# Linear sRGB to X, Y and Z, each divided by that of white.
_WHITE = np.array([0.95047, 1.0, 1.08883])
_TO_XYZ = (
    np.array([[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]])
    / _WHITE[:, None]
)


def lab_from_rgb(rgb: Single) -> tuple[Single, Single, Single]:
    """Return L, a (green to red) and b (blue to yellow) of an (..., 3) image from 0 to 1."""
    rgb = np.clip(rgb, 0, 1)
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    xyz = linear @ _TO_XYZ.T.astype(np.float32)
    x, y, z = np.moveaxis(np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116), -1, 0)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)
