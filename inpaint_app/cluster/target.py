"""The restored picture on disk: its array while blocks are written, and the file that it becomes."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from inpaint_app.cluster.stores import npy, tiff, zarr_array
from inpaint_app.cluster.stores.ome import Multiscale, new_multiscale
from inpaint_app.cluster.stores.opening import SUFFIXES
from inpaint_app.cluster.stores.store import Store
from inpaint_app.cluster.workspace import Workspace
from inpaint_app.errors import Remedy, UserError, printable_path, writing_error
from inpaint_app.files.atomic import atomic_file, check_target
from inpaint_app.files.paths import is_visible, is_visible_folder
from inpaint_app.image.picture import Array, Picture
from inpaint_app.image.rect import Rect

_OME_SUFFIX = ".ome.zarr"
_METADATA = "zarr.json"
#: A pyramid ends with the first level whose sides are not longer.
_SMALLEST_LEVEL = 512


@dataclass(frozen=True)
class Target:
    """Where the restored picture goes.

    Attributes
    ----------
    path : Path
        Its suffix decides the format.
    picture_shape : tuple of int
        (H, W) or (H, W, C).
    dtype : str
        Of the pixels.
    shape, axes : tuple of int
        Of its array, and which of the axes are rows, columns and, if there are any, channels.
    multiscale : Multiscale or None
        If it is an OME-Zarr image.
    options : dict
        Attributes and names of the axes of the array.
    """

    path: Path
    picture_shape: tuple[int, ...]
    dtype: str
    shape: tuple[int, ...]
    axes: tuple[int, ...]
    multiscale: Multiscale | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def is_zarr(self) -> bool:
        """Whether it is a Zarr store, and so a folder."""
        return self.path.suffix.lower() == zarr_array.SUFFIX

    @property
    def levels(self) -> tuple[str, ...]:
        """Paths of the arrays inside the store, finest first; "" for a store that is one array."""
        if self.multiscale is None:
            return ("",)
        longest, n_levels = max(self.picture_shape[:2]), 1
        while longest > _SMALLEST_LEVEL:
            longest, n_levels = -(-longest // 2), n_levels + 1
        return tuple(map(str, range(n_levels)))

    def level_shape(self, level: int) -> tuple[int, ...]:
        """Return the shape of the array of a level."""
        shape = list(self.shape)
        for axis in self.axes[:2]:
            shape[axis] = -(-shape[axis] // 2**level)
        return tuple(shape)

    def create(self, workspace: Workspace) -> None:
        """Create the arrays, unless an earlier run has."""
        result = workspace.result
        if self.multiscale is not None:
            result.mkdir(exist_ok=True)
            attributes = self.multiscale.attributes([2**level for level in range(len(self.levels))])
            group = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
            (result / _METADATA).write_text(json.dumps(group, indent=2), "utf-8")
        for number, name in enumerate(self.levels):
            if not is_visible(result / name / _METADATA):
                shape, options = self.level_shape(number), self.options
                zarr_array.create_array(
                    result / name, shape, self.dtype, workspace.block, axes=self.axes, options=options
                )

    def publish(self, workspace: Workspace, properties: Picture, *, overwrite: bool) -> None:
        """Give the finished picture its name, in the format that the name has."""
        if self.is_zarr:
            workspace.remove_partial_files()
            _publish_folder(workspace, self.path, overwrite=overwrite)
            return
        bands = self._bands(workspace)
        with atomic_file(self.path, overwrite=overwrite) as file:
            if self.path.suffix.lower() == npy.SUFFIX:
                npy.write_npy(file, self.picture_shape, np.dtype(self.dtype), bands)
            else:
                tiff.write_tiff(file, self.picture_shape, properties, bands)

    def _bands(self, workspace: Workspace) -> Iterator[Array]:
        image = workspace.result_image(self.axes)
        height, width = self.picture_shape[:2]
        for row in range(0, height, tiff.TILE):
            yield image.read(Rect(row, 0, min(tiff.TILE, height - row), width))


def plan_target(path: Path, source: Store, *, overwrite: bool, protect: Iterable[Path]) -> Target:
    """Return where the restored picture of a source goes.

    Raises
    ------
    UserError
        If it cannot be written there; `protect` names files that it must not touch.
    """
    _check_name(path, overwrite=overwrite, protect=protect)
    shape, dtype = source.shape, source.dtype.name
    axes = tuple(range(len(shape)))
    if path.suffix.lower() != zarr_array.SUFFIX:
        return Target(path, shape, dtype, shape, axes)
    is_ome = path.name.lower().endswith(_OME_SUFFIX)
    if isinstance(source, zarr_array.ZarrStore):
        image, multiscale = source.image, source.multiscale
        if multiscale is None and not is_ome:
            names = image.array.metadata.to_dict().get("dimension_names")
            options = {"attributes": dict(image.array.attrs), "dimension_names": names}
            return Target(path, shape, dtype, tuple(image.array.shape), image.axes, None, options)
        if multiscale is not None:
            return _ome_target(path, source, multiscale, tuple(image.array.shape), image.axes)
    if not is_ome:
        return Target(path, shape, dtype, shape, axes)
    multiscale = new_multiscale(path.name, has_channels=len(shape) == 3)
    stored = (*shape[2:], *shape[:2])
    return _ome_target(path, source, multiscale, stored, multiscale.picture_axes(path, stored))


def _ome_target(
    path: Path, source: Store, multiscale: Multiscale, shape: tuple[int, ...], axes: tuple[int, ...]
) -> Target:
    options = {"dimension_names": list(multiscale.names)}
    return Target(path, source.shape, source.dtype.name, shape, axes, multiscale, options)


def _check_name(path: Path, *, overwrite: bool, protect: Iterable[Path]) -> None:
    name = printable_path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise UserError(
            f"{name} cannot be written in parts", f"give a name that ends in {', '.join(SUFFIXES)}"
        )
    for each in protect:
        ours, theirs = path.resolve(), each.resolve()
        if ours == theirs or ours in theirs.parents or theirs in ours.parents:
            raise UserError(
                f"{name} and {printable_path(each)} lie in one another or are the same", "choose another name"
            )
    if path.suffix.lower() != zarr_array.SUFFIX:
        check_target(path, overwrite=overwrite)
        return
    if not is_visible_folder(path.parent):
        raise writing_error(FileNotFoundError(2, ""), path)
    if is_visible(path) and not overwrite:
        raise UserError(f"{name} already exists", Remedy.REPLACE_FILE)
    if is_visible(path) and not zarr_array.is_zarr(path):
        raise UserError(f"{name} exists and is not a Zarr store", "choose another name")


def _publish_folder(workspace: Workspace, path: Path, *, overwrite: bool) -> None:
    """Move a store out of the workspace; one that it replaces goes with the workspace."""
    if is_visible(path) and not overwrite:
        raise UserError(f"{printable_path(path)} already exists", Remedy.REPLACE_FILE)
    replaced = workspace.folder / "replaced"
    try:
        if is_visible(path):
            path.rename(replaced)
        workspace.result.rename(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            if not path.exists():
                replaced.rename(path)
        raise writing_error(error, path) from error
