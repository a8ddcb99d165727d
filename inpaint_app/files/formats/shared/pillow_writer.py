"""Write a picture by Pillow."""

import io
from typing import Any, BinaryIO

from PIL import Image

from inpaint_app.image.picture import Picture


def save_by_pillow(
    image: Image.Image, name: str, picture: Picture, file: BinaryIO, options: dict[str, Any]
) -> None:
    """Encode in memory, so that a full disk is seen by our own write."""
    packed = io.BytesIO()
    image.save(packed, name, icc_profile=picture.icc, **options)
    with packed.getbuffer() as contents:  # released also where writing fails
        file.write(contents)
