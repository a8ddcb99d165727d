"""Detect one kind of damage."""

from numpy.typing import ArrayLike

from dictsel_core.detection.analyze import detect_damage
from dictsel_core.detection.damage import Detection


def detect_scratches(
    image: ArrayLike, *, sensitivity: float = 0.5, missing: ArrayLike | None = None
) -> Detection:
    """Detect cracks, scratches, creases and tears, lighter or darker than the picture.

    Parameters
    ----------
    image, sensitivity, missing
        As for `detect_damage`.

    Returns
    -------
    Detection
        A region is one crack with its branches, or a piece of it.

    Notes
    -----
    Found by a network that was trained on drawn cracks. Pictures of more than 12 megapixels are looked at at
    half their size. Thin lines of the picture, such as wires and twigs, cannot always be told from scratches.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.add.outer(np.arange(96), np.arange(96)).astype(np.uint8)
    >>> image[10:80, 40:42] = 255
    >>> bool(detect_scratches(image).mask[20:70, 40].all())
    True
    """
    return detect_damage(image, ["scratches"], sensitivity=sensitivity, missing=missing)


def detect_dust(image: ArrayLike, *, sensitivity: float = 0.5, missing: ArrayLike | None = None) -> Detection:
    """Detect dust, specks, hairs and fibres, lighter or darker than the picture.

    Parameters
    ----------
    image, sensitivity, missing
        As for `detect_damage`.

    Returns
    -------
    Detection
        A region is one speck or hair.

    Notes
    -----
    Found by a network that was trained on the outlines of dust on film. Pictures of more than 12 megapixels
    are looked at at half their size. Stars and small print are specks too.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.add.outer(np.arange(96), np.arange(96)).astype(np.uint8)
    >>> image[30:34, 40:44] = 255
    >>> bool(detect_dust(image).mask[30:34, 40:44].all())
    True
    """
    return detect_damage(image, ["dust"], sensitivity=sensitivity, missing=missing)


def detect_dead_pixels(
    image: ArrayLike, *, sensitivity: float = 0.5, missing: ArrayLike | None = None
) -> Detection:
    """Detect dead and hot pixels: single pixels far darker or brighter than their neighbors, in any channel.

    Parameters
    ----------
    image, sensitivity, missing
        As for `detect_damage`.

    Returns
    -------
    Detection
        A region is a pixel, or up to four that touch.

    Notes
    -----
    A photograph that was scaled or compressed after the damage has specks in their place: see `detect_dust`.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.random.default_rng(0).integers(118, 122, (64, 64)).astype(np.uint8)
    >>> image[20, 30] = 255
    >>> np.argwhere(detect_dead_pixels(image).mask).tolist()
    [[20, 30]]
    """
    return detect_damage(image, ["dead_pixels"], sensitivity=sensitivity, missing=missing)


def detect_dead_lines(
    image: ArrayLike, *, sensitivity: float = 0.5, missing: ArrayLike | None = None
) -> Detection:
    """Detect dead rows and columns, as sensors and line scanners have them.

    Parameters
    ----------
    image, sensitivity, missing
        As for `detect_damage`.

    Returns
    -------
    Detection
        A region is one row or column, or a part of it of at least a quarter of the side.

    Notes
    -----
    One or two neighboring lines are found; wider gaps are not.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.random.default_rng(0).integers(100, 140, (64, 64)).astype(np.uint8)
    >>> image[20] = 0
    >>> bool(detect_dead_lines(image).mask[20].all())
    True
    """
    return detect_damage(image, ["dead_lines"], sensitivity=sensitivity, missing=missing)


def detect_stamps(
    image: ArrayLike, *, sensitivity: float = 0.5, missing: ArrayLike | None = None
) -> Detection:
    """Detect stamped text or dates: rows of letters of one saturated color.

    Parameters
    ----------
    image, sensitivity, missing
        As for `detect_damage`.

    Returns
    -------
    Detection
        A region is a text: letters of one height and color that follow each other, across or down.

    Notes
    -----
    Nothing is found in gray pictures, nor strokes whose color is no more saturated than what lies around.
    Pictures of more than 4 megapixels are looked at at a reduced size. Texts of the picture, such as signs,
    are stamps too.

    Examples
    --------
    >>> import numpy as np
    >>> plain = np.full((64, 64), 120, np.uint8)
    >>> bool(detect_stamps(plain).mask.any())
    False
    """
    return detect_damage(image, ["stamps"], sensitivity=sensitivity, missing=missing)
