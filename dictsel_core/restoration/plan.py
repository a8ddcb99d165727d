"""What is decided once for a whole image, before any of its tiles is restored."""

import io
import json
import zipfile
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from dictsel_core.bases import AtomOrigin
from dictsel_core.ground_set import GroundSet
from dictsel_core.restoration.canvas import Planes
from dictsel_core.restoration.coding.coder import Coarsest, PatchCoder, patch_coder
from dictsel_core.restoration.coding.dictionary import KnownDictionary
from dictsel_core.restoration.repeats import NOT_ENLARGED, Repeat
from dictsel_core.restoration.settings import ResolvedSettings
from dictsel_core.restoration.value_range import ValueRange

#: Fields that are not kept as text, or not kept.
_APART = ("settings", "ranges", "dictionary", "coarse")


@dataclass(frozen=True, eq=False)
class Plan:
    """Decisions that hold for all tiles of an image.

    Attributes
    ----------
    settings : ResolvedSettings
        Nothing is left open; `rounds` has a value too.
    ranges : tuple of ValueRange
        Of the observed values, one for each channel: the unit range of its plane.
    dictionary : KnownDictionary
    missing_fraction : float
    damage_density : float
        Mean fraction of missing pixels around a missing one.
    shares_mask : bool
        Whether all channels miss the same pixels.
    observed_channels : tuple of bool
        Whether anything is observed of each channel.
    differences : tuple of (int, int)
        Pairs of channels whose difference helps to estimate the first of them.
    repeats : ((int, int), (int, int))
        How often rows and columns are repeated in an enlarged image, once if it is not, and where the first
        repetition begins.
    reach : int
        Pixels farther than this from all observed ones are completed by example; 0 if none are.
    holes : tuple of (top, left, bottom, right)
        Where there are such pixels, if the image has several tiles.
    level : int
        How often `coarse` was halved.
    coarse : (h, w, C) ndarray, optional
        The restored planes of a coarse scale of the image. None if the image is a single tile, or if nothing
        is missing on that scale.
    """

    settings: ResolvedSettings
    ranges: tuple[ValueRange, ...]
    dictionary: KnownDictionary
    missing_fraction: float
    damage_density: float
    shares_mask: bool
    observed_channels: tuple[bool, ...]
    differences: tuple[tuple[int, int], ...] = ()
    repeats: tuple[Repeat, Repeat] = NOT_ENLARGED
    reach: int = 0
    holes: tuple[tuple[int, int, int, int], ...] = ()
    level: int = 0
    coarse: Planes | None = None

    @property
    def n_rounds(self) -> int:
        """Number of rounds of refinement."""
        return self.settings.rounds or 0

    @property
    def is_enlarged(self) -> bool:
        """Whether rows or columns are repeated."""
        return self.repeats != NOT_ENLARGED

    def shared(self) -> "Plan":
        """Return the plan without what no tile needs: the patches that the dictionary was selected on."""
        return replace(self, dictionary=KnownDictionary(self.dictionary.atoms))

    def coder(self) -> PatchCoder:
        """Return a coder of patches."""
        return patch_coder(self.dictionary.atoms.atoms, self.settings, refined=self.n_rounds > 0)

    def coarsest(self, origin: tuple[int, int], shape: tuple[int, int]) -> Coarsest | None:
        """Return the coarse scale of a tile, which begins at a multiple of ``2 ** level``."""
        if self.coarse is None:
            return None
        rows, columns = (
            slice(start >> self.level, -(-(start + length) >> self.level))
            for start, length in zip(origin, shape, strict=True)
        )
        limits = self.coarse.min(axis=(0, 1)), self.coarse.max(axis=(0, 1))
        return Coarsest(self.level, self.coarse[rows, columns], limits)

    def to_bytes(self) -> bytes:
        """Return what tiles need of the plan, for `from_bytes`: a file of NumPy, without the threads."""
        settings = asdict(self.settings)
        del settings["threads"]
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _APART}
        values = plain | {"settings": settings}
        values["ranges"] = [asdict(each) for each in self.ranges]
        values["origins"] = [asdict(each) for each in self.dictionary.atoms.origins]
        text = json.dumps(values, sort_keys=True, allow_nan=False)
        arrays = {"atoms": self.dictionary.atoms.atoms, "values": np.array(text)}
        if self.coarse is not None:
            arrays["coarse"] = self.coarse
        with io.BytesIO() as file:
            np.savez(file, allow_pickle=False, **arrays)
            return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, *, threads: int | None = None) -> "Plan":
        """Return a plan from what `to_bytes` returned; ValueError if that was not so."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                arrays = dict(file)
            values = json.loads(str(arrays["values"]))
            settings = values["settings"] | {"bases": tuple(values["settings"]["bases"]), "threads": threads}
            size = settings["patch_size"]
            origins = tuple(AtomOrigin(**each) for each in values.pop("origins"))
            values |= {
                "settings": ResolvedSettings(**settings),
                "ranges": tuple(ValueRange(**each) for each in values["ranges"]),
                "dictionary": KnownDictionary(GroundSet(arrays["atoms"], origins, (size, size))),
                "coarse": arrays.get("coarse"),
            }
            for name in ("observed_channels", "differences", "repeats", "holes"):
                values[name] = _as_tuples(values[name])
            return cls(**values)
        except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, zipfile.BadZipFile):
            raise ValueError("This is not a plan, or not one of this version.") from None


def _as_tuples(value: Any) -> Any:  # noqa: ANN401  (whatever JSON knows)
    """Return lists, and lists within them, as tuples."""
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
