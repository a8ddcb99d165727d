"""Write a picture to a file in the format of its suffix, and check beforehand whether that can be done."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from inpaint_app.errors import Remedy, UserError, printable_path
from inpaint_app.io.atomic import PendingFile, check_target, write_files
from inpaint_app.io.formats.shared.exif import exif_resolution
from inpaint_app.io.formats.shared.scaling import to_depth
from inpaint_app.io.formats.tiff.metadata import tag_names
from inpaint_app.io.paths import same_file
from inpaint_app.io.registry import find_writable, format_of, writable
from inpaint_app.io.storable import PictureProperties, check_storable, properties_of
from inpaint_app.model.metadata import Metadata, MetadataKind
from inpaint_app.model.missing import Mask
from inpaint_app.model.picture import Picture

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
    return path.with_name(f"{path.stem}_restored{suffix}")
