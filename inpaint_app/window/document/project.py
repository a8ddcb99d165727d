"""Project files, which are read here: a picture by reference, and all that was done with it; no Qt.

A project is a zip archive: project.json, and arrays as .npy files. Of a picture that is no file, the pixels
are in it. What is left out: the steps of undo, and how the dictionaries of runs were selected.
"""

import contextlib
import math
import tokenize
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from dictsel_core import GroundSet, Restoration, RestoreSettings
from dictsel_core.atoms import AtomOrigin
from dictsel_core.restoration import ResolvedSettings
from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.engine.opening import open_source, plane_source, source_from_picture, with_reference_file
from inpaint_app.engine.source import Plane, Source, detect_again
from inpaint_app.errors import DamagedError, UnsupportedError, UserError, printable_path, reading_error
from inpaint_app.io.formats.arrays.npy import MAX_HEADER_BYTES, parse_header
from inpaint_app.io.recipe import (
    Recipe,
    parse_object,
    recipe_mask_spec,
    recipe_settings,
)
from inpaint_app.model.look import COLOR_MAPS, Look
from inpaint_app.model.masks import MaskOrigin, PackedMask
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Array, Picture
from inpaint_app.window.document.runs import RunHistory, RunRecord
from inpaint_app.window.document.state import PlaneWork

SUFFIX = ".inpaint"
FORMAT = 1
CONTENTS = "project.json"
MAX_CONTENTS, MAX_RUNS, _MAX_PLANES = 32_000_000, 10_000, 10_000
_MAX_SIDE = 1 << 20
#: What contents that make no sense raise here, in JSON, in zipfile (RuntimeError: encrypted, or for a later
#: version of zip; EOFError: sizes that are not true) and in NumPy (TokenError: the header of an array).
_DAMAGED = (
    DamagedError,
    zipfile.BadZipFile,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OverflowError,
    RuntimeError,
    EOFError,
    SyntaxError,
    tokenize.TokenError,
)


@dataclass(frozen=True, eq=False)
class Project:
    """What a project file holds."""

    source: Source
    mask: PackedMask
    settings: RestoreSettings
    hole_fill: HoleFill | None
    runs: RunHistory
    planes: Mapping[Plane, PlaneWork] = field(default_factory=dict)
    look: Look = field(default_factory=Look)


def checksum(picture: Picture) -> int:
    """Return a number that tells another picture of the same size from this one."""
    return zlib.crc32(np.ascontiguousarray(picture.pixels).reshape(-1).view(np.uint8).data)


def describe_project(path: Path) -> str:
    """Return the name of the picture that a project is about, without reading the rest."""
    try:
        with zipfile.ZipFile(path) as archive:
            contents = parse_object(_member(archive, CONTENTS).read(MAX_CONTENTS), path.name, "project")
            return printable_path(str(contents["picture"]["name"]))
    except (OSError, UserError, MemoryError, *_DAMAGED):
        return "a picture"


def is_project(path: Path) -> bool:
    """Return whether a file is a project by its name."""
    return path.suffix.lower() == SUFFIX


def read_project(path: Path) -> Project:
    """Read a project, and the picture it is about.

    Names of files in it are seen from its folder. Raises `UserError` if it is no project, is damaged, or if
    the picture is gone or has another size.
    """
    name = printable_path(path)
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe would be waited for
            raise UserError(f"{name} is not a regular file", "open the picture itself")
        with zipfile.ZipFile(path) as archive:
            data = _member(archive, CONTENTS).read(MAX_CONTENTS)
            contents = parse_object(data, name, "project")
            if contents.get("project") != FORMAT:
                raise UserError(
                    f"{name} is a project for another version of this program", "open it with that version"
                )
            return _Reader(archive, contents, path.parent).project()
    except OSError as error:
        raise reading_error(error, path) from error
    except UserError:
        raise
    except _DAMAGED as error:
        raise UserError(f"{name} is a damaged project, or none", "open the picture itself") from error


