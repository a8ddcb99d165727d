"""What a restoration is asked to do."""

from dataclasses import dataclass, field, replace
from typing import Any

from dictsel_core._threads import as_thread_count
from dictsel_core._validation import as_count, as_nonnegative
from dictsel_core.constraints import AverageSparsity, Constraint, IndividualSparsity
from dictsel_core.ground_set import STANDARD_BASES, as_basis_names

#: Largest height and width of a patch.
MAX_PATCH_SIZE = 32
#: Names that `RestoreSettings.preset` knows.
PRESETS = ("paper", "fast", "balanced", "best")
CONSTRAINTS = ("individual", "average")
#: Replacement OLS; Replacement OMP and ROMPd of the paper.
SELECTORS = ("rols", "romp", "rompd")


@dataclass(frozen=True)
class RestoreSettings:
    """Parameters of a restoration; the defaults are those of the preset "balanced".

    Parameters
    ----------
    constraint : {"average", "individual"}
        Sparsity constraint under which the dictionary is selected.
    n_atoms : int or None
        Dictionary size k. None chooses it by the part of the pixels that are observed: the fewer,
        the smaller.
    sparsity : int
        Most atoms one patch may use during selection, s.
    budget : float
        Average atoms per patch during selection, s'/T; used with average sparsity.
    coding_sparsity : int or None
        Most atoms one window may use when the picture is rebuilt. None chooses it as for `n_atoms`.
    patch_size : int
        Height and width of a patch in pixels, from 2 to 32.
    bases : tuple of str
        Bases of the ground set, see `standard_ground_set`.
    selector : {"rols", "romp", "rompd"} or None
        Select by `replacement_ols`, by `replacement_omp`, or by the latter with decay. None chooses one of
        the first two, as for `n_atoms`.
    keep_observed : bool
        Keep observed pixels as they are; False replaces every pixel by its estimate, as the paper does.
    fill_weight : float
        Weight, between 0 and 1, of a fill from the coarser scale as an observation of a missing pixel.
        0 uses the fill only where no window holds an observed pixel.
    every_window : bool
        Code the window at every pixel, as the paper does; False codes every second one, like the black
        fields of a chessboard, in half the time and for 0.05 dB less.
    rounds : int or None
        Rounds of non-local refinement after the windows are coded; 0 leaves it out. None goes on until
        held-out observed pixels stop improving; where too few are observed for that, it makes four.
    threads : int or None
        None uses all available cores. The result does not depend on it.
    seed : int
        For the choice of patches of a large image, and of pixels that are held out.
    """

    constraint: str = "average"
    n_atoms: int | None = None
    sparsity: int = 8
    budget: float = 4.0
    coding_sparsity: int | None = None
    patch_size: int = 8
    bases: tuple[str, ...] = STANDARD_BASES
    selector: str | None = None
    keep_observed: bool = True
    fill_weight: float = 0.1
    every_window: bool = False
    rounds: int | None = 3
    threads: int | None = field(default=None, compare=False)
    seed: int = 0

    def __post_init__(self) -> None:
        """Check every value."""
        if self.constraint not in CONSTRAINTS:
            raise ValueError(f"constraint must be one of {CONSTRAINTS}, but is {self.constraint!r}.")
        if self.selector is not None and self.selector not in SELECTORS:
            raise ValueError(f"selector must be one of {SELECTORS}, but is {self.selector!r}.")
        for name in ("n_atoms", "coding_sparsity"):
            if getattr(self, name) is not None:
                as_count(getattr(self, name), name)
        as_count(self.sparsity, "sparsity")
        as_count(self.patch_size, "patch_size", least=2)
        as_count(self.seed, "seed", least=0)
        if self.rounds is not None:
            as_count(self.rounds, "rounds", least=0)
        if self.rounds != 0 and not self.keep_observed:
            raise ValueError(
                "Refinement keeps observed pixels as they are; set rounds=0 to have them replaced, or "
                "keep_observed=True."
            )
        if self.threads is not None:
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
        object.__setattr__(self, "bases", as_basis_names(self.bases))

    @classmethod
    def preset(cls, name: str) -> "RestoreSettings":
        """Return named settings.

        Parameters
        ----------
        name : {"paper", "fast", "balanced", "best"}
            "paper" is the procedure of the paper's appendix E, which replaces observed pixels too;
            "fast" goes without refinement; "balanced" are the defaults; "best" refines until held-out
            pixels stop improving.
        """
        changes: dict[str, dict[str, Any]] = {
            "paper": {
                "selector": "romp",
                "keep_observed": False,
                "fill_weight": 0.0,
                "every_window": True,
                "rounds": 0,
            },
            "fast": {"rounds": 0},
            "balanced": {},
            "best": {"rounds": None},
        }
        if name not in changes:
            raise ValueError(f"There is no preset {name!r}; choose one of {', '.join(PRESETS)}.")
        return cls(**changes[name])

    def resolved(self, observed_fraction: float, n_candidates: int) -> "RestoreSettings":
        """Return the settings with n_atoms, coding_sparsity and selector chosen for this picture where None.

        Small dictionaries do best where little is observed: measured on eight photographs inside
        scikit-image, k = 15 with 6 atoms per window at 80 % missing, k = 30 with 10 at 50 %. There
        Replacement OLS gained 0.2 to 0.3 dB over Replacement OMP; it lost as much to scratches.
        """
        n_atoms = self.n_atoms or min(60, max(12, round(5 + 50 * observed_fraction)))
        coding = self.coding_sparsity or min(12, max(5, round(4 + 12 * observed_fraction)))
        selector = self.selector or ("rols" if observed_fraction < 0.7 else "romp")
        return replace(self, n_atoms=min(n_atoms, n_candidates), coding_sparsity=coding, selector=selector)

    def constraint_for(self, n_points: int) -> Constraint:
        """Return the constraint on the supports of `n_points` patches."""
        if self.constraint == "individual":
            return IndividualSparsity(self.sparsity)
        # No patch uses more than its cap, so that a larger budget is no other constraint.
        return AverageSparsity(self.sparsity, max(1, round(min(self.budget, self.sparsity) * n_points)))


def as_settings(value: object) -> RestoreSettings:
    """Return settings as they are, the defaults for None, or those of the preset that a string names."""
    if value is None:
        return RestoreSettings()
    if isinstance(value, str):
        return RestoreSettings.preset(value)
    if not isinstance(value, RestoreSettings):
        raise TypeError(
            f"settings must be RestoreSettings or the name of a preset such as 'balanced', not {value!r}."
        )
    return value
