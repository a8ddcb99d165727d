"""A white sheet with margins, letters and pictures on it."""

from PIL import Image, ImageDraw, ImageFont

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

PAPER, INK, SOFT_INK, RULE = (255, 255, 255), (28, 28, 30), (105, 105, 110), (205, 205, 210)


def font(size: float) -> Font:
    """Return Pillow's own typeface, which is on every machine."""
    return ImageFont.load_default(size)


def fitting_font(texts: list[str], width: float, size: float) -> Font:
    """Return the largest typeface of 9 to `size` in which every text fits a width."""
    while size > 9 and max(font(size).getlength(text) for text in texts) > width:
        size -= 0.5
    return font(size)


def blank_sheet(width: int, height: int) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """Return an empty sheet and what draws on it."""
    image = Image.new("RGB", (width, height), PAPER)
    return image, ImageDraw.Draw(image)
