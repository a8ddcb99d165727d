"""The values of the pixel under the pointer; no Qt."""

import numpy as np

from inpaint_app.model.missing import Mask
from inpaint_app.window.document.captions import format_pixel
from inpaint_app.window.viewer.display import Display, PaneDisplay

Pixel = tuple[int, int]


def readout(display: Display, pane: PaneDisplay, mask: Mask, pixel: Pixel) -> str:
    """Return the values of a pixel as a pane draws it; empty where it draws none."""
    inset = display.preview if pane.has_inset else None
    if inset is not None and inset.rect.contains(pixel):
        return format_pixel(inset.image, pixel[0] - inset.rect.row, pixel[1] - inset.rect.column)
    keys = (pane.image,) if pane.after is None else (pane.image, pane.after)
    return " → ".join(filter(None, (_values(display, key, mask, pixel) for key in keys)))


def _values(display: Display, key: str, mask: Mask, pixel: Pixel) -> str:
    source = display.images.get(key)
    if source is None or source.reference is not None:
        return ""
    if source.pixels is display.images["damaged"].pixels and bool(np.all(mask[pixel])):
        return "missing"
    return format_pixel(source.pixels, *pixel)
