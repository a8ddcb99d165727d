"""Pictures side by side with captions, as in the paper's figure."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from inpaint_app.figures.sheet import INK, RULE, SOFT_INK, blank_sheet, fitting_font
from inpaint_app.model.picture import Picture

#: Narrower pictures are magnified and wider ones reduced, so that captions fit and the row can be seen.
_MIN_WIDTH, _MAX_WIDTH = 220, 1600


@dataclass(frozen=True)
class Panel:
    """One picture of the row, with a title and a caption below it; pixels in `missing` are black."""

    picture: Picture
    title: str
    caption: str
    missing: NDArray[np.bool_] | None = None


def comparison_figure(panels: list[Panel]) -> Picture:
    """Draw pictures of equal size in a row, each with its caption below, as 8-bit RGB."""
    first = panels[0].picture
    row = _row(first, len(panels))
    width, height, margin, gap, line = row.width, row.height, row.margin, row.gap, row.line
    resampling = Image.Resampling.NEAREST if width >= first.width else Image.Resampling.BOX
    texts = [text for panel in panels for text in (panel.title, panel.caption)]
    letters = fitting_font(texts, width, row.letter_size)
    sheet, draw = blank_sheet(*row.size)
    shown = _display_range(panels)
    for number, panel in enumerate(panels):
        left = margin + number * (width + gap)
        image = Image.fromarray(_to_display_rgb(panel, *shown))
        sheet.paste(image.resize((width, height), resampling), (left, margin))
        draw.rectangle((left - 1, margin - 1, left + width, margin + height), outline=RULE)
        middle, top = left + width / 2, margin + height + gap // 2
        draw.text((middle, top), panel.title, fill=INK, font=letters, anchor="ma")
        draw.text((middle, top + line), panel.caption, fill=SOFT_INK, font=letters, anchor="ma")
    return Picture(np.asarray(sheet, np.uint8).copy())


@dataclass(frozen=True)
class _Row:
    """Sizes on the sheet, in pixels: of a panel, of what is around it, and of the letters."""

    n_panels: int
    width: int
    height: int
    margin: int
    gap: int
    letter_size: float

    @property
    def line(self) -> int:
        """Height of a line of text."""
        return round(1.35 * self.letter_size)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the sheet."""
        width = 2 * self.margin + self.n_panels * self.width + (self.n_panels - 1) * self.gap
        return width, self.margin + self.height + self.gap // 2 + 2 * self.line + self.margin


def comparison_size(picture: Picture, n_panels: int) -> tuple[int, int]:
    """Return width and height of the figure that compares so many pictures of this size."""
    return _row(picture, n_panels).size


def _row(picture: Picture, n_panels: int) -> _Row:
    width, height = _panel_size(picture)
    margin = round(min(max(0.06 * width, 16), 60))
    return _Row(n_panels, width, height, margin, margin // 2 + 2, min(max(0.055 * width, 13), 40))


def _panel_size(picture: Picture) -> tuple[int, int]:
    """Return width and height on the sheet: magnified by a whole number, or reduced."""
    zoom = max(1, -(-_MIN_WIDTH // picture.width))
    if picture.width > _MAX_WIDTH:
        return _MAX_WIDTH, max(1, round(picture.height * _MAX_WIDTH / picture.width))
    return picture.width * zoom, picture.height * zoom


def _display_range(panels: list[Panel]) -> tuple[float, float]:
    """Return the values of black and white in all panels: those of the dtype, or of the known pixels."""
    first = panels[0].picture
    if first.pixels.dtype in (np.uint8, np.uint16):
        return 0.0, first.max_value
    known = np.concatenate([panel.picture.pixels[_is_known(panel)] for panel in panels])
    return float(known.min(initial=0)), float(known.max(initial=1))


def _is_known(panel: Panel) -> NDArray[np.bool_]:
    values, missing = panel.picture.pixels, panel.missing
    known = np.isfinite(values)
    if missing is not None:
        known &= ~(missing if missing.ndim == values.ndim else missing[..., None])
    return known


def _to_display_rgb(panel: Panel, low: float, high: float) -> NDArray[np.uint8]:
    """Return the pixels of a panel as 8-bit RGB for the eye; missing ones are black."""
    values = panel.picture.pixels
    known = np.where(_is_known(panel), values, low).astype(np.result_type(values, np.float32), copy=False)
    scaled = (known - low) * (255 / (high - low))
    screen = np.rint(np.clip(scaled, 0, 255)).astype(np.uint8)
    return screen if panel.picture.is_color else np.repeat(screen[..., np.newaxis], 3, axis=2)
