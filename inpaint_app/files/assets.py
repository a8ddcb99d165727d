"""The files that ship with the program."""

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from inpaint_app.errors import UserError


def asset(*parts: str) -> Traversable:
    """Return a file of the folder `assets`, from the installed package or from the checkout.

    Parameters
    ----------
    *parts : str
        Folders and name.

    Raises
    ------
    UserError
        If it is not there.
    """
    places: tuple[Traversable, ...] = (resources.files("inpaint_app"), Path(__file__).parents[2])
    for place in places:
        found = place.joinpath("assets", *parts)
        if found.is_file():
            return found
    raise UserError(f"{parts[-1]} is missing from this installation", "install the program anew")
