"""Write a picture to a file, in the format of its suffix."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from inpaint_app.errors import Remedy, UserError, printable_path
from inpaint_app.files.atomic import PendingFile, check_target, write_files
from inpaint_app.files.format import Format
from inpaint_app.files.formats.shared.exif import exif_resolution
from inpaint_app.files.formats.shared.scaling import to_depth
from inpaint_app.files.formats.tiff.extra_tags import tag_names
from inpaint_app.files.paths import same_file
from inpaint_app.files.registry import find_writable, format_of, writable
from inpaint_app.files.storable import check_storable, properties_of
from inpaint_app.image.metadata import MetadataKind
from inpaint_app.image.picture import Picture


def write_picture(
    picture: Picture,
    path: str | Path,
    *,
    overwrite: bool = False,
    quality: int = 95,
    depth: int | None = None,
    protect: Iterable[str | Path] = (),
) -> tuple[str, ...]:
    """Write a picture atomically, in the format of the `registry` that the suffix asks for.

    Bit depth and alpha are kept, or the picture is not written; `lost_metadata` names what else is lost.

    Parameters
    ----------
    picture : Picture
        What to write.
    path : str or Path
        The file.
    overwrite : bool
        Whether an existing file may be replaced.
    quality : int
        1 to 100, for formats that have one; some are lossless at 100, such as WebP.
    depth : int, optional
        8 or 16: convert to that many bits per channel. Float values must lie between 0 and 1.
    protect : iterable of str or Path
        Source files, which are named as such where the path leads to one of them (by whatever spelling
        or link) and `overwrite` is not given.

    Returns
    -------
    tuple of str
        Sentences about what could not be kept of a file that was replaced.

    Raises
    ------
    UserError
        If it cannot be written as asked; then nothing has changed.
    """
    path = Path(path)
    check_output(path, overwrite=overwrite, protect=protect)
    output = picture_output(picture, path, quality=quality, depth=depth)
    return write_files([output], overwrite=overwrite)


def picture_output(
    picture: Picture, path: Path, *, quality: int = 95, depth: int | None = None
) -> PendingFile:
    """Return what `write_picture` writes, to be written together with other files.

    Raises
    ------
    UserError
        If the format cannot store the picture.
    """
    found = format_of(path)
    check_storable(properties_of(picture), found, depth=depth, quality=quality)
    if depth is not None and depth != picture.depth:
        alpha = None if picture.alpha is None else to_depth(picture.alpha, depth)
        picture = replace(picture, pixels=to_depth(picture.pixels, depth), alpha=alpha)
    encode = found.encode
    assert encode is not None, "it can be written"
    return PendingFile(path, lambda file: encode(picture, file, quality))


def lost_metadata(picture: Picture, path: Path, *, keep_metadata: bool = True) -> tuple[str, ...]:
    """Return the names of what the file of a picture holds and a file of this name will not."""
    if not keep_metadata:
        return ()
    target = format_of(path)
    names: list[str] = [kind for kind in _kinds(picture) if kind not in target.metadata]
    exif = picture.exif if MetadataKind.EXIF in target.metadata else None
    if exif is not None and exif_resolution(exif) is not None:
        names = [name for name in names if name is not MetadataKind.RESOLUTION]
    packet = picture.block(MetadataKind.XMP)
    if packet is not None and target.max_xmp is not None and len(packet) > target.max_xmp:
        names.append(MetadataKind.XMP)
    if MetadataKind.TIFF_TAGS not in target.metadata:
        names += [name for page in picture.pages for name in tag_names(page.tags)]
    if target.max_colors is not None and picture.is_color:
        names.append(f"colors beyond {target.max_colors}")
    return tuple(dict.fromkeys((*picture.lost, *map(str, names))))


def metadata_names(picture: Picture) -> tuple[str, ...]:
    """Return the names of all metadata of a picture."""
    tags = [name for page in picture.pages for name in tag_names(page.tags)]
    return tuple(dict.fromkeys((*map(str, _kinds(picture)), *tags)))


def _kinds(picture: Picture) -> list[MetadataKind]:
    """Return the kinds of metadata that a picture has, TIFF tags aside."""
    usual = {
        MetadataKind.EXIF: picture.exif,
        MetadataKind.ICC: picture.icc,
        MetadataKind.RESOLUTION: picture.dpi,
    }
    others = [block.kind for page in picture.pages for block in page.other_metadata]
    return [kind for kind, value in usual.items() if value is not None] + [
        kind for kind in others if kind is not MetadataKind.SRGB
    ]


def check_output(path: str | Path, *, overwrite: bool = False, protect: Iterable[str | Path] = ()) -> Format:
    """Refuse a name that `write_picture` would refuse, before anything is read; returns the format.

    Whether the format can keep the picture is for `check_storable`, once the picture is read.
    """
    path = Path(path)
    found = format_of(path)
    if not overwrite and any(same_file(path, Path(source)) for source in protect):
        raise UserError(f"{printable_path(path)} is the source itself", Remedy.REPLACE_FILE)
    check_target(path, overwrite=overwrite)
    return found


def default_output(path: str | Path) -> Path:
    """Return where the restored picture of a file goes: `<stem>_restored.<ext>` beside it.

    Files of formats that are read but not written become PNG.
    """
    path = Path(path)
    suffix = writable()[0].suffixes[0] if find_writable(path) is None else path.suffix
    return path.with_name(f"{path.stem}_restored{suffix}")
