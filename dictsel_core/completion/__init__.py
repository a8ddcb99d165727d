"""Completion of wide holes by example: texture and structure are copied from elsewhere in the image."""

from dictsel_core.completion.filling import fill_holes, fill_wide_parts, iter_fill_holes
from dictsel_core.completion.holes import (
    Box,
    HolePart,
    hole_boxes,
    hole_cells,
    hole_parts,
    wide_parts,
)

__all__ = [
    "Box",
    "HolePart",
    "fill_holes",
    "fill_wide_parts",
    "hole_boxes",
    "hole_cells",
    "hole_parts",
    "iter_fill_holes",
    "wide_parts",
]
