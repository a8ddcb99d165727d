"""The name of the program, and what it says about itself."""

from dictsel_core import __version__

TITLE = "Inpaint"
ABOUT = (
    f"<b>{TITLE} {__version__}</b><p>Restores missing pixels in two stages: patches are coded with a "
    "dictionary selected by Replacement OMP or Replacement OLS, then refined by similar patches "
    "(non-local refinement).</p><p>Replacement OMP and its sparsity constraints: Kaito Fujii and "
    "Tasuku Soma, <i>Fast greedy algorithms for dictionary selection with generalized sparsity "
    "constraints</i>, NeurIPS 2018.</p><p>BSD-3-Clause license.</p>"
)
