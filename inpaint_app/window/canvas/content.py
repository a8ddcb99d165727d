"""What a canvas draws."""

from dataclasses import dataclass

from inpaint_app.model.rect import Rect
from inpaint_app.window.canvas.image_pyramid import ImagePyramid
from inpaint_app.window.canvas.mask_pyramid import MaskPyramid


@dataclass(frozen=True)
class Content:
    """The layers of a picture, each made ready in any thread; several canvases may share them."""

    pyramid: ImagePyramid | None = None  #: The picture; None for none.
    after: ImagePyramid | None = None  #: A second picture of the same size, for canvases with a divider.
    names: tuple[str, str] = ("", "")  #: Of the two pictures.
    #: Pixels to hatch. After its `update`, call `update_pixels` on each canvas.
    mask: MaskPyramid | None = None
    #: A part to highlight by darkening everything else. Missing pixels are not hatched meanwhile: both would
    #: hide what is highlighted.
    highlight: MaskPyramid | None = None
    inset: tuple[ImagePyramid, Rect] | None = None  #: Other pixels within a rectangle, framed.
    placeholder: str = ""  #: Text shown while there is no picture.
