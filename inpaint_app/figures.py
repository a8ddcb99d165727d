"""Comparisons and dictionaries drawn as pictures, with Pillow."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from dictsel_core.atoms import AtomOrigin
from inpaint_app.model.picture import Picture

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

PAPER, INK, SOFT_INK, RULE = (255, 255, 255), (28, 28, 30), (105, 105, 110), (205, 205, 210)


def font(size: float) -> Font:
    """Return Pillow's own typeface, which is on every machine."""
    return ImageFont.load_default(size)


def fitting_font(texts: list[str], width: float, size: float) -> Font:
    """Return the largest typeface of 9 to `size` in which every text fits a width."""
    while size > 9 and max(font(size).getlength(text) for text in texts) > width:
        size -= 0.5
    return font(size)


def blank_sheet(width: int, height: int) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """Return an empty sheet and what draws on it."""
    image = Image.new("RGB", (width, height), PAPER)
    return image, ImageDraw.Draw(image)


_FAMILIES = {"db": "Daubechies wavelet", "coif": "Coiflet", "sym": "Symlet"}


def format_basis(basis: str) -> str:
    """Return the name of a basis for headings, in the plural, such as "Haar wavelets (haar)"."""
    kind = _kind(basis)
    return basis if kind is None else f"{kind}s ({basis})"


def format_origin(origin: AtomOrigin) -> str:
    """Return where an atom comes from, such as "Cosine, frequency 0 down and 2 across"."""
    kind = _kind(origin.basis)
    if kind is None or origin.orientation == "custom":
        return origin.basis
    if origin.orientation == "frequency":
        return f"Cosine, frequency {origin.row} down and {origin.column} across"
    place = f"at row {origin.row}, column {origin.column}"
    return f"{kind} ({origin.basis}), level {origin.level}, {origin.orientation}, {place}"


def _kind(basis: str) -> str | None:
    """Return the kind of atoms in the singular; None for a basis of the user's own."""
    if basis in ("dct", "haar"):
        return {"dct": "Cosine", "haar": "Haar wavelet"}[basis]
    return next((name for prefix, name in _FAMILIES.items() if basis.startswith(prefix)), None)


_TILE, _GAP, _MARGIN, _CAPTION = 64, 14, 32, 18
_COLUMNS = 10
_TITLE, _HEADING = 54, 34


def atoms_figure(
    dictionary: NDArray[np.float64],
    origins: tuple[AtomOrigin, ...],
    patch_shape: tuple[int, int],
    *,
    shares: NDArray[np.float64] | None = None,
    title: str,
    subtitle: str,
) -> Picture:
    """Draw atoms as small pictures, as 8-bit RGB: a group per basis, the most used atoms first.

    The atoms are the columns of the dictionary, (d, k). Zero is mid-gray; each is scaled to its own largest
    value. Below it stands its share, the fraction of the patches that use it.
    """
    order = np.arange(len(origins)) if shares is None else np.argsort(-shares, kind="stable")
    groups: dict[str, list[int]] = {}
    for basis in dict.fromkeys(origin.basis for origin in origins):
        groups[basis] = [int(atom) for atom in order if origins[atom].basis == basis]
    columns = min(_COLUMNS, max(6, *(len(atoms) for atoms in groups.values())))
    step = _TILE + _GAP
    row = _TILE + (_CAPTION if shares is not None else 0) + _GAP
    n_rows = sum(-(-len(atoms) // columns) for atoms in groups.values())
    width = 2 * _MARGIN + columns * step - _GAP
    height = 2 * _MARGIN + _TITLE + len(groups) * _HEADING + n_rows * row - _GAP
    sheet, draw = blank_sheet(width, height)
    y = _MARGIN
    draw.text((_MARGIN, y), title, fill=INK, font=font(18))
    draw.text((_MARGIN, y + 25), subtitle, fill=SOFT_INK, font=font(12))
    y += _TITLE
    for basis, atoms in groups.items():
        noun = "atom" if len(atoms) == 1 else "atoms"
        draw.text((_MARGIN, y + 4), f"{format_basis(basis)}: {len(atoms)} {noun}", fill=INK, font=font(14))
        y += _HEADING
        for place, atom in enumerate(atoms):
            left, top = _MARGIN + place % columns * step, y + place // columns * row
            sheet.paste(_tile(dictionary[:, atom].reshape(patch_shape)), (left, top))
            draw.rectangle((left - 1, top - 1, left + _TILE, top + _TILE), outline=RULE)
            if shares is not None:
                caption = f"{100 * shares[atom]:.0f} %" if shares[atom] >= 0.005 else "< 1 %"
                below = (left + _TILE / 2, top + _TILE + 4)
                draw.text(below, caption, fill=SOFT_INK, font=font(11), anchor="ma")
        y += -(-len(atoms) // columns) * row
    return Picture(np.asarray(sheet, np.uint8).copy())


def max_atoms_size(n_atoms: int, n_bases: int) -> tuple[int, int]:
    """Return the largest width and height that `atoms_figure` can have for so many atoms of so many bases."""
    n_rows = -(-n_atoms // _COLUMNS) + 2 * n_bases
    height = 2 * _MARGIN + _TITLE + n_bases * _HEADING + n_rows * (_TILE + _CAPTION + _GAP)
    return 2 * _MARGIN + _COLUMNS * (_TILE + _GAP), height


def _tile(atom: NDArray[np.float64]) -> Image.Image:
    largest = max(float(np.abs(atom).max()), 1e-12)
    gray = np.rint(127.5 + 127.5 * atom / largest).astype(np.uint8)
    return Image.fromarray(gray).resize((_TILE, _TILE), Image.Resampling.NEAREST).convert("RGB")


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


__all__ = ["Panel", "atoms_figure", "comparison_figure", "comparison_size", "max_atoms_size"]
