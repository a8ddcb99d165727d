"""The sample that ships with the program."""

from importlib import resources

from inpaint_app.asset_files import asset
from inpaint_app.picture import Picture
from inpaint_app.reading import read_picture

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
