"""Limits that keep a hostile or broken file from using up the machine, checked before decoding."""

from inpaint_app.errors import DamagedError, UnsupportedError

#: Most pixels of a picture: the 200-megapixel cameras on the market (16320 x 12240) still fit.
MAX_PIXELS = 200_000_000

#: Most pixels of a side. Files are decoded in bands of rows, so this is what bounds the smallest band.
MAX_SIDE = 1_000_000

#: Largest file that is read: MAX_PIXELS of float32 RGBA, uncompressed, are 3.2e9 bytes.
MAX_FILE_BYTES = 4 * 1024**3

#: Largest ICC profile after decompression; real ones stay below 4 MB.
MAX_PROFILE_BYTES = 16 * 1024**2

#: Largest EXIF block that is kept.
MAX_EXIF_BYTES = 4 * 1024**2

#: Most bytes of other metadata that are kept.
MAX_OTHER_BYTES = 16 * 1024**2


def check_size(width: int, height: int) -> None:
    """Refuse an empty or overlarge picture, from its header alone.

    Raises `DamagedError` if a side is not positive, `UnsupportedError` if there are more than `MAX_PIXELS`
    pixels, or `MAX_SIDE` along a side.
    """
    if width < 1 or height < 1:
        raise DamagedError(f"its header says {width} x {height} pixels")
    if width * height > MAX_PIXELS:
        raise UnsupportedError(
            f"it says it has {width} x {height} pixels and the limit is {MAX_PIXELS // 10**6} million",
            "crop it or scale it down first",
        )
    if max(width, height) > MAX_SIDE:
        raise UnsupportedError(
            f"it says it has {width} x {height} pixels and the limit is {MAX_SIDE:,} along a side",
            "cut it into parts first",
        )


def check_total(n_pixels: int) -> None:
    """Refuse pages that have too many pixels together."""
    if n_pixels > MAX_PIXELS:
        raise UnsupportedError(
            f"its pages have more than {MAX_PIXELS // 10**6} million pixels together", "split it first"
        )
