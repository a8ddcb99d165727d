"""The sample that ships with the program."""

from importlib import resources
from pathlib import Path

from inpaint_app.errors import UserError
from inpaint_app.picture import Picture
from inpaint_app.reading import read_picture

ORIGINAL, DAMAGED = "sample.png", "sample_damaged.png"


def read_sample(name: str) -> Picture:
    """Read one of the bundled pictures, from the installed package or from the checkout.

    Parameters
    ----------
    name : str
        `ORIGINAL` or `DAMAGED`.
    """
    installed = resources.files("inpaint_app") / "assets" / name
    if installed.is_file():
        with resources.as_file(installed) as path:
            return read_picture(path)
    checkout = Path(__file__).parents[1] / "assets" / name
    if checkout.is_file():
        return read_picture(checkout)
    raise UserError("The sample pictures are missing from this installation; install the program anew.")
