"""The result of a restoration, and its progress."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dictsel_core._util.validation import Ints
from dictsel_core.atoms import AtomOrigin, GroundSet
from dictsel_core.restoration.settings import ResolvedSettings
from dictsel_core.selection import Selection

if TYPE_CHECKING:
    from dictsel_core.restoration.plan import Plan

Stage = Literal["select", "coarse", "code", "channels", "texture", "refine"]
STAGES: tuple[Stage, ...] = get_args(Stage)


@dataclass(frozen=True, eq=False)
class Restoration:
    """A restored image, and how it was obtained.

    Attributes
    ----------
    image : ndarray or xarray.DataArray
        In the shape, dtype and range of the input.
    settings : ResolvedSettings
        The settings that were used: n_atoms, coding_sparsity and selector have values.
    missing_fraction : float
        Fraction of the values that were missing.
    selection : Selection or None
        The dictionary, with the supports of the patches it was selected on; None if nothing was missing, or
        if the dictionary was given as an array.
    patch_positions : (T, 2) or (T, 3) ndarray of int
        Row and column of the top-left pixel of these patches, in the order of ``selection.supports``. In a
        color image a position occurs once per channel. Patches may extend beyond the bottom and right border.
        In a stack, the number of the image comes first. Empty if the dictionary was given.
    usage : (k,) ndarray of int
        How many of the coded patches use each atom of the dictionary.
    n_coded_patches : int
        How many patches were coded, on all scales and channels.
    n_rounds : int
        Number of rounds of refinement.
    seconds : dict of str to float
        Time spent in each completed stage.
    atoms : GroundSet or None
        The dictionary with the origins of its atoms; None if nothing was missing.
    plan : Plan or None
        What was decided for the image, for `restore_region`; None for a stack, or if nothing was missing.
    region : (slice, slice) or None
        Of a restoration by `restore_region`: rows and columns outside which the image is the previous one.
    """

    image: Any
    settings: ResolvedSettings
    missing_fraction: float
    selection: Selection | None = None
    patch_positions: Ints = field(default_factory=lambda: np.zeros((0, 2), np.intp))
    usage: Ints = field(default_factory=lambda: np.zeros(0, np.intp))
    n_coded_patches: int = 0
    n_rounds: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    atoms: GroundSet | None = None
    plan: "Plan | None" = None
    region: tuple[slice, slice] | None = None

    def __repr__(self) -> str:
        return (
            f"Restoration({self.image.dtype} image {self.image.shape}, {self.missing_fraction:.1%} missing, "
            f"{len(self.usage)} atoms, {self.n_rounds} rounds)"
        )

    @property
    def nothing_missing(self) -> bool:
        """Whether there was nothing to restore, so that the image is unchanged."""
        return self.atoms is None

    @property
    def dictionary(self) -> NDArray[np.float64]:
        """The atoms as columns: (d, k)."""
        return np.zeros((0, 0)) if self.atoms is None else self.atoms.atoms

    @property
    def origins(self) -> tuple[AtomOrigin, ...]:
        """The origin of each atom of the dictionary."""
        return () if self.atoms is None else self.atoms.origins

    @property
    def usage_fractions(self) -> NDArray[np.float64]:
        """Fraction of the coded patches that use each atom of the dictionary: (k,)."""
        return np.asarray(self.usage / max(self.n_coded_patches, 1))

    @property
    def mean_patch_atoms(self) -> float:
        """Mean number of atoms that a coded patch uses."""
        return float(self.usage.sum() / max(self.n_coded_patches, 1))


def joint_figures(
    parts: Iterable[Mapping[str, Any]], n_atoms: int, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """Return fields of a `Restoration` from those of its parts; `seconds` were spent on all of it."""
    usage, n_coded, n_rounds, spent = np.zeros(n_atoms, np.intp), 0, 0, dict(seconds)
    for part in parts:
        usage += part["usage"]
        n_coded += part["n_coded_patches"]
        n_rounds = max(n_rounds, part["n_rounds"])
        for stage, each in part["seconds"].items():
            spent[stage] = spent.get(stage, 0.0) + each
    return {"usage": usage, "n_coded_patches": n_coded, "n_rounds": n_rounds, "seconds": spent}


@dataclass(frozen=True, eq=False)
class RestoreStep:
    """The progress of a restoration.

    Attributes
    ----------
    stage : {"select", "coarse", "code", "channels", "texture", "refine"}
        Selection of the dictionary, restoration of the coarser scales, coding of the image itself,
        estimation of a channel from the others, completion of wide holes by example, or non-local refinement.
    fraction : float
        Fraction of the work that is done, from 0 to 1.
    make_partial : callable or None
        Returns the partial result, in steps that changed the image visibly; at any time, since a step keeps
        the values that were missing.
    number, n_images : int
        Of a stack: the image that is being restored, from 0, and how many there are to restore. An image with
        very many channels is restored in parts, which count likewise.
    """

    stage: Stage
    fraction: float
    make_partial: Callable[[], Restoration] | None = field(default=None, repr=False)
    number: int = 0
    n_images: int = 1

    @cached_property
    def partial(self) -> Restoration | None:
        """The result if the restoration stopped here, made on first access.

        None in steps that did not change the image visibly. The images of a stack that are still to come are
        as they were given; the tiles of a large image that are still to come have smooth estimates.
        """
        return None if self.make_partial is None else self.make_partial()

    @property
    def image(self) -> Any | None:  # noqa: ANN401  (an array, or an xarray.DataArray)
        """The image of the partial result, if there is one."""
        return None if self.partial is None else self.partial.image
