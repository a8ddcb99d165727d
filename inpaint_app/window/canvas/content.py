"""What a canvas draws."""

from dataclasses import dataclass

from inpaint_app.image.rect import Rect
from inpaint_app.window.canvas.image_pyramid import ImagePyramid
from inpaint_app.window.canvas.mask_pyramid import MaskPyramid


@dataclass(frozen=True)
class Content:
    """The layers of a picture, each made ready in any thread; several canvases may share them.

    Attributes
    ----------
    pyramid : ImagePyramid or None
        The picture; None for none.
    after : ImagePyramid or None
        A second picture of the same size, for canvases with a divider.
    names : (str, str)
        Of the two pictures.
    mask : MaskPyramid or None
        Pixels to hatch. After its `update`, call `update_pixels` on each canvas.
    highlight : MaskPyramid or None
        A part to highlight by darkening everything else. Missing pixels are not hatched meanwhile: both
        would hide what is highlighted.
    inset : (ImagePyramid, Rect) or None
        Other pixels within a rectangle, framed.
    placeholder : str
        Text shown while there is no picture.
    """

    pyramid: ImagePyramid | None = None
    after: ImagePyramid | None = None
    names: tuple[str, str] = ("", "")
    mask: MaskPyramid | None = None
    highlight: MaskPyramid | None = None
    inset: tuple[ImagePyramid, Rect] | None = None
    placeholder: str = ""
