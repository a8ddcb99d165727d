"""Write a picture in the format of its suffix, and check beforehand whether that can be done."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from inpaint_app.errors import Remedy, UserError, printable_path
from inpaint_app.io.atomic import PendingFile, check_target, write_files
from inpaint_app.io.format import Format
from inpaint_app.io.formats.shared.metadata import exif_resolution
from inpaint_app.io.formats.shared.pixels import to_depth
from inpaint_app.io.formats.tiff.reader import tag_names
from inpaint_app.io.paths import same_file
from inpaint_app.io.registry import find_writable, format_names, format_of, writable
from inpaint_app.model.picture import Mask, Metadata, MetadataKind, Picture, format_mode

#: Most formats that a sentence proposes.
_MAX_NAMED = 4


@dataclass(frozen=True)
class PictureProperties:
    """What decides whether a format can store a picture; known before its missing pixels are."""

    width: int
    height: int
    depth: int = 8  #: Bits per channel: 8, 16 or 32 (float).
    is_color: bool = True
    has_alpha: bool = False
    #: Its kind, if it is not gray or RGB of 8 or 16 bits or float32: "12 pages" or "16-bit in 4 bands".
    unusual: str = ""
    has_equal_pages: bool = True  #: Whether all its pages have the same size and kind of numbers.
    is_transparent: bool = False  #: Whether alpha is below full opacity anywhere, on any page.
    is_unit: bool = True  #: Whether all values of a float picture lie between 0 and 1; True for others.
    n_exif: int = 0  #: Bytes of EXIF information.
    n_icc: int = 0  #: Bytes of the color profile.


def properties_of(picture: Picture, *, missing: npt.NDArray[np.bool_] | None = None) -> PictureProperties:
    """Return the properties of a picture, or of what it will be when its missing pixels are restored.

    Those become opaque, and get values within the range of the others.
    """
    if picture.more_pages:
        return _properties_of_pages(picture, is_restored=missing is None)
    if missing is not None:
        picture = picture.with_pixels(picture.pixels, filled=missing)
    alpha, is_unit = picture.alpha, True
    if picture.is_float:
        is_unit = _is_unit(picture.pixels, missing) and (alpha is None or _is_unit(alpha, None))
    return PictureProperties(
        width=picture.width,
        height=picture.height,
        depth=picture.depth,
        is_color=picture.is_color,
        has_alpha=alpha is not None,
        unusual="" if picture.is_plain else _kind(picture),
        is_transparent=alpha is not None and bool((alpha < picture.max_value).any()),
        is_unit=is_unit,
        n_exif=len(picture.metadata.exif or b""),
        n_icc=len(picture.metadata.icc or b""),
    )


def _properties_of_pages(picture: Picture, *, is_restored: bool) -> PictureProperties:
    """Return the properties of a picture with several pages, of which transparent pixels will be restored."""
    first = properties_of(replace(picture, more_pages=()))
    is_transparent = any(
        bool(((page.alpha < page.max_value) & (is_restored | (page.alpha > 0))).any())
        for page in picture.pages
        if page.alpha is not None
    )
    kinds = {(page.pixels.shape, page.pixels.dtype) for page in picture.pages}
    return replace(
        first, unusual=_kind(picture), has_equal_pages=len(kinds) == 1, is_transparent=is_transparent
    )


def _kind(picture: Picture) -> str:
    n_pages = len(picture.more_pages) + 1
    if n_pages > 1:
        return f"{n_pages} pages"
    return format_mode(picture.pixels.dtype, n_bands=picture.n_bands, has_alpha=picture.alpha is not None)


def _is_unit(values: npt.NDArray[np.float32], missing: npt.NDArray[np.bool_] | None) -> bool:
    inside = (values >= 0) & (values <= 1)
    if missing is not None:
        inside |= missing[..., np.newaxis] if missing.ndim < values.ndim else missing
    return bool(inside.all())


def check_storable(
    properties: PictureProperties, target: Format, *, depth: int | None = None, quality: int | None = None
) -> None:
    """Refuse what a format cannot store, with this depth (8 or 16) and quality (1 to 100) if it has one."""
    if quality is not None and not 1 <= quality <= 100:
        raise UserError(f"The quality is {quality}", "give a number from 1 to 100")
    if depth not in (None, 8, 16):
        raise UserError(f"The depth is {depth}", "give 8 or 16")
    if properties.unusual and depth is not None:
        raise UserError(f"{properties.unusual} cannot be reduced to {depth} bits", "leave the depth as it is")
    if properties.unusual and not target.keeps_arrays:
        able = [each for each in writable() if each.keeps_arrays]
        raise UserError(f"{target.name} cannot store {properties.unusual}", _write(able))
    if target.has_equal_pages and not properties.has_equal_pages:
        raise UserError(f"{target.name} cannot store pages that differ in size or kind", "write TIFF")
    if depth is not None and not properties.is_unit:
        raise float_range_error(depth)
    name, bits = target.name, depth or properties.depth
    is_plain_gray = not properties.is_color and not properties.is_transparent
    if not properties.unusual and bits not in target.depths_of(is_plain_gray=is_plain_gray):
        dtype = {8: np.uint8, 16: np.uint16, 32: np.float32}[bits]
        n_bands = 3 if properties.is_color else 1
        mode = format_mode(dtype, n_bands=n_bands, has_alpha=properties.has_alpha)
        able = [each for each in writable() if bits in each.depths]
        raise UserError(
            f"{name} cannot store {mode}", Remedy.REDUCE_DEPTH if properties.is_unit else _write(able)
        )
    if target.max_side is not None and max(properties.width, properties.height) > target.max_side:
        raise UserError(
            f"{name} cannot be wider or taller than {target.max_side} pixels",
            _write([each for each in writable() if each.max_side is None]),
        )
    if properties.is_transparent and not target.has_alpha:
        raise UserError(
            f"{name} cannot store transparent pixels", _write([each for each in writable() if each.has_alpha])
        )
    for what, kind, size, limit in (
        ("EXIF information", MetadataKind.EXIF, properties.n_exif, target.max_exif),
        ("color profile", MetadataKind.ICC, properties.n_icc, target.max_icc),
    ):
        if kind in target.metadata and limit is not None and size > limit:
            others = [each for each in writable() if kind in each.metadata and each is not target]
            raise UserError(f"The {what} is too long for {name}", _write(others))


def float_range_error(depth: int) -> UserError:
    """Return the error for float values that cannot be converted to 8 or 16 bits."""
    return UserError(
        f"The float values do not all lie between 0 and 1, so they do not fit into {depth} bits",
        "scale them first, or write TIFF without changing the depth",
    )


def _write(some: list[Format]) -> str:
    return f"write {format_names(some[:_MAX_NAMED])}"


DEFAULT_QUALITY = 95


@dataclass(frozen=True)
class Output:
    """A picture file to write."""

    path: Path  #: Its suffix decides the format.
    overwrite: bool = False  #: Whether an existing file may be replaced.
    #: 1 to 100, for formats that have one; None for `DEFAULT_QUALITY`, or without loss if the source is so.
    quality: int | None = None
    depth: int | None = None  #: 8 or 16 bits per channel; None keeps the depth.
    keep_metadata: bool = True  #: Whether EXIF, color profile and other metadata are written too.

    def check(self, protect: Iterable[Path]) -> None:
        """Raise `UserError` if nothing can be written there; `protect` names the sources.

        Whether the format can store the picture is for the checks below, once the picture is read.
        """
        format_of(self.path)
        if not self.overwrite and any(same_file(self.path, source) for source in protect):
            raise UserError(f"{printable_path(self.path)} is the source itself", Remedy.REPLACE_FILE)
        check_target(self.path, overwrite=self.overwrite)

    def check_mask(self, protect: Iterable[Path]) -> None:
        """Raise `UserError` if no mask can be written there."""
        self.check(protect)
        if format_of(self.path).is_lossy:
            raise UserError(f"{printable_path(self.path)} would blur the mask", "write PNG or TIFF")

    def check_restored(self, picture: Picture, missing: Mask) -> None:
        """Raise `UserError` if the format cannot store a picture when its missing pixels are restored."""
        properties = properties_of(picture, missing=missing)
        check_storable(properties, format_of(self.path), depth=self.depth, quality=self.quality)

    def check_size(self, width: int, height: int) -> None:
        """Raise `UserError` if the format cannot store a color picture of this size."""
        check_storable(PictureProperties(width, height), format_of(self.path), quality=self.quality)

    def fitted(self, picture: Picture) -> "Output":
        """Return the output with a depth of 8 bits, if the format keeps no more of a picture that has 16."""
        properties, target = properties_of(picture), format_of(self.path)
        is_plain_gray = not properties.is_color and not properties.is_transparent
        is_too_deep = picture.is_plain and picture.depth == 16
        if not is_too_deep or self.depth or 16 in target.depths_of(is_plain_gray=is_plain_gray):
            return self
        return replace(self, depth=8)

    def lost(self, picture: Picture) -> tuple[str, ...]:
        """Return the names of what the file of a picture holds and this file will not."""
        if not self.keep_metadata:
            return ()
        pages = [page.metadata for page in picture.pages]
        return lost_metadata(pages, self.path, is_color=picture.is_color)

    def pending(self, picture: Picture) -> PendingFile:
        """Return what `write` writes, to be written together with other files."""
        target, depth = format_of(self.path), self.depth
        if not self.keep_metadata:
            picture = picture.with_metadata(exif=None, icc=None, dpi=None, tags=(), blocks=())
        check_storable(properties_of(picture), target, depth=depth, quality=self.quality)
        if depth is not None and depth != picture.depth:
            alpha = None if picture.alpha is None else to_depth(picture.alpha, depth)
            picture = replace(picture, pixels=to_depth(picture.pixels, depth), alpha=alpha)
        keeps_all = picture.metadata.is_lossless and target.is_lossless_at_100
        encode, quality = target.encode, self.quality or (100 if keeps_all else DEFAULT_QUALITY)
        assert encode is not None, "it can be written"
        return PendingFile(self.path, lambda file: encode(picture, file, quality))

    def write(self, picture: Picture, protect: Iterable[Path]) -> tuple[str, ...]:
        """Write a picture atomically; returns notes about what could not be kept of a file that was replaced.

        `protect` names the sources, first the picture that it is made from, whose permissions it gets.
        Bit depth and alpha are kept, or the picture is not written; `lost` names what else is lost.
        """
        sources = tuple(protect)
        self.check(sources)
        source = sources[0] if sources else None
        return write_files([self.pending(picture)], overwrite=self.overwrite, source=source)


def write_picture(
    picture: Picture,
    path: str | Path,
    *,
    overwrite: bool = False,
    quality: int | None = None,
    depth: int | None = None,
    protect: Iterable[Path] = (),
) -> tuple[str, ...]:
    """Write a picture as `Output.write` does."""
    return Output(Path(path), overwrite, quality, depth).write(picture, protect)


def lost_metadata(pages: Sequence[Metadata], path: Path, *, is_color: bool) -> tuple[str, ...]:
    """Return the names of what the pages of a picture have and a file of this name will not."""
    target = format_of(path)
    names: list[str] = [kind for kind in _kinds(pages) if kind not in target.metadata]
    exif = pages[0].exif if MetadataKind.EXIF in target.metadata else None
    if exif is not None and exif_resolution(exif) is not None:
        names = [name for name in names if name is not MetadataKind.RESOLUTION]
    packet = pages[0].block(MetadataKind.XMP)
    if packet is not None and target.max_xmp is not None and len(packet) > target.max_xmp:
        names.append(MetadataKind.XMP)
    if MetadataKind.TIFF_TAGS not in target.metadata:
        names += [name for page in pages for name in tag_names(page.tags)]
    if target.max_colors is not None and is_color:
        names.append(f"colors beyond {target.max_colors}")
    lost = [name for page in pages for name in page.lost]
    return tuple(dict.fromkeys((*lost, *map(str, names))))


def metadata_names(pages: Sequence[Metadata]) -> tuple[str, ...]:
    """Return the names of all metadata of a picture."""
    tags = [name for page in pages for name in tag_names(page.tags)]
    return tuple(dict.fromkeys((*map(str, _kinds(pages)), *tags)))


def _kinds(pages: Sequence[Metadata]) -> list[MetadataKind]:
    """Return the kinds of metadata that a picture has, TIFF tags aside."""
    first = pages[0]
    usual = {
        MetadataKind.EXIF: first.exif,
        MetadataKind.ICC: first.icc,
        MetadataKind.RESOLUTION: first.dpi,
    }
    others = [block.kind for page in pages for block in page.blocks]
    return [kind for kind, value in usual.items() if value is not None] + [
        kind for kind in others if kind is not MetadataKind.SRGB
    ]


def default_output(path: str | Path) -> Path:
    """Return where the restored picture of a file goes: `<stem>_restored.<ext>` beside it.

    Files of formats that are read but not written become PNG.
    """
    path = Path(path)
    suffix = writable()[0].suffixes[0] if find_writable(path) is None else path.suffix
    if path.suffix.lower() == ".zarr":
        suffix = ".ome.zarr" if path.name.lower().endswith(".ome.zarr") else ".zarr"
        return path.with_name(f"{path.name.removesuffix(suffix)}_restored{suffix}")
    return path.with_name(f"{path.stem}_restored{suffix}")
