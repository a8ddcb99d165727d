"""The parameters of a restoration, and the values that these may take."""

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from types import MappingProxyType
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import DTypeLike

from dictsel_core.atoms import STANDARD_BASES
from dictsel_core.atoms.ground_set import as_basis_names
from dictsel_core.constraints import AverageSparsity, Constraint, IndividualSparsity

ConstraintName = Literal["individual", "average"]
SelectorName = Literal["rols", "romp", "rompd"]
FillName = Literal["auto", "smooth", "texture"]
PresetName = Literal["paper", "fast", "balanced", "best", "finest"]

CONSTRAINTS: tuple[ConstraintName, ...] = get_args(ConstraintName)
#: Replacement OLS, Replacement OMP, and ROMPd.
SELECTORS: tuple[SelectorName, ...] = get_args(SelectorName)
FILLS: tuple[FillName, ...] = get_args(FillName)
PRESETS: tuple[PresetName, ...] = get_args(PresetName)

#: Maximum height and width of a patch: the ground set grows with the fourth power of it.
MAX_PATCH_SIZE = 32
#: Maximum number of candidates: the standard bases at the largest patch size.
MAX_CANDIDATES = len(STANDARD_BASES) * MAX_PATCH_SIZE**2
#: Maximum number of atoms per patch: coding holds as many vectors for each patch at a time.
MAX_SPARSITY = 64
#: Maximum number of rounds, each about as long as the restoration before it; None makes eight.
MAX_ROUNDS = 100
_MAX_THREADS = 1024
#: A hole is wide if pixels of it are farther than this from all observed ones: with 8, if it is wider than 16
#: pixels, or than 8 at the border of the image. That is about as far as patches see; "texture" is for those
#: who know that there is some.
REACH: dict[FillName, int] = {"auto": 8, "texture": 4}
#: Most atoms, and most atoms per patch, that are chosen if they are left open; and the same if at least as
#: many rounds of refinement follow, after which more atoms make no difference (docs/speed.md).
_MOST_ATOMS, _MOST_ATOMS_REFINED, _MANY_ROUNDS = (60, 12), (15, 6), 2
_LONGEST_SHOWN = 40


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """The values that a parameter may take.

    Attributes
    ----------
    name : str
    kind : {int, float, bool, str}
        A whole number, a finite number, a truth value, or a text.
    minimum, maximum : float
        Limits of a number; infinite where there is none.
    excludes_minimum : bool
        Whether it must lie above the minimum.
    choices : tuple of str
        The values that a text may take; empty if there is no restriction.
    is_optional : bool
        Whether it may be None.
    """

    name: str
    kind: type
    minimum: float = -math.inf
    maximum: float = math.inf
    excludes_minimum: bool = False
    choices: tuple[str, ...] = ()
    is_optional: bool = False

    @property
    def description(self) -> str:
        """The allowed values as text, for use after "must be" or "needs"."""
        if self.kind is bool:
            return "true or false"
        if self.kind is str:
            *others, last = self.choices or ("a text",)
            return f"{', '.join(others)} or {last}" if others else last
        noun = "a whole number" if self.kind is int else "a number"
        if self.minimum == -math.inf:
            return noun if self.maximum == math.inf else f"{noun} up to {self.maximum}"
        if self.excludes_minimum:
            to = "" if self.maximum == math.inf else f", up to {self.maximum}"
            return f"{noun} above {self.minimum}{to}"
        if self.maximum == math.inf:
            return f"{noun} of at least {self.minimum}"
        return f"{noun} from {self.minimum} to {self.maximum}"

    def checked(self, value: object) -> Any:  # noqa: ANN401  (of the kind that the parameter has)
        """Return a value as a plain Python object, if it is allowed.

        Raises
        ------
        TypeError
            If it is of another kind: numbers are not flags, nor the other way round.
        ValueError
            If it is out of range, not finite, or not one of the choices.
        """
        if value is None and self.is_optional:
            return None
        is_flag = isinstance(value, bool | np.bool_)
        is_of_kind = {
            bool: is_flag,
            str: isinstance(value, str),
            float: isinstance(value, Real) and not is_flag,
            int: _is_whole(value) and not is_flag,
        }
        if not is_of_kind[self.kind]:
            raise TypeError(self._refusal(value))
        try:
            plain = self.kind(value)
        except OverflowError:  # a whole number of 400 digits has no float
            plain = math.inf
        if self.kind is str:
            is_allowed = not self.choices or plain in self.choices
        else:
            is_excluded = self.excludes_minimum and plain == self.minimum
            is_finite = self.kind is not float or math.isfinite(plain)
            is_allowed = is_finite and not is_excluded and self.minimum <= plain <= self.maximum
        if not is_allowed:
            raise ValueError(self._refusal(value))
        return plain

    def _refusal(self, value: object) -> str:
        try:
            shown = repr(value)
        except ValueError:  # Python refuses to write out thousands of digits
            shown = "one with thousands of digits"
        if len(shown) > _LONGEST_SHOWN:
            shown = f"{shown[: _LONGEST_SHOWN - 3]}..."
        return f"{self.name} must be {self.description}, not {shown}."


