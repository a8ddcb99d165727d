"""Pictures that explain: comparisons and dictionaries, drawn with Pillow."""

from inpaint_app.figures.atoms import atoms_figure
from inpaint_app.figures.comparison import Panel, comparison_figure, comparison_size

__all__ = ["Panel", "atoms_figure", "comparison_figure", "comparison_size"]
