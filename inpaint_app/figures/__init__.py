"""Comparisons and dictionaries drawn as pictures, with Pillow. Imports `io` and `model`."""

from inpaint_app.figures.atoms import atoms_figure, max_atoms_size
from inpaint_app.figures.comparison import Panel, comparison_figure, comparison_size

__all__ = ["Panel", "atoms_figure", "comparison_figure", "comparison_size", "max_atoms_size"]
