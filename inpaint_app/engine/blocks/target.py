"""The restored picture on disk: its array while blocks are written, and the file that it becomes."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from inpaint_app.engine.blocks.source import DamagedStore
from inpaint_app.engine.blocks.workspace import Workspace
from inpaint_app.errors import Remedy, UserError, printable_path, writing_error
from inpaint_app.io.atomic import PendingFile, check_target, write_files
from inpaint_app.io.chunked import npy, tiff, zarr_array
from inpaint_app.io.chunked.ome import Multiscale, new_multiscale
from inpaint_app.io.chunked.opening import SUFFIXES, refuse_url
from inpaint_app.io.chunked.store import Store
from inpaint_app.io.formats.shared.pixels import to_depth
from inpaint_app.io.paths import is_visible, is_visible_folder, is_zarr
from inpaint_app.io.write import lost_metadata, metadata_names
from inpaint_app.model.picture import Array, Rect, full_scale
from inpaint_app.system import restrict_folder

_OME_SUFFIX = ".ome.zarr"
_METADATA = "zarr.json"
#: A pyramid ends with the first level whose sides are not longer.
_SMALLEST_LEVEL = 512


@dataclass(frozen=True)
class Target:
    """Where the restored picture goes."""

    path: Path  #: Its suffix decides the format.
    picture_shape: tuple[int, ...]  #: (H, W) or (H, W, C), of each picture of a stack.
    stack: tuple[int, ...]  #: How many pictures there are along each axis of a stack.
    dtype: str  #: Of the pixels.
    shape: tuple[int, ...] = ()  #: Of its array.
    axes: tuple[int, ...] = ()  #: Which axes of the array are rows, columns and, if there are any, channels.
    names: tuple[str, ...] = ()  #: Of all axes of the array, if they have any.
    attributes: dict[str, Any] = field(default_factory=dict)  #: Of the array.
    multiscale: Multiscale | None = None  #: If it is an OME-Zarr image.

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
        options = {"attributes": self.attributes, "dimension_names": self.names or None}
        for number, name in enumerate(self.levels):
            if not is_visible(result / name / _METADATA):
                shape, block = self.level_shape(number), workspace.block
                zarr_array.create_array(
                    result / name, shape, self.dtype, block, axes=self.axes, options=options
                )

    @property
    def depth(self) -> int:
        """Bits per value."""
        return 8 * np.dtype(self.dtype).itemsize

    def lost(self, source: Store) -> tuple[str, ...]:
        """Return the names of what the file of the picture holds and this one will not."""
        metadata = source.metadata()
        if self.path.suffix.lower() in tiff.SUFFIXES:
            return lost_metadata([metadata], self.path, is_color=source.shape[2:] == (3,))
        transparency = ("transparency",) if source.has_alpha else ()
        return tuple(dict.fromkeys((*transparency, *metadata.lost, *metadata_names([metadata]))))

    def publish(self, workspace: Workspace, planes: Sequence[DamagedStore], *, overwrite: bool) -> None:
        """Give the finished picture its name, in the format that the name has."""
        source = Path(planes[0].picture.path)
        if self.is_zarr:
            workspace.remove_partial_files()
            restrict_folder(workspace.result, source)
            _publish_folder(workspace, self.path, overwrite=overwrite)
            return

        def write(file: BinaryIO) -> None:
            if self.path.suffix.lower() == npy.SUFFIX:
                shape = (*self.stack, *self.picture_shape)
                bands = chain.from_iterable(self._bands(workspace, plane) for plane in range(len(planes)))
                npy.write_npy(file, shape, np.dtype(self.dtype), bands)
            else:
                self._write_tiff(file, workspace, planes)

        write_files([PendingFile(self.path, write)], overwrite=overwrite, source=source)

    def _write_tiff(self, file: BinaryIO, workspace: Workspace, planes: Sequence[DamagedStore]) -> None:
        """Write all planes as pages; an alpha channel that is opaque everywhere is left out."""
        has_alpha = any(map(self._is_transparent, planes))
        pages = [
            (
                plane.picture.store.metadata(number),
                self._bands(workspace, number, plane if has_alpha else None),
            )
            for number, plane in enumerate(planes)
        ]
        height, width, n_channels = (*self.picture_shape, 1)[:3]
        n_channels += has_alpha
        shape = (height, width, n_channels)[: 2 + (n_channels > 1)]
        tiff.write_tiff(file, shape, np.dtype(self.dtype), pages, has_alpha=has_alpha)

    def _is_transparent(self, plane: DamagedStore) -> bool:
        """Return whether a pixel is left that is not opaque."""
        if not plane.picture.store.has_alpha:
            return False
        opaque = full_scale(plane.picture.store.dtype)
        alphas = (plane.restored_alpha(rect) for rect in self._band_rects())
        return any(alpha is not None and bool((alpha < opaque).any()) for alpha in alphas)

    def _bands(
        self, workspace: Workspace, number: int, transparent: DamagedStore | None = None
    ) -> Iterator[Array]:
        """Yield the rows of a plane, with an alpha channel if it is that of a transparent picture."""
        image = replace(workspace, plane=number).result_image(self.axes)
        for rect in self._band_rects():
            values = image.read(rect)
            if transparent is not None and (alpha := transparent.restored_alpha(rect)) is not None:
                alpha = alpha if alpha.dtype == values.dtype else to_depth(alpha, self.depth)
                values = np.concatenate([np.atleast_3d(values), alpha[..., np.newaxis]], axis=2)
            yield values

    def _band_rects(self) -> Iterator[Rect]:
        height, width = self.picture_shape[:2]
        for row in range(0, height, tiff.TILE):
            yield Rect(row, 0, min(tiff.TILE, height - row), width)


def plan_target(
    path: Path, source: Store, *, overwrite: bool, protect: Iterable[Path], depth: int | None = None
) -> Target:
    """Return where the restored picture of a source goes.

    Raises `UserError` if it cannot be written there; `protect` names files that it must not touch.
    """
    _check_name(path, overwrite=overwrite, protect=protect)
    if depth is not None and source.dtype.name not in ("uint8", "uint16", "float32"):
        raise UserError(
            f"Values of the type {source.dtype.name} cannot be reduced to {depth} bits",
            "leave the depth as it is",
        )
    dtype = source.dtype.name if depth is None else f"uint{depth}"
    return replace(_new_target(path, source), dtype=dtype)


def _new_target(path: Path, source: Store) -> Target:
    """Return the target with the dtype of its source."""
    stack, channels = tuple(length for _, length in source.stack), source.shape[2:]
    new = Target(path, source.shape, stack, source.dtype.name)
    is_ome = path.name.lower().endswith(_OME_SUFFIX)
    if new.is_zarr and isinstance(source, zarr_array.ZarrStore):
        image, multiscale = source.image, source.multiscale
        copied = replace(new, shape=tuple(image.array.shape), axes=image.axes)
        if multiscale is not None:
            return replace(copied, names=multiscale.names, multiscale=multiscale)
        if not is_ome:
            return replace(copied, names=tuple(source.axis_names), attributes=source.attributes)
    if not is_ome:
        shape = (*stack, *source.shape)
        names = (*(name for name, _ in source.stack), "y", "x", *["c"] * len(channels)) if stack else ()
        return replace(new, shape=shape, axes=tuple(range(len(stack), len(shape))), names=names)
    if len(stack) > 1:
        raise UserError(
            f"{printable_path(path)} has one axis for a stack, not {len(stack)}",
            f"choose a name that ends in {zarr_array.SUFFIX} only",
        )
    multiscale = new_multiscale(path.name, has_channels=bool(channels), is_stack=bool(stack))
    shape = (*channels, *stack, *source.shape[:2])
    axes = multiscale.picture_axes(path, len(shape))
    return replace(new, shape=shape, axes=axes, names=multiscale.names, multiscale=multiscale)


def _check_name(path: Path, *, overwrite: bool, protect: Iterable[Path]) -> None:
    refuse_url(path)
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
    _check_store(path, overwrite=overwrite)


def _check_store(path: Path, *, overwrite: bool) -> None:
    """Refuse a name that something has, unless that is a store that may be replaced."""
    if not os.path.lexists(path):
        return
    if not overwrite:
        raise UserError(f"{printable_path(path)} already exists", Remedy.REPLACE_FILE)
    if not is_zarr(path):
        raise UserError(f"{printable_path(path)} exists and is not a Zarr store", "choose another name")


def _publish_folder(workspace: Workspace, path: Path, *, overwrite: bool) -> None:
    """Move a store out of the workspace; one that it replaces goes with the workspace."""
    _check_store(path, overwrite=overwrite)  # again: somebody else may have written there meanwhile
    try:
        workspace.publish(path)
    except OSError as error:
        raise writing_error(error, path) from error
