"""What a restoration is asked to do."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np

from dictsel_core._threads import as_thread_count
from dictsel_core._validation import as_count, as_nonnegative
from dictsel_core.constraints import AverageSparsity, Constraint, IndividualSparsity
from dictsel_core.ground_set import STANDARD_BASES, as_basis_names

ConstraintName = Literal["individual", "average"]
SelectorName = Literal["rols", "romp", "rompd"]
PresetName = Literal["paper", "fast", "balanced", "best"]

CONSTRAINTS: tuple[ConstraintName, ...] = get_args(ConstraintName)
#: Replacement OLS, Replacement OMP, and ROMPd.
SELECTORS: tuple[SelectorName, ...] = get_args(SelectorName)
PRESETS: tuple[PresetName, ...] = get_args(PresetName)

#: Maximum height and width of a patch.
MAX_PATCH_SIZE = 32

#: How the presets differ from the defaults.
_PRESET_CHANGES: dict[PresetName, dict[str, Any]] = {
    "paper": {
        "selector": "romp",
        "keep_observed": False,
        "fill_weight": 0.0,
        "every_patch": True,
        "rounds": 0,
    },
    "fast": {"rounds": 0},
    "balanced": {},
    "best": {"rounds": None},
}


@dataclass(frozen=True, kw_only=True)
class RestoreSettings:
    """Parameters of a restoration. The defaults are those of the preset "balanced".

    Parameters
    ----------
    constraint : {"average", "individual"}
        Sparsity constraint on the selection of the dictionary. Default is "average".
    n_atoms : int or None
        Dictionary size k. None, the default, chooses it by the fraction of the pixels that are observed,
        from 12 to 60 atoms: small dictionaries do best if little is observed.
    sparsity : int
        Maximum number of atoms per patch in the selection, s. Default is 8.
    budget : float
        Average number of atoms per patch in the selection, s'/T, with average sparsity. Default is 4.
    coding_sparsity : int or None
        Maximum number of atoms per patch in the coding. None, the default, chooses it by the fraction of
        the pixels that are observed, from 5 to 12 atoms.
    patch_size : int
        Height and width of a patch in pixels, from 2 to 32. Default is 8.
    bases : sequence of str
        Bases of the ground set, see `standard_ground_set`. Default is all four standard ones.
    selector : {"rols", "romp", "rompd"} or None
        `replacement_ols`, `replacement_omp`, or the latter with decay. None, the default, uses the first
        if less than 70 % of the pixels are observed, and the second otherwise.
    keep_observed : bool
        Keep observed pixels as they are; this is the default. False replaces every pixel by its estimate,
        as the paper does, and requires ``rounds=0``.
    fill_weight : float
        Weight, from 0 to 1, of the estimate from the coarser scale as an observation of a missing pixel.
        0 uses that estimate only if no patch around the pixel has enough observed pixels. Default is 0.1.
    every_patch : bool
        Code the patch at every pixel, as the paper does. False, the default, codes every second one, like
        the black squares of a chessboard, in half the time and for 0.05 dB less.
    rounds : int or None
        Rounds of non-local refinement after the coding; 0 omits it. Default is 3. None makes up to eight,
        until held-out observed pixels stop improving; if too few are observed for that, it makes four.
    threads : int or None
        Number of threads; None, the default, uses all available cores. The result does not depend on it.
    seed : int
        For the sample of patches of a large image, and for the held-out pixels. Default is 0.

    See Also
    --------
    restore : Uses these settings.
    tune : Chooses n_atoms, sparsity, budget and coding_sparsity for an image.

    Examples
    --------
    >>> RestoreSettings(n_atoms=40, rounds=0).n_atoms
    40
    >>> RestoreSettings.preset("fast") == RestoreSettings(rounds=0)
    True
    """

    constraint: ConstraintName = "average"
    n_atoms: int | None = None
    sparsity: int = 8
    budget: float = 4.0
    coding_sparsity: int | None = None
    patch_size: int = 8
    bases: tuple[str, ...] = STANDARD_BASES
    selector: SelectorName | None = None
    keep_observed: bool = True
    fill_weight: float = 0.1
    every_patch: bool = False
    rounds: int | None = 3
    threads: int | None = field(default=None, compare=False)
    seed: int = 0

    def __post_init__(self) -> None:
        """Check every value."""
        self._check_names()
        self._check_numbers()
        for name in ("keep_observed", "every_patch"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise TypeError(f"{name} must be True or False, not {getattr(self, name)!r}.")
        if self.rounds != 0 and not self.keep_observed:
            raise ValueError(
                "Refinement keeps observed pixels as they are; set rounds=0 to replace them, or "
                "keep_observed=True."
            )
        object.__setattr__(self, "bases", as_basis_names(self.bases))

    def _check_names(self) -> None:
        if self.constraint not in CONSTRAINTS:
            raise ValueError(f"constraint must be one of {CONSTRAINTS}, but is {self.constraint!r}.")
        if self.selector is not None and self.selector not in SELECTORS:
            raise ValueError(f"selector must be one of {SELECTORS}, but is {self.selector!r}.")

    def _check_numbers(self) -> None:
        for name, minimum in (("n_atoms", 1), ("coding_sparsity", 1), ("rounds", 0)):
            if getattr(self, name) is not None:
                as_count(getattr(self, name), name, minimum=minimum)
        as_count(self.sparsity, "sparsity")
        as_count(self.patch_size, "patch_size", minimum=2)
        as_count(self.seed, "seed", minimum=0)
        as_thread_count(self.threads)
        if self.patch_size > MAX_PATCH_SIZE:
            raise ValueError(
                f"patch_size must be at most {MAX_PATCH_SIZE}, but is {self.patch_size}: the ground set of "
                "larger patches takes gigabytes, and the selection hours."
            )
        if as_nonnegative(self.budget, "budget") == 0:
            raise ValueError("budget must be a positive number of atoms per patch, but is 0.")
        if as_nonnegative(self.fill_weight, "fill_weight") > 1:
            raise ValueError(f"fill_weight must be at most 1, but is {self.fill_weight}.")

    @classmethod
    def preset(cls, name: PresetName) -> "RestoreSettings":
        """Return the settings of a preset.

        Parameters
        ----------
        name : {"paper", "fast", "balanced", "best"}
            "paper" is the procedure of the paper's appendix E, which replaces observed pixels too;
            "fast" omits the refinement; "balanced" are the defaults; "best" refines until held-out
            pixels stop improving.
        """
        if name not in _PRESET_CHANGES:
            raise ValueError(f"There is no preset {name!r}; choose one of {', '.join(PRESETS)}.")
        return RestoreSettings(**_PRESET_CHANGES[name])

    def resolved(self, observed_fraction: float, n_candidates: int) -> "ResolvedSettings":
        """Return the settings for an image, with n_atoms, coding_sparsity and selector chosen if None.

        Measured on eight photographs inside scikit-image, the best dictionary had 15 atoms, with 6 per
        patch, at 80 % missing, and 30 with 10 at 50 %. There Replacement OLS gained 0.2 to 0.3 dB over
        Replacement OMP; on scratches it lost as much.

        Parameters
        ----------
        observed_fraction : float
            Fraction of the pixels that are observed.
        n_candidates : int
            Size of the ground set, which n_atoms cannot exceed.
        """
        n_atoms = self.n_atoms or min(60, max(12, round(5 + 50 * observed_fraction)))
        values = {each.name: getattr(self, each.name) for each in fields(RestoreSettings)}
        values["n_atoms"] = min(n_atoms, n_candidates)
        values["coding_sparsity"] = self.coding_sparsity or min(12, max(5, round(4 + 12 * observed_fraction)))
        values["selector"] = self.selector or ("rols" if observed_fraction < 0.7 else "romp")
        return ResolvedSettings(**values)

    def constraint_for(self, n_points: int) -> Constraint:
        """Return the constraint on the supports of `n_points` patches."""
        if self.constraint == "individual":
            return IndividualSparsity(self.sparsity)
        # No patch uses more atoms than its cap, so a larger budget is the same constraint.
        return AverageSparsity(self.sparsity, max(1, round(min(self.budget, self.sparsity) * n_points)))


@dataclass(frozen=True, kw_only=True)
class ResolvedSettings(RestoreSettings):
    """Settings of a restoration in which nothing is left open; see `RestoreSettings.resolved`."""

    n_atoms: int
    coding_sparsity: int
    selector: SelectorName

    def __post_init__(self) -> None:
        """Check every value."""
        super().__post_init__()
        for name in ("n_atoms", "coding_sparsity", "selector"):
            if getattr(self, name) is None:
                raise TypeError(f"{name} must have a value in ResolvedSettings; use RestoreSettings instead.")

    def as_request(self) -> RestoreSettings:
        """Return them as plain settings, to be used for another restoration or to be changed."""
        return RestoreSettings(**{each.name: getattr(self, each.name) for each in fields(self)})


def as_settings(value: object) -> RestoreSettings:
    """Return settings as they are, the defaults for None, or those of the preset that a string names."""
    if value is None:
        return RestoreSettings()
    if isinstance(value, str):
        return RestoreSettings.preset(value)  # type: ignore[arg-type]  # checked there
    if not isinstance(value, RestoreSettings):
        raise TypeError(
            f"settings must be RestoreSettings or the name of a preset such as 'balanced', not {value!r}."
        )
    return value
