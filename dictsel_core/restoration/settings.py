"""What a restoration is asked to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

from dictsel_core.constraints import AverageSparsity, Constraint, IndividualSparsity
from dictsel_core.ground_set import STANDARD_BASES
from dictsel_core.restoration.parameters import Parameter

#: Names that `RestoreSettings.preset` knows.
PRESETS = ("paper", "fast", "balanced", "best")
CONSTRAINTS = ("individual", "average")
#: Replacement OLS; Replacement OMP and ROMPd of the paper.
SELECTORS = ("rols", "romp", "rompd")

#: Widest patch: the ground set grows with the fourth power of it. At 32 a selection takes minutes on a large
#: picture; at 96 the ground set takes gigabytes, and no selection ends.
MAX_PATCH_SIZE = 32
#: Most candidates: the standard bases at the widest patch.
MAX_CANDIDATES = len(STANDARD_BASES) * MAX_PATCH_SIZE**2
#: Most atoms of one patch: the dimension of 8 x 8 pixels, and the defaults use a dozen at most. Coding holds
#: as many vectors for each window at a time, which takes 2 GB for the widest patch.
MAX_SPARSITY = 64
#: Most rounds of refinement, each about as long as the restoration before it; None makes eight at most.
MAX_ROUNDS = 100
_MAX_THREADS = 1024

_PARAMETERS = (
    Parameter(name="constraint", kind=str, choices=CONSTRAINTS),
    Parameter(name="n_atoms", kind=int, minimum=1, maximum=MAX_CANDIDATES, is_optional=True),
    Parameter(name="sparsity", kind=int, minimum=1, maximum=MAX_SPARSITY),
    Parameter(name="budget", kind=float, minimum=0, maximum=MAX_SPARSITY, excludes_minimum=True),
    Parameter(name="coding_sparsity", kind=int, minimum=1, maximum=MAX_SPARSITY, is_optional=True),
    Parameter(name="patch_size", kind=int, minimum=2, maximum=MAX_PATCH_SIZE),
    Parameter(name="selector", kind=str, choices=SELECTORS, is_optional=True),
    Parameter(name="keep_observed", kind=bool),
    Parameter(name="fill_weight", kind=float, minimum=0, maximum=1),
    Parameter(name="every_window", kind=bool),
    Parameter(name="rounds", kind=int, minimum=0, maximum=MAX_ROUNDS, is_optional=True),
    Parameter(name="threads", kind=int, minimum=1, maximum=_MAX_THREADS, is_optional=True),
    Parameter(name="seed", kind=int, minimum=0, maximum=2**63 - 1),
)


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
        Height and width of a patch in pixels.
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

    Attributes
    ----------
    parameters : Mapping of str to Parameter
        What each of them may be, `bases` excepted.
    """

    parameters: ClassVar[Mapping[str, Parameter]] = MappingProxyType(
        {each.name: each for each in _PARAMETERS}
    )

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
        """Check every value, and keep numbers as Python's own."""
        for name, parameter in self.parameters.items():
            object.__setattr__(self, name, parameter.checked(getattr(self, name)))
        if self.rounds != 0 and not self.keep_observed:
            raise ValueError(
                "Refinement keeps observed pixels as they are; set rounds=0 to have them replaced, or "
                "keep_observed=True."
            )
        bases: object = self.bases
        if not isinstance(bases, tuple | list):
            raise TypeError(f"bases must be a sequence of names, such as ('dct', 'haar'), not {bases!r}.")
        object.__setattr__(self, "bases", tuple(bases))
        n_candidates = len(bases) * self.patch_size**2
        if n_candidates > MAX_CANDIDATES:
            raise ValueError(
                f"{len(bases)} bases of patches of {self.patch_size} x {self.patch_size} pixels make "
                f"{n_candidates:,} candidates, and {MAX_CANDIDATES:,} are the most; name fewer bases or "
                "choose smaller patches."
            )

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
        return AverageSparsity(self.sparsity, max(1, round(self.budget * n_points)))