class _Reader:
    """Reads what one archive holds; arrays are never larger than the picture says."""

    def __init__(self, archive: zipfile.ZipFile, contents: dict[str, Any], folder: Path) -> None:
        self._archive, self._contents, self._folder = archive, contents, folder
        about = contents["picture"]
        self._shape = tuple(int(side) for side in about["shape"])
        if not (len(self._shape) in (2, 3) and all(0 < side <= _MAX_SIDE for side in self._shape)):
            raise DamagedError("the shape of the picture is impossible")
        self._dtype = np.dtype(str(about["dtype"]))
        self._shapes = {self._shape}  #: Of all planes.

    def project(self) -> Project:
        contents = self._contents
        source = self._source(contents["picture"])
        known = contents.get("planes", [])[:_MAX_PLANES]  # projects of earlier versions have none
        others = [plane_source(source, _plane(each)) for each in known] if source.is_part else []
        self._shapes |= {other.picture.pixels.shape for other in others}
        masks = [self._mask(each) for each in contents["masks"]]
        history = self._runs(contents, masks, source.picture.pixels, "")
        planes = {
            other.plane: PlaneWork(
                other,
                _fitting(masks[int(each["mask"])], other.picture.pixels.shape),
                self._runs(each, masks, other.picture.pixels, f"plane{number}_"),
                masks[int(each["mask"])],
            )
            for number, (other, each) in enumerate(zip(others, known, strict=False))
        }
        mask = _fitting(masks[0], self._shape)
        settings, look = self._settings(contents["settings"]), _look(contents.get("look"))
        return Project(source, mask, settings, self._fill(), history, planes, look)

    def _runs(self, about: dict[str, Any], masks: list[PackedMask], pixels: Array, prefix: str) -> RunHistory:
        """Return the results of a plane."""
        runs = [self._run(each, masks, pixels, prefix) for each in about["runs"][:MAX_RUNS]]
        if len({run.number for run in runs}) < len(runs):
            raise DamagedError("two runs have one number")
        shown = about["shown"] if any(run.number == about["shown"] for run in runs) else None
        newest = max([int(about["newest"]), *(run.number for run in runs)])
        return RunHistory(tuple(runs), shown, saved_number=shown, newest_number=newest)

    def _source(self, about: dict[str, Any]) -> Source:
        if about["file"] is None:
            alpha = self._optional("alpha.npy", self._shape[:2], self._dtype)
            picture = Picture(self._array("picture.npy", self._shape, self._dtype), alpha)
            source = source_from_picture(picture, str(about["name"]))
        else:
            path = self._path(about["file"])
            if not path.is_file():
                raise UserError(
                    f"{printable_path(path)}, the picture of this project, does not exist",
                    "put it back there",
                )
            source = open_source(path, MaskSpec(), plane=_plane(self._contents))
        if not source.picture.is_plain:
            raise DamagedError("the picture cannot be shown")
        pixels = source.picture.pixels
        is_other = pixels.shape != self._shape or pixels.dtype != self._dtype
        if is_other or checksum(source.picture) != about["checksum"]:
            raise UserError(
                f"{printable_path(source.name)} is not the picture that this project was made for",
                "put that one back, or open this one by itself",
            )
        if about["reference"] is not None:
            source = with_reference_file(source, self._path(about["reference"]))
        else:
            reference = self._optional("reference.npy", self._shape, self._dtype)
            source = replace(source, reference=None if reference is None else Picture(reference))
        recipe = Recipe({}, "", self._contents["marks"])
        spec = recipe_mask_spec(recipe, self._folder / CONTENTS)
        if spec != source.mask_spec and not spec.detect:  # to look for damage again would take too long
            with contextlib.suppress(UserError):  # a mask file may be gone; the mask is in the project
                source = detect_again(source, spec)
        return replace(
            source,
            mask_spec=spec,
            doubt=None,
            damage=str(about["damage"]),
            is_sample=bool(about["is_sample"]),
            name=str(about["name"]),
        )

    def _path(self, name: object) -> Path:
        """Return a file as it is seen from the folder, not by way of it: users read where it is."""
        path = self._folder / str(name)
        return path.parent.resolve() / path.name if ".." in path.parts else path

    def _settings(self, plain: dict[str, Any]) -> RestoreSettings:
        return recipe_settings(Recipe(plain, "", {}), self._folder / CONTENTS)

    def _mask(self, about: dict[str, Any]) -> PackedMask:
        shape = tuple(int(side) for side in about["shape"])
        if not any(shape in (known, known[:2]) for known in self._shapes):
            raise DamagedError("a mask does not fit the picture")
        size = math.prod(shape)
        bits = self._array(str(about["file"]), (-(-size // 8),), np.dtype(np.uint8))
        origin = MaskOrigin(**{str(key): bool(value) for key, value in about["origin"].items()})
        return replace(PackedMask.pack(PackedMask(bits, shape, 0.0).unpack()), origin=origin)

    def _fill(self) -> HoleFill | None:
        areas = self._contents["fill"]
        if areas is None:
            return None
        wanted, unwanted = (
            self._mask(areas[name]) if name in areas else None for name in ("wanted", "unwanted")
        )
        return HoleFill(wanted, unwanted)

    def _run(self, about: dict[str, Any], masks: list[PackedMask], pixels: Array, prefix: str) -> RunRecord:
        number, image = int(about["number"]), None
        if about["has_image"]:
            image = self._array(f"{prefix}run{number}.npy", pixels.shape, pixels.dtype)
        used = ResolvedSettings(**asdict(self._settings(about["used"])))
        restoration = Restoration(
            image=np.zeros((1, 1), np.uint8) if image is None else image,
            settings=used,
            missing_fraction=float(about["missing_fraction"]),
            selection=None,
            patch_positions=np.zeros((0, 2), np.intp),
            usage=np.array(about["usage"], np.intp),
            n_coded_patches=int(about["n_coded_patches"]),
            n_rounds=int(about["n_rounds"]),
            seconds={str(stage): float(value) for stage, value in about["stages"].items()},
            atoms=self._atoms(f"{prefix}atoms{number}.npy", about["origins"], used.patch_size),
        )
        return RunRecord(
            number,
            self._settings(about["requested"]),
            _fitting(masks[int(about["mask"])], pixels.shape),
            float(about["seconds"]),
            image,
            restoration,
            is_stopped=bool(about["is_stopped"]),
            n_strokes=int(about["n_strokes"]),
            touched=_touched(about.get("touched"), masks, pixels.shape),
            name=str(about["name"]),
        )

    def _atoms(self, name: str, origins: list[dict[str, Any]], size: int) -> GroundSet | None:
        if not origins:
            return None
        atoms = self._array(name, (size * size, len(origins)), np.dtype(np.float64))
        return GroundSet(atoms, tuple(AtomOrigin(**each) for each in origins), (size, size))

    def _optional(self, name: str, shape: Sequence[int], dtype: np.dtype[Any]) -> Array | None:
        return self._array(name, shape, dtype) if name in self._archive.namelist() else None

    def _array(self, name: str, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Return an array that must have this shape and type; nothing else is read."""
        n_bytes = math.prod(shape) * dtype.itemsize
        with _member(self._archive, name) as file:
            data = file.read(MAX_HEADER_BYTES + n_bytes)
        try:
            header = parse_header(data)
        except UnsupportedError as error:  # which names neither the array nor the project
            raise DamagedError(f"{name} is not what it should be") from error
        if header.shape != tuple(shape) or header.dtype != dtype or header.is_fortran:
            raise DamagedError(f"{name} is not what it should be")
        return header.read(data)


def _plane(about: dict[str, Any]) -> Plane:
    """Return which plane something is about; projects of earlier versions know one only."""
    page, band = about.get("plane", (0, None))
    return Plane(int(page), None if band is None else int(band))


def _look(about: dict[str, Any] | None) -> Look:
    """Return how values are shown."""
    if about is None:
        return Look()
    limits, name, channel = about["limits"], str(about["color_map"]), about["channel"]
    if name not in COLOR_MAPS or channel not in (None, 0, 1, 2):
        raise DamagedError("there are no such colors")
    if limits is not None:
        limits = float(limits[0]), float(limits[1])
        if not all(map(math.isfinite, limits)):
            raise DamagedError("the range of values is impossible")
    gain, has_sign = float(about.get("error_gain", 4.0)), bool(about.get("has_sign", False))
    if not 0 < gain < 1e6:
        raise DamagedError("errors cannot be magnified so")
    return Look(limits, name, channel, gain, has_sign)


def _fitting(mask: PackedMask, shape: tuple[int, ...]) -> PackedMask:
    if mask.shape not in (shape, shape[:2]):
        raise DamagedError("a mask does not fit the picture")
    return mask


def _touched(number: int | None, masks: list[PackedMask], shape: tuple[int, ...]) -> PackedMask | None:
    """Return what was painted in a run; projects of earlier versions do not have it."""
    return None if number is None else _fitting(masks[int(number)], shape[:2])


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a file of an archive, which must be stored as it is: nothing is unpacked to more than it takes."""
    entry = archive.getinfo(name)
    if entry.compress_type != zipfile.ZIP_STORED:
        raise DamagedError(f"{name} is compressed")
    # Memory is taken for what the archive says before it is read.
    if max(entry.file_size, entry.compress_size) > archive.start_dir:
        raise DamagedError(f"{name} is larger than the archive")
    return archive.open(entry)
