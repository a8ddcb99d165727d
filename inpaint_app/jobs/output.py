"""A picture file to write, checked before any work is done for it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from inpaint_app.errors import UserError, printable_path
from inpaint_app.files.atomic import PendingFile, write_files
from inpaint_app.files.registry import format_of
from inpaint_app.files.storable import PictureProperties, check_storable, properties_of
from inpaint_app.files.write import check_output, lost_metadata, picture_output
from inpaint_app.image.missing import Mask
from inpaint_app.image.picture import Picture


@dataclass(frozen=True)
class Output:
    """A picture file to write.

    Attributes
    ----------
    path : Path
        Its suffix decides the format.
    overwrite : bool
        Whether an existing file may be replaced.
    quality : int
        1 to 100, for formats that have one.
    depth : int or None
        8 or 16 bits per channel; None keeps the depth.
    keep_metadata : bool
        Whether EXIF, color profile and other metadata are written too.
    """

    path: Path
    overwrite: bool = False
    quality: int = 95
    depth: int | None = None
    keep_metadata: bool = True

    def check(self, protect: Iterable[Path]) -> None:
        """Raise `UserError` if nothing can be written there; `protect` names the sources."""
        check_output(self.path, overwrite=self.overwrite, protect=protect)

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

    def lost(self, picture: Picture) -> tuple[str, ...]:
        """Return the names of what the file of a picture holds and this file will not."""
        return lost_metadata(picture, self.path, keep_metadata=self.keep_metadata)

    def pending(self, picture: Picture) -> PendingFile:
        """Return what `write` writes, to be written together with other files."""
        if not self.keep_metadata:
            picture = replace(picture, exif=None, icc=None, dpi=None, tags=(), other_metadata=())
        return picture_output(picture, self.path, quality=self.quality, depth=self.depth)

    def write(self, picture: Picture, protect: Iterable[Path]) -> tuple[str, ...]:
        """Write a picture; returns notes about what could not be kept of a file that was replaced."""
        self.check(protect)
        return write_files([self.pending(picture)], overwrite=self.overwrite)
