"""Writes project files: the work on a picture, to be gone on with later; no Qt."""

import json
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dictsel_core import __version__
from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.engine.source import Plane, Source
from inpaint_app.errors import UserError
from inpaint_app.io.atomic import PendingFile
from inpaint_app.io.recipe import plain_marks, plain_settings, seen_from
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.picture import Array
from inpaint_app.window.document.project import CONTENTS, FORMAT, MAX_CONTENTS, MAX_RUNS, checksum
from inpaint_app.window.document.runs import RunHistory, RunRecord
from inpaint_app.window.document.state import DocumentState


def project_file(path: Path, state: DocumentState) -> PendingFile:
    """Return the project of a state, to be written to a file; something must be open."""
    return PendingFile(path, lambda file: _write(file, state, path.parent))


def _write(file: BinaryIO, state: DocumentState, folder: Path) -> None:
    source, mask = state.source, state.mask
    assert source is not None and mask is not None, "something is open"
    planes = [(source.plane, mask, state.runs)]
    planes += [(plane, work.mask, work.runs) for plane, work in state.planes.items()]
    masks = list(
        dict.fromkeys(
            [mask, *(each for _, own, runs in planes for each in (own, *runs.masks, *runs.touched))]
        )
    )
    with zipfile.ZipFile(file, "w") as archive:
        contents = {
            "project": FORMAT,
            "version": __version__,
            "picture": _plain_source(archive, source, folder),
            "settings": plain_settings(state.settings),
            "marks": plain_marks(source.mask_spec, folder),
            "masks": [_plain_mask(archive, each, f"mask{number}.npy") for number, each in enumerate(masks)],
            "fill": _plain_fill(archive, state.hole_fill),
            "look": asdict(state.look),
            **_plain_plane(archive, planes[0], masks, ""),
            "planes": [
                _plain_plane(archive, each, masks, f"plane{number}_")
                for number, each in enumerate(planes[1:])
            ],
        }
        text = json.dumps(contents, allow_nan=False)
        n_runs = sum(len(runs) for _, _, runs in planes)
        if len(text) > MAX_CONTENTS or n_runs > MAX_RUNS:  # it could not be read again
            raise UserError("There are too many runs for a project", "delete some of them first")
        archive.writestr(CONTENTS, text)


def _plain_plane(
    archive: zipfile.ZipFile,
    plane: tuple[Plane, PackedMask, RunHistory],
    masks: list[PackedMask],
    prefix: str,
) -> dict[str, Any]:
    """Return a plane with its results, whose files begin with the prefix."""
    place, mask, runs = plane
    return {
        "plane": list(place),
        "mask": masks.index(mask),
        "runs": [_plain_run(archive, record, masks, prefix) for record in runs.records],
        "shown": runs.current_number,
        "newest": runs.newest_number,
    }


def _plain_source(archive: zipfile.ZipFile, source: Source, folder: Path) -> dict[str, Any]:
    reference, path = source.reference, source.path if not source.damage else None
    if path is None:
        _put(archive, "picture.npy", source.picture.pixels)
        _put(archive, "alpha.npy", source.picture.alpha)
    if reference is not None and source.reference_path is None:
        _put(archive, "reference.npy", reference.pixels)
    return {
        "file": None if path is None else seen_from(folder, path),
        "reference": None if source.reference_path is None else seen_from(folder, source.reference_path),
        "name": source.name,
        "damage": source.damage,
        "is_sample": source.is_sample,
        "shape": list(source.picture.pixels.shape),
        "dtype": source.picture.pixels.dtype.str,
        "checksum": checksum(source.picture),
    }


def _plain_mask(archive: zipfile.ZipFile, mask: PackedMask, name: str) -> dict[str, Any]:
    _put(archive, name, mask.bits)
    return {"file": name, "shape": list(mask.shape), "origin": asdict(mask.origin)}


def _plain_fill(archive: zipfile.ZipFile, fill: HoleFill | None) -> dict[str, Any] | None:
    """Return which areas may be copied; a network is to be chosen again."""
    areas = {} if fill is None else {"wanted": fill.wanted, "unwanted": fill.unwanted}
    plain = {name: _plain_mask(archive, area, f"{name}.npy") for name, area in areas.items() if area}
    return plain or None


def _plain_run(
    archive: zipfile.ZipFile, record: RunRecord, masks: list[PackedMask], prefix: str
) -> dict[str, Any]:
    _put(archive, f"{prefix}run{record.number}.npy", record.image)
    used = record.restoration
    if used.atoms is not None:
        _put(archive, f"{prefix}atoms{record.number}.npy", used.dictionary)
    return {
        "number": record.number,
        "name": record.name,
        "requested": plain_settings(record.requested),
        "used": plain_settings(used.settings),
        "mask": masks.index(record.packed_mask),
        "touched": None if record.touched is None else masks.index(record.touched),
        "has_image": record.image is not None,
        "seconds": record.seconds,
        "is_stopped": record.is_stopped,
        "n_strokes": record.n_strokes,
        "missing_fraction": used.missing_fraction,
        "n_coded_patches": used.n_coded_patches,
        "n_rounds": used.n_rounds,
        "origins": [asdict(origin) for origin in used.origins],
        "usage": used.usage.tolist(),
        "stages": used.seconds,
    }


def _put(archive: zipfile.ZipFile, name: str, array: Array | None) -> None:
    if array is not None:
        with archive.open(name, "w", force_zip64=True) as file:
            np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
