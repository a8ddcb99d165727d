"""A picture that is larger than memory: a reduced one to look at, and parts of it in full."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path

import numpy as np
import tifffile

from inpaint_app.engine.control import JobControl, ProgressReporter
from inpaint_app.io.chunked.npy import write_npy
from inpaint_app.io.chunked.opening import SUFFIXES, cached_store, stamp_of
from inpaint_app.io.chunked.store import Store
from inpaint_app.io.paths import is_zarr
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.picture import Array, Picture, Rect

#: Values of the reduced picture, at most.
MAX_VALUES = 12_000_000
#: Values that are read at a time: tiles of 512 rows, most of them decoded once.
_BAND_VALUES = 48_000_000


@dataclass(frozen=True)
class Overview:
    """What a reduced picture was made of."""

    path: Path
    shape: tuple[int, ...]  #: Of a plane, (H, W) or (H, W, C).
    n_planes: int
    factor: int  #: How many rows and columns became one.
    stamp: str  #: Of the contents of the file.

    @property
    def store(self) -> Store:
        """The picture itself, opened once."""
        return cached_store(str(self.path), self.stamp)

    def read(self, rect: Rect, step: int, plane: int = 0) -> Picture:
        """Return a part of a plane, reduced by a step; the rectangle is in pixels of the file."""
        store = self.store
        pixels = _reduced(store.read(rect, plane), step)
        alpha = store.read_alpha(rect, plane)
        return Picture(pixels, None if alpha is None else _reduced(alpha, step))


def can_be_parted(path: Path) -> bool:
    """Return whether a file is of a kind that can be read in parts."""
    return is_zarr(path) or path.suffix.lower() in SUFFIXES


def open_overview(path: Path) -> Overview:
    """Return how a picture on disk is reduced to be looked at; raises `UserError` if that cannot be."""
    stamp = stamp_of(path.absolute())
    store = cached_store(str(path.absolute()), stamp)
    factor = max(1, ceil(sqrt(np.prod(store.shape, dtype=float) / MAX_VALUES)))
    return Overview(path.absolute(), store.shape, store.n_planes, factor, stamp)


def overview_picture(overview: Overview, control: JobControl, plane: int = 0) -> Picture:
    """Read a plane of a picture band by band, and return it reduced; reports `Progress`."""
    height, width, factor = *overview.shape[:2], overview.factor
    n_rows = factor * max(1, _BAND_VALUES // (factor * int(np.prod(overview.shape[1:]))))
    reporter, parts = ProgressReporter(control), list[Picture]()
    for top in range(0, height, n_rows):
        control.check()
        parts.append(overview.read(Rect(top, 0, min(n_rows, height - top), width), factor, plane))
        reporter.update("reading the picture in parts", (top + n_rows) / max(height, top + n_rows))
    alphas = [part.alpha for part in parts if part.alpha is not None]
    return Picture(
        np.concatenate([part.pixels for part in parts]),
        np.concatenate(alphas) if alphas else None,
        overview.store.metadata(plane),
    )


def _reduced(values: Array, step: int) -> Array:
    """Return means of squares of pixels; of those with half of the values no numbers, there is none."""
    if step == 1:
        return values
    n_all = _summed(np.ones((*values.shape[:2], *(1 for _ in values.shape[2:])), np.uint8), step)
    if values.dtype.kind in "iu":
        means: Array = np.rint(_summed(values, step) / n_all)
    else:
        known = np.isfinite(values)
        n_known = _summed(known, step)
        means = _summed(np.where(known, values, 0), step) / np.maximum(n_known, 1)
        means[2 * n_known <= n_all] = np.nan
    reduced: Array = means.astype(values.dtype)
    return reduced


def _summed(values: Array, step: int) -> Array:
    """Return sums over squares of pixels; smaller ones at the lower and the right border."""
    for _ in range(2):
        total = values[::step].astype(np.float64)
        for first in range(1, step):
            part = values[first::step]
            total[: len(part)] += part
        values = total.swapaxes(0, 1)
    return values


def write_enlarged(
    path: Path, overview: Overview, masks: Mapping[int, PackedMask], control: JobControl
) -> None:
    """Write masks of planes of a reduced picture as a file as large as the picture itself: 255 = missing."""
    shape = overview.shape[:2]

    def bands(plane: int) -> Iterator[Array]:
        columns = np.arange(shape[1]) // overview.factor
        mask = masks.get(plane)
        small = None if mask is None else np.asarray(np.atleast_3d(mask.unpack()).any(axis=2))[:, columns]
        for top in range(0, shape[0], overview.factor):
            control.check()
            n_rows = min(overview.factor, shape[0] - top)
            row = np.zeros(shape[1], np.bool_) if small is None else small[top // overview.factor]
            yield np.repeat(np.where(row, np.uint8(255), np.uint8(0))[None], n_rows, axis=0)

    if overview.n_planes == 1:
        with path.open("wb") as file:
            write_npy(file, shape, np.dtype(np.uint8), bands(0))
        return
    with tifffile.TiffWriter(path, bigtiff=True) as writer:
        for plane in range(overview.n_planes):
            rows = (row for band in bands(plane) for row in band)
            writer.write(
                rows, shape=shape, dtype=np.uint8, rowsperstrip=1, photometric="minisblack", contiguous=False
            )


def at_full_size(overview: Overview, picture: Picture) -> Picture:
    """Return a reduced picture with a notice of that."""
    height, width = overview.shape[:2]
    return picture.with_notices(
        f"The picture has {width} x {height} pixels, more than fit into memory; "
        f"one of {overview.factor} rows and columns is seen until you zoom in."
    )
