"""Whether pictures are of a kind that a use case can work on."""

from dataclasses import replace
from pathlib import Path

from inpaint_app.errors import Remedy, UserError, printable_path
from inpaint_app.io.paths import is_folder
from inpaint_app.io.read import read_picture
from inpaint_app.model.picture import Picture


def check_input(path: Path) -> None:
    """Raise `UserError` if a folder is given where a picture is wanted."""
    if is_folder(path):
        raise UserError(f"{printable_path(path)} is a folder", Remedy.RESTORE_FOLDER)


def read_single_page(path: Path) -> Picture:
    """Read a picture that must have one page."""
    picture = read_picture(path)
    check_single_page(len(picture.pages), printable_path(path))
    return picture


def check_single_page(n_pages: int, name: str) -> None:
    """Raise `UserError` if a picture has several pages where one is wanted."""
    if n_pages > 1:
        raise UserError(f"{name} has {n_pages} pages", Remedy.RESTORE_ARRAY)


def check_drawable(picture: Picture, name: str) -> None:
    """Raise `UserError` if a picture is neither gray nor RGB."""
    if picture.n_bands not in (1, 3):
        raise UserError(f"{name} has {picture.n_bands} bands", Remedy.RESTORE_ARRAY)


def check_comparable(one: Picture, other: Picture, its_name: str, other_name: str) -> None:
    """Raise `UserError` if two pictures cannot be compared value by value."""
    if (one.width, one.height) != (other.width, other.height):
        raise UserError(
            f"{its_name} has {one.width} x {one.height} pixels but {other_name} has "
            f"{other.width} x {other.height}",
            "give pictures of the same size",
        )
    one_mode, other_mode = replace(one, alpha=None).mode, replace(other, alpha=None).mode
    if one_mode != other_mode:
        raise UserError(
            f"{its_name} is {one_mode} but {other_name} is {other_mode}", "give pictures of the same kind"
        )
