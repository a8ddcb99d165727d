"""The files that ship with the program."""

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from inpaint_app.errors import UserError
from inpaint_app.io.read import read_picture
from inpaint_app.model.picture import Picture

#: The sample pictures.
ORIGINAL, DAMAGED = "sample.png", "sample_damaged.png"


def asset(*parts: str) -> Traversable:
    """Return a file of the folder `assets`, given by folders and name; installed or from the checkout."""
    places: tuple[Traversable, ...] = (resources.files("inpaint_app"), Path(__file__).parents[2])
    for place in places:
        found = place.joinpath("assets", *parts)
        if found.is_file():
            return found
    raise UserError(f"{parts[-1]} is missing from this installation", "install the program again")


def read_sample(name: str) -> Picture:
    """Read a sample picture: `ORIGINAL` or `DAMAGED`."""
    with resources.as_file(asset(name)) as path:
        return read_picture(path)