def _is_whole(value: object) -> bool:
    try:
        operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


_PARAMETERS = (
    Parameter(name="constraint", kind=str, choices=CONSTRAINTS),
    Parameter(name="n_atoms", kind=int, minimum=1, maximum=MAX_CANDIDATES, is_optional=True),
    Parameter(name="sparsity", kind=int, minimum=1, maximum=MAX_SPARSITY),
    Parameter(name="mean_sparsity", kind=float, minimum=0, maximum=MAX_SPARSITY, excludes_minimum=True),
    Parameter(name="coding_sparsity", kind=int, minimum=1, maximum=MAX_SPARSITY, is_optional=True),
    Parameter(name="patch_size", kind=int, minimum=2, maximum=MAX_PATCH_SIZE),
    Parameter(name="selector", kind=str, choices=SELECTORS, is_optional=True),
    Parameter(name="keep_observed", kind=bool),
    Parameter(name="fill_weight", kind=float, minimum=0, maximum=1),
    Parameter(name="fill", kind=str, choices=FILLS),
    Parameter(name="literal", kind=bool),
    Parameter(name="rounds", kind=int, minimum=0, maximum=MAX_ROUNDS, is_optional=True),
    Parameter(name="threads", kind=int, minimum=1, maximum=_MAX_THREADS, is_optional=True),
    Parameter(name="seed", kind=int, minimum=0, maximum=2**63 - 1),
)

