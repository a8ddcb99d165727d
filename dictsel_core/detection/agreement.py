"""What the dust of a picture has in common: all is light, or all is dark, and of one tone.

Dust on a negative is light all over its print, dust on a slide dark. Things of the picture that look like
dust are of either sort, and of any tone.
"""

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.validation import Bools, Floats, Ints
from dictsel_core.detection.plane import Single

#: A spot is sure if the logit of its mean probability is larger than this.
_SURE = 0.0
#: So many sure spots of one sort are needed for half of the full effect, and so many for a tone.
_FEW, _FOR_A_TONE = 3, 3
#: The tone of a region is this quantile of its pixels, toward what makes it stand out; tones farther apart
#: than this are all alike.
_QUANTILE, _FARTHEST = 0.9, 0.5


def agreement(
    values: Single, numbers: Ints, sign: Single, means: Floats, is_spot: Bools
) -> NDArray[np.float64]:
    """Return how far each region agrees with the sure spots of its picture, (N, 2).

    First, how many more of the others are lighter, or darker, than what is around them, as it is, from -1 to
    1; then how far its tone is from the typical one of those; 0 where there are too few.

    Parameters
    ----------
    values : (P,) ndarray
        Brightness of the pixels of all regions.
    numbers : (P,) ndarray
        The region of each pixel.
    sign : (N,) ndarray
        1 for regions that are lighter than what is around them, -1 for darker ones.
    means : (N,) ndarray
        Logit of the mean probability of each region.
    is_spot : (N,) ndarray of bool
        Regions that are dust, not lines.
    """
    sure = is_spot & (means > _SURE)
    tones = _tones(values, numbers, sign)
    balance, distance = np.zeros(len(means)), np.zeros(len(means))
    for side in (-1, 1):
        is_here, alike, unlike = sign == side, sure & (sign == side), sure & (sign == -side)
        others = alike.sum() - alike[is_here]
        balance[is_here] = (others - unlike.sum()) / (others + unlike.sum() + _FEW)
        if alike.sum() >= _FOR_A_TONE:
            typical = np.median(tones[alike])
            distance[is_here] = np.minimum(np.abs(tones[is_here] - typical), _FARTHEST)
    return np.stack([balance, distance], axis=1)


def _tones(values: Single, numbers: Ints, sign: Single) -> Single:
    """Return the tone of each region; none is empty."""
    signed = values * sign[numbers]
    order = np.lexsort((signed, numbers))
    area = np.bincount(numbers, minlength=len(sign))
    at = np.cumsum(area) - area + (_QUANTILE * (area - 1)).astype(np.intp)
    return np.asarray(signed[order][at] * sign)
