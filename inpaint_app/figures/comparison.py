"""Pictures side by side with captions, as in the paper's figure."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from inpaint_app.figures.sheet import INK, RULE, SOFT_INK, blank, fitting_font
from inpaint_app.image.picture import Picture

_NARROWEST, _WIDEST = 220, 1600
"""Narrower pictures are magnified and wider ones reduced, so that captions fit and the row can be seen."""


@dataclass(frozen=True)
class Panel:
    """One picture of the row: a title and a line below it."""

    picture: Picture
    title: str
    figures: str
    missing: NDArray[np.bool_] | None = None


def comparison_figure(panels: list[Panel]) -> Picture:
    """Draw pictures of equal size in a row, each with its caption below.

    Parameters
    ----------
    panels : list of Panel
        At least one. Pixels in `missing` are black.

    Returns
    -------
    Picture
        8-bit RGB.
    """
    first = panels[0].picture
    width, height = _panel_size(first)
    resampling = Image.Resampling.NEAREST if width >= first.width else Image.Resampling.BOX
    margin = round(min(max(0.06 * width, 16), 60))
    gap = margin // 2 + 2
    size = min(max(0.055 * width, 13), 40)
    texts = [text for panel in panels for text in (panel.title, panel.figures)]
    letters = fitting_font(texts, width, size)
    line = round(1.35 * size)
    total = 2 * margin + len(panels) * width + (len(panels) - 1) * gap
    sheet, draw = blank(total, margin + height + gap // 2 + 2 * line + margin)
    for number, panel in enumerate(panels):
        left = margin + number * (width + gap)
        image = Image.fromarray(as_screen(panel.picture, panel.missing))
        sheet.paste(image.resize((width, height), resampling), (left, margin))
        draw.rectangle((left - 1, margin - 1, left + width, margin + height), outline=RULE)
        middle, top = left + width / 2, margin + height + gap // 2
        draw.text((middle, top), panel.title, fill=INK, font=letters, anchor="ma")
        draw.text((middle, top + line), panel.figures, fill=SOFT_INK, font=letters, anchor="ma")
    return Picture(np.asarray(sheet, np.uint8).copy())


def _panel_size(picture: Picture) -> tuple[int, int]:
    """Return width and height on the sheet: magnified by a whole number, or reduced."""
    zoom = max(1, -(-_NARROWEST // picture.width))
    if picture.width > _WIDEST:
        return _WIDEST, max(1, round(picture.height * _WIDEST / picture.width))
    return picture.width * zoom, picture.height * zoom


def as_screen(picture: Picture, missing: NDArray[np.bool_] | None = None) -> NDArray[np.uint8]:
    """Return pixels as 8-bit RGB for the eye: float pictures are stretched to their own range."""
    values = picture.pixels
    whole = np.isfinite(values)
    if picture.depth == 32:
        seen = values[whole]
        low, high = (min(0.0, float(seen.min())), max(1.0, float(seen.max()))) if seen.size else (0.0, 1.0)
    else:
        low, high = 0.0, picture.max_value
    scaled = (np.where(whole, values, low).astype(np.float32) - low) * np.float32(255 / (high - low))
    if missing is not None:
        scaled = np.where(missing if missing.ndim == scaled.ndim else missing[..., None], 0, scaled)
    screen = np.rint(np.clip(scaled, 0, 255)).astype(np.uint8)
    return screen if picture.is_color else np.repeat(screen[..., np.newaxis], 3, axis=2)
