"""The dictionary of a restoration: selected, or given."""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from dictsel_core._support.validation import Ints, as_matrix
from dictsel_core.ground_set import GroundSet, ground_set_from_array, standard_ground_set
from dictsel_core.restoration.settings import RestoreSettings
from dictsel_core.selection import Selection


@dataclass(frozen=True, eq=False)
class KnownDictionary:
    """A dictionary, and where it comes from.

    Attributes
    ----------
    atoms : GroundSet
        The atoms as columns, with their origins.
    selection : Selection or None
        How they were selected; None if they were given as an array.
    positions : (T, 2) or (T, 3) ndarray of int
        Top-left pixels of the patches of the selection; none if that was made elsewhere.
    """

    atoms: GroundSet
    selection: Selection | None = None
    positions: Ints = field(default_factory=lambda: np.zeros((0, 2), np.intp))

    @classmethod
    def selected(cls, selection: Selection, positions: Ints | None = None) -> "KnownDictionary":
        """Return the dictionary of a selection."""
        candidates, chosen = selection.ground_set, selection.atoms
        origins = tuple(candidates.origins[atom] for atom in chosen)
        atoms = GroundSet(candidates.atoms[:, chosen], origins, candidates.patch_shape)
        return cls(atoms, selection) if positions is None else cls(atoms, selection, positions)


def as_dictionary(
    value: "ArrayLike | GroundSet | Selection | KnownDictionary | None", settings: RestoreSettings
) -> tuple[GroundSet, KnownDictionary | None]:
    """Return the candidates, and the dictionary if it is known already; see `restore`."""
    size = settings.patch_size
    if isinstance(value, KnownDictionary):
        return value.atoms, value
    if value is None:
        return _standard_candidates(size, settings.bases), None
    if isinstance(value, Selection):
        _check_entries(value.ground_set.n_features, size)
        return value.ground_set, KnownDictionary.selected(value)
    if isinstance(value, GroundSet):
        _check_entries(value.n_features, size)
        return value, None
    columns = as_matrix(value, "dictionary", "(pixels, atoms)")
    _check_entries(len(columns), size)
    atoms = ground_set_from_array(columns, patch_shape=(size, size))
    return atoms, KnownDictionary(atoms)


@lru_cache(maxsize=4)
def _standard_candidates(size: int, bases: tuple[str, ...]) -> GroundSet:
    """Return the candidates of most restorations; what is computed of them is kept with them."""
    return standard_ground_set((size, size), bases)


def _check_entries(n_entries: int, size: int) -> None:
    if n_entries != size**2:
        root = round(n_entries**0.5)
        way = f"set patch_size={root}" if root**2 == n_entries else "atoms must be square patches"
        raise ValueError(
            f"The atoms of dictionary have {n_entries} entries, but patches of {size} x {size} pixels have "
            f"{size**2}; {way}."
        )