#: How the presets differ from the defaults.
_PRESET_CHANGES: dict[PresetName, dict[str, Any]] = {
    "paper": {
        "selector": "romp",
        "keep_observed": False,
        "fill_weight": 0.0,
        "fill": "smooth",
        "literal": True,
        "rounds": 0,
    },
    "fast": {"rounds": 2},
    "balanced": {},
    "best": {"rounds": None},
    "finest": {"rounds": 32},
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
        from 12 to 60 atoms: small dictionaries do best if little is observed. With `rounds` of two or
        more, it is 15 at most.
    sparsity : int
        Maximum number of atoms per patch in the selection, s. Default is 8.
    mean_sparsity : float
        Mean number of atoms per patch in the selection, s'/T, with average sparsity. Default is 4.
    coding_sparsity : int or None
        Maximum number of atoms per patch in the coding. None, the default, chooses it by the fraction of
        the pixels that are observed, from 5 to 12 atoms; with `rounds` of two or more, it is 6 at most.
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
    fill : {"auto", "smooth", "texture"}
        What holes are filled with that are too wide to be restored from their border. "smooth" keeps the
        estimate from coarser scales. "texture" copies pieces of the image from elsewhere in it, in holes
        wider than 8 pixels. "auto", the default, does so in holes wider than 16 pixels, or 8 at the border of
        the image, in spots wider than 10 pixels with texture around them, and in images of integers only:
        floats are taken for measurements, which should not be invented.
    literal : bool
        Follow the procedure of the paper to the letter: the dictionary is selected by k iterations of
        algorithm 1, and the patch at every pixel, inside the image, is coded in it alone. False, the
        default, makes up to 2k iterations; mirrors the image at its borders; codes the mean of a patch
        apart, if no atom is constant; and of all patches codes every second one, like the black squares of
        a chessboard, in half the time and hardly worse, or every fourth one, if refinement follows, which
        makes up for it.
    rounds : int or None
        Rounds of non-local refinement after the coding; 0 omits it. Default is 4. None makes eight.
    threads : int or None
        Number of threads; None, the default, uses all available cores. The result does not depend on it.
    seed : int
        For the sample of patches of a large image, and for the held-out pixels. Default is 0.

    Attributes
    ----------
    parameters : Mapping of str to Parameter
        The values that each of them may take, except for `bases`.

    See Also
    --------
    restore : Uses these settings.
    tune : Chooses n_atoms, sparsity, mean_sparsity and coding_sparsity for an image.

    Examples
    --------
    >>> RestoreSettings(n_atoms=40, rounds=0).n_atoms
    40
    >>> RestoreSettings.preset("fast") == RestoreSettings(rounds=2)
    True
    """

    parameters: ClassVar[Mapping[str, Parameter]] = MappingProxyType(
        {each.name: each for each in _PARAMETERS}
    )

    constraint: ConstraintName = "average"
    n_atoms: int | None = None
    sparsity: int = 8
    mean_sparsity: float = 4.0
    coding_sparsity: int | None = None
    patch_size: int = 8
    bases: tuple[str, ...] = STANDARD_BASES
    selector: SelectorName | None = None
    keep_observed: bool = True
    fill_weight: float = 0.1
    fill: FillName = "auto"
    literal: bool = False
    rounds: int | None = 4
    threads: int | None = field(default=None, compare=False)
    seed: int = 0

    def __post_init__(self) -> None:
        for name, parameter in self.parameters.items():
            object.__setattr__(self, name, parameter.checked(getattr(self, name)))
        if self.rounds != 0 and not self.keep_observed:
            raise ValueError(
                "Refinement keeps observed pixels as they are; set rounds=0 to replace them, or "
                "keep_observed=True."
            )
        object.__setattr__(self, "bases", as_basis_names(self.bases))
        n_candidates = len(self.bases) * self.patch_size**2
        if n_candidates > MAX_CANDIDATES:
            raise ValueError(
                f"{len(self.bases)} bases of {self.patch_size} x {self.patch_size} patches make "
                f"{n_candidates:,} candidates, and {MAX_CANDIDATES:,} is the maximum; name fewer bases or "
                "choose a smaller patch size."
            )

    @classmethod
    def preset(cls, name: PresetName) -> "RestoreSettings":
        """Return the settings of a preset.

        Parameters
        ----------
        name : {"paper", "fast", "balanced", "best", "finest"}
            "paper" is the procedure of the paper's appendix E, which replaces observed pixels too;
            "fast" makes two rounds of refinement; "balanced" are the defaults, with four; "best" makes eight,
            "finest" 32, however long they take.
        """
        if name not in _PRESET_CHANGES:
            raise ValueError(f"There is no preset {name!r}; choose one of {', '.join(PRESETS)}.")
        return RestoreSettings(**_PRESET_CHANGES[name])

    def resolved(self, observed_fraction: float, n_candidates: int) -> "ResolvedSettings":
        """Return the settings for an image, with n_atoms, coding_sparsity and selector chosen if None.

        Parameters
        ----------
        observed_fraction : float
            Fraction of the pixels that are observed.
        n_candidates : int
            Size of the ground set, which n_atoms cannot exceed.
        """
        most_atoms, most_per_patch = _MOST_ATOMS_REFINED if self.is_refined else _MOST_ATOMS
        n_atoms = self.n_atoms or min(most_atoms, max(12, round(5 + 50 * observed_fraction)))
        values = {each.name: getattr(self, each.name) for each in fields(RestoreSettings)}
        values["n_atoms"] = min(n_atoms, n_candidates)
        n_used = min(most_per_patch, max(5, round(4 + 12 * observed_fraction)))
        values["coding_sparsity"] = self.coding_sparsity or n_used
        values["selector"] = self.selector or ("rols" if observed_fraction < 0.7 else "romp")
        return ResolvedSettings(**values)

    @property
    def is_refined(self) -> bool:
        """Whether so many rounds follow that the dictionary makes little difference."""
        return self.rounds is None or self.rounds >= _MANY_ROUNDS

    @property
    def uses_budget(self) -> bool:
        """Whether patches share a budget, so that `mean_sparsity` has an effect."""
        return self.constraint == "average"

    def fills_texture(self, dtype: DTypeLike) -> bool:
        """Return whether wide holes in an image of this dtype are filled with texture, not smoothly."""
        return self.fill == "texture" or (self.fill == "auto" and np.dtype(dtype).kind != "f")

    def fill_reach(self, dtype: DTypeLike) -> int:
        """Return how far from all observed pixels the filling with texture begins; 0 turns it off."""
        return REACH[self.fill] if self.fills_texture(dtype) else 0

    def constraint_for(self, n_points: int) -> Constraint:
        """Return the constraint on the supports of `n_points` patches."""
        if self.constraint == "individual":
            return IndividualSparsity(self.sparsity)
        # No patch uses more atoms than its cap, so a larger mean is the same constraint.
        mean = min(self.mean_sparsity, self.sparsity)
        return AverageSparsity(self.sparsity, budget=max(1, round(mean * n_points)))


@dataclass(frozen=True, kw_only=True)
class ResolvedSettings(RestoreSettings):
    """Settings of a restoration in which nothing is left open; see `RestoreSettings.resolved`."""

    n_atoms: int
    coding_sparsity: int
    selector: SelectorName

    def __post_init__(self) -> None:
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
