"""A damaged picture on disk: its pixels, and which of them are missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from inpaint_app.engine.restore_file import BLOCK_STEP, DEFAULT_BLOCK
from inpaint_app.errors import UserError, printable_path
from inpaint_app.io.chunked.opening import cached_store, open_store, stamp_of
from inpaint_app.io.chunked.store import Store
from inpaint_app.model.missing import (
    DEFAULT_GROWTH,
    MaskSpec,
    clear_and_soft,
    collect_missing,
    default_growth,
    dilate,
    has_soft_edges,
    pixels_of_color,
    soft_rim,
)
from inpaint_app.model.picture import Array, Mask, Metadata, Picture, Rect, full_scale

#: Of a picture or stack; a hundred gigapixels are 42 thousand.
_MAX_BLOCKS = 2_000_000
#: Rims of partly transparent pixels are followed as far, in pixels.
_SOFT_REACH = 64


@dataclass(frozen=True)
class StoredFile:
    """A picture on disk, as a worker finds it: an absolute path, and a stamp of the contents."""

    path: str
    stamp: str

    @property
    def store(self) -> Store:
        """The picture, open in this process."""
        try:
            return cached_store(self.path, self.stamp)
        except UserError as error:
            if Path(self.path).exists():
                raise
            raise UserError(
                f"{printable_path(self.path)} is not visible to a worker",
                "put it on a file system that all machines share",
            ) from error


@dataclass(frozen=True)
class MarkCounts:
    """How many values a mask or color marks, as it is and grown, and how many there are; sums with `+`."""

    n_marked: int = 0
    n_grown: int = 0
    n_values: int = 0

    def __add__(self, other: MarkCounts) -> MarkCounts:
        """Return the marks of two parts of a picture."""
        return MarkCounts(
            self.n_marked + other.n_marked, self.n_grown + other.n_grown, self.n_values + other.n_values
        )

    @property
    def growth(self) -> int:
        """By how many pixels to grow what is marked."""
        return default_growth(self.n_marked, self.n_grown, self.n_values)


@dataclass(frozen=True)
class DamagedStore:
    """A damaged picture on disk.

    NaN, the value for "no data" and transparent pixels are missing, and what a mask (not 0 = missing) or a
    color marks.
    """

    picture: StoredFile  #: The pixels.
    mask: StoredFile | None = None  #: Of the same size, with one channel or as many.
    invert_mask: bool = False  #: Whether 0 = missing.
    key: str | None = None
    tolerance: float = 0.0
    no_data: float | None = None  #: The value that means "missing".
    #: Pixels by which what mask and key mark grows; None until that is known.
    mask_growth: int | None = 0
    key_growth: int | None = 0
    #: Whether partly transparent pixels around transparent ones are missing too; None until that is known.
    soft_edges: bool | None = False
    plane: int = 0  #: Which picture of a stack it is.

    @property
    def shape(self) -> tuple[int, ...]:
        """(H, W) or (H, W, C)."""
        return self.picture.store.shape

    @property
    def n_channels(self) -> int:
        """Number of channels, 1 for gray."""
        return (*self.shape, 1)[2]

    @property
    def n_layers(self) -> int:
        """Number of layers of the mask: one, or one per channel."""
        store = self.picture.store
        is_marked_by_value = self.no_data is not None or store.dtype.kind == "f"
        per_channel = self.mask is not None and len(self.mask.store.shape) == 3
        return self.n_channels if is_marked_by_value or per_channel else 1

    def read(self, array: str, rect: Rect) -> Array:
        """Return pixels of the "image", (h, w, C), or the "mask" of them, (h, w, L)."""
        if array == "mask":
            return self.read_mask(rect)
        return np.atleast_3d(self.picture.store.read(rect, self.plane))

    def read_mask(self, rect: Rect) -> Mask:
        """Return which pixels are missing, (h, w, L)."""
        reach = max(self.mask_growth or 0, self.key_growth or 0, _SOFT_REACH if self.soft_edges else 0)
        wide = rect.widened(reach, self.shape)
        picture, grow = self._picture(wide), self.mask_growth or 0
        found = collect_missing(picture, mask=self._marked(wide), grow=grow, soft_edges=False).mask
        if self.soft_edges and picture.alpha is not None:
            rim = soft_rim(*clear_and_soft(picture.alpha))
            found = _with_layers(found, self.n_layers) | _with_layers(rim, self.n_layers)
        if self.key is not None:
            colored = dilate(pixels_of_color(picture, self.key, self.tolerance), self.key_growth or 0)
            found = _with_layers(found, self.n_layers) | _with_layers(colored, self.n_layers)
        return _with_layers(found, self.n_layers)[rect.within(wide).slices]

    def restored_alpha(self, rect: Rect) -> Array | None:
        """Return the opacity of restored pixels, (h, w): what was missing is opaque."""
        alpha = self.picture.store.read_alpha(rect, self.plane)
        if alpha is None:
            return None
        opaque = alpha.dtype.type(full_scale(alpha.dtype))
        return np.where(self.read_mask(rect).any(axis=2), opaque, alpha)

    def count_marks(self, rect: Rect) -> dict[str, MarkCounts]:
        """Return how much is marked in a block by what has to be counted as a whole first."""
        wide = rect.widened(DEFAULT_GROWTH, self.shape)
        found: dict[str, Mask | None] = {}
        if self.mask_growth is None:
            found["mask"] = self._marked(wide)
        if self.key is not None and self.key_growth is None:
            found["key"] = pixels_of_color(self._picture(wide), self.key, self.tolerance)
        if self.soft_edges is None and (alpha := self.picture.store.read_alpha(wide, self.plane)) is not None:
            found["clear"], found["soft"] = clear_and_soft(alpha)
        return {name: _marks(mask, rect, wide) for name, mask in found.items() if mask is not None}

    def with_counts(self, marks: Iterable[dict[str, MarkCounts]]) -> DamagedStore:
        """Return the picture with what the marks of all its blocks decide: growth, and soft edges."""
        sums: dict[str, MarkCounts] = {}
        for each in marks:
            sums |= {name: sums.get(name, MarkCounts()) + counted for name, counted in each.items()}
        mask, key, clear, soft = (sums.get(name) for name in ("mask", "key", "clear", "soft"))
        has_soft = self.soft_edges
        if clear is not None and soft is not None:
            has_soft = has_soft_edges(clear.n_marked, soft.n_marked, clear.n_values)
        return replace(
            self,
            mask_growth=self.mask_growth if mask is None else mask.growth,
            key_growth=self.key_growth if key is None else key.growth,
            soft_edges=has_soft,
        )

    @property
    def counted(self) -> dict[str, Any]:
        """What counting marks has decided, from which `replace` makes the same picture again."""
        return {name: getattr(self, name) for name in ("mask_growth", "key_growth", "soft_edges")}

    @property
    def needs_counts(self) -> bool:
        """Whether marks have to be counted before it is known what is missing."""
        return None in (self.mask_growth, self.key_growth, self.soft_edges)

    def _picture(self, rect: Rect) -> Picture:
        """Return pixels, or anything of their shape if no pixel is missing by its value."""
        store = self.picture.store
        alpha = store.read_alpha(rect, self.plane)
        if self.no_data is None and self.key is None and store.dtype.kind != "f":
            shape = (rect.height, rect.width, *store.shape[2:])
            return Picture(np.broadcast_to(np.zeros((), store.dtype), shape), alpha)
        return Picture(store.read(rect, self.plane), alpha, Metadata(no_data=self.no_data))

    def _marked(self, rect: Rect) -> Mask | None:
        if self.mask is None:
            return None
        store = self.mask.store
        marked: Mask = store.read(rect, self.plane if store.n_planes > 1 else 0) != 0
        return ~marked if self.invert_mask else marked


def describe_source(path: Path, mask_spec: MaskSpec, block: int) -> tuple[DamagedStore, ...]:
    """Return a picture on disk with its missing pixels, or all pictures of a stack.

    Raises `UserError` if it cannot be read in blocks of this side, or if the mask does not fit.
    """
    if mask_spec.detect:
        raise UserError(
            "Damage cannot be detected in a picture that is restored in blocks",
            "repair parts of it, or detect it there with 'inpaint detect', and give the mask",
        )
    store = open_store(path)
    _check_number(store.shape, store.n_planes, block)
    mask = None
    if mask_spec.mask is not None:
        _check_mask(open_store(mask_spec.mask), store)
        mask = _stored(mask_spec.mask)
    if store.dtype == np.bool_:
        raise UserError(f"{printable_path(path)} holds booleans, which are no picture", "give its pixels")
    picture = _stored(path)
    return tuple(
        DamagedStore(
            picture,
            mask,
            mask_spec.invert_mask,
            mask_spec.key,
            mask_spec.tolerance or 0.0,
            store.metadata(plane).no_data,
            mask_spec.grow if mask is not None else 0,
            mask_spec.grow if mask_spec.key is not None else 0,
            None if store.has_alpha and mask_spec.soft_edges else False,
            plane,
        )
        for plane in range(store.n_planes)
    )


def _stored(path: Path) -> StoredFile:
    return StoredFile(str(path.resolve()), stamp_of(path))


def _check_mask(mask: Store, picture: Store) -> None:
    if mask.shape[:2] != picture.shape[:2]:
        theirs, ours = mask.shape, picture.shape
        raise UserError(
            f"The mask has {theirs[1]} x {theirs[0]} pixels but the picture has {ours[1]} x {ours[0]}",
            "give a mask of the same size",
        )
    if mask.n_planes not in (1, picture.n_planes):
        raise UserError(
            f"The mask has {mask.n_planes} planes but the picture has {picture.n_planes}",
            "give a mask of one plane, or of as many",
        )
    if len(mask.shape) == 3 and mask.shape != picture.shape:
        raise UserError(
            "The channels of the mask are not those of the picture", "give one with a single channel"
        )


def _with_layers(mask: Mask, n_layers: int) -> Mask:
    layered = mask[..., np.newaxis] if mask.ndim == 2 else mask
    return np.broadcast_to(layered, (*mask.shape[:2], n_layers))


def _marks(mask: Mask, rect: Rect, wide: Rect) -> MarkCounts:
    inside = rect.within(wide).slices
    larger = dilate(mask, DEFAULT_GROWTH)
    return MarkCounts(
        int(np.count_nonzero(mask[inside])), int(np.count_nonzero(larger[inside])), mask[inside].size
    )


def check_block(block: int) -> None:
    """Raise `UserError` if blocks cannot have this side."""
    if block < BLOCK_STEP or block % BLOCK_STEP:
        raise UserError(
            f"The side of a block is {block} pixels",
            f"give a multiple of {BLOCK_STEP}, such as {DEFAULT_BLOCK}",
        )


def _check_number(shape: Sequence[int], n_planes: int, block: int) -> None:
    """Raise `UserError` if so many pictures of a shape are more blocks than can be kept track of."""
    n_blocks = n_planes * -(-shape[0] // block) * -(-shape[1] // block)
    if n_blocks > _MAX_BLOCKS:
        raise UserError(
            f"The picture has {n_planes:,} planes of {shape[1]:,} x {shape[0]:,} pixels: {n_blocks:,} blocks",
            "choose larger blocks, or restore a part of it",
        )


def cut_into_blocks(shape: Sequence[int], block: int) -> list[Rect]:
    """Return the blocks of an array (H, W, ...), row by row; the last ones may be smaller."""
    return [
        Rect(row, column, block, block).clipped((shape[0], shape[1]))
        for row in range(0, shape[0], block)
        for column in range(0, shape[1], block)
    ]
