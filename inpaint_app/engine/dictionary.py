"""The dictionary of a restoration: a figure of its atoms, and the patches that use each."""

from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from dictsel_core import Restoration, RestoreSettings
from inpaint_app.engine.restore import RestoreRequest
from inpaint_app.engine.source import Source
from inpaint_app.figures import atoms_figure, max_atoms_size
from inpaint_app.model.picture import Picture
from inpaint_app.model.rect import Rect


@dataclass(frozen=True, eq=False)
class AtomUse:
    """The patches that have an atom in their support, within the picture."""

    atom: int
    rects: tuple[Rect, ...]


def atom_use(request: RestoreRequest, restoration: Restoration, atom: int) -> AtomUse:
    """Return the patches that use an atom, given by its place in the dictionary."""
    selection = restoration.selection
    assert selection is not None, "asked for after a complete restoration only"
    index = selection.indices[atom]
    users = [t for t, support in enumerate(selection.supports) if index in support]
    size, shape = restoration.settings.patch_size, request.mask.shape  # patches may reach beyond the border
    corners = np.unique(restoration.patch_positions[users], axis=0).tolist()
    return AtomUse(atom, tuple(Rect(row, column, size, size).clipped(shape) for row, column in corners))


def selection_shares(restoration: Restoration) -> npt.NDArray[np.float64]:
    """Return the fraction of the patches of the selection that use each atom, as in `atom_use`: (k,)."""
    selection = restoration.selection
    assert selection is not None, "asked for after a complete restoration only"
    supports, n_candidates = selection.supports, int(np.max(selection.indices)) + 1
    users = np.repeat(np.arange(len(supports)), [len(support) for support in supports])
    used = np.fromiter(chain.from_iterable(supports), np.intp, len(users))
    once = np.unique(users * n_candidates + used)  # an atom counts once for each patch that uses it
    counts = np.bincount(once % n_candidates, minlength=n_candidates)
    return np.asarray(counts[selection.indices] / len(supports), np.float64)


def max_dictionary_size(source: Source, settings: RestoreSettings) -> tuple[int, int]:
    """Return the largest width and height that `dictionary_figure` can have, known before any work."""
    n_candidates = len(settings.bases) * settings.patch_size**2
    n_atoms = settings.resolved(1 - source.missing.fraction, n_candidates).n_atoms
    return max_atoms_size(min(n_atoms, n_candidates), len(settings.bases))


def dictionary_figure(restoration: Restoration) -> Picture:
    """Draw the atoms of a dictionary with the fraction of the patches that use each."""
    size = restoration.settings.patch_size
    # Coding skips patches if refinement follows; those of the selection are the same in either case.
    is_selected = restoration.selection is not None
    return atoms_figure(
        restoration.dictionary,
        restoration.origins,
        (size, size),
        shares=selection_shares(restoration) if is_selected else restoration.usage_fractions,
        title=f"A dictionary of {len(restoration.origins)} atoms of {size} x {size} pixels",
        subtitle="Gray is zero. Below each atom: the fraction of the patches that use it.",
    )
