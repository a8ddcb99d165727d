"""The file formats of the program: everything that names formats asks here."""

from pathlib import Path

from inpaint_app.errors import UserError, join_names, printable_path
from inpaint_app.io import formats
from inpaint_app.io.format import Format

#: All formats, in the order in which they are offered.
FORMATS: list[Format] = list(formats.FORMATS)


def writable() -> list[Format]:
    """Return the formats that can be written with what is installed."""
    return [each for each in FORMATS if each.encode is not None and each.is_available]


def lossless() -> list[Format]:
    """Return the formats that can be written and change no pixel."""
    return [each for each in writable() if not each.is_lossy]


def lossy() -> list[Format]:
    """Return the formats that have a quality, whether or not what they need is installed."""
    return [each for each in FORMATS if each.encode is not None and each.is_lossy]


def suffixes(some: list[Format] | None = None) -> list[str]:
    """Return the suffixes of some formats; of all that can be read if none are given."""
    return [suffix for each in (FORMATS if some is None else some) for suffix in each.suffixes]


def format_names(some: list[Format] | None = None, conjunction: str = "or") -> str:
    """Return the names of some formats, or of all, as part of a sentence: "PNG, TIFF or WebP"."""
    return join_names([each.name for each in (FORMATS if some is None else some)], conjunction)


def recognize(start: bytes) -> Format | None:
    """Return the format of a file by its first bytes; None if it is not supported."""
    return next((each for each in FORMATS if each.signature.match(start)), None)


def find_writable(path: Path) -> Format | None:
    """Return the format in which a file of this name is written; None if there is none."""
    suffix = path.suffix.lower()
    return next((each for each in writable() if suffix in each.suffixes), None)


def suffix_of(name: str) -> str:
    """Return the suffix that files of a format get; that of the first format where it cannot be written."""
    return next((each for each in writable() if each.name == name), writable()[0]).suffixes[0]


def format_of(path: Path) -> Format:
    """Return the format in which a file of this name is written; raises `UserError` if there is none."""
    found, name = find_writable(path), printable_path(path)
    if found is not None:
        return found
    named = next((each for each in FORMATS if path.suffix.lower() in each.suffixes), None)
    if named is not None and named.plug_in is not None:
        raise UserError(f"{name} cannot be written without {named.plug_in.package}", named.plug_in.remedy)
    usual = join_names([each.suffixes[0] for each in writable()], "or")
    raise UserError(f"{name} has no suffix of a format that can be written", f"use {usual}")
