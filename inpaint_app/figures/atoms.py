"""The atoms of a dictionary as a picture, grouped by basis."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from dictsel_core.atoms import AtomOrigin
from inpaint_app.figures.atom_names import format_basis
from inpaint_app.figures.sheet import INK, RULE, SOFT_INK, blank_sheet, font
from inpaint_app.model.picture import Picture

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
