"""The sample that ships with the program."""

from importlib import resources

from inpaint_app.files.assets import asset
from inpaint_app.files.read import read_picture
from inpaint_app.image.picture import Picture

ORIGINAL, DAMAGED = "sample.png", "sample_damaged.png"


def read_sample(name: str) -> Picture:
    """Read one of the bundled pictures.

    Parameters
    ----------
    name : str
        `ORIGINAL` or `DAMAGED`.
    """
    with resources.as_file(asset(name)) as path:
        return read_picture(path)
