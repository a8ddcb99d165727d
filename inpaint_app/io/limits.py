"""Limits that keep a hostile or broken file from using up the machine, checked before decoding."""

from inpaint_app.errors import DamagedError, TooLargeError, UnsupportedError

#: Most pixels of a picture: the 200-megapixel cameras on the market (16320 x 12240) still fit.
MAX_PIXELS = 200_000_000

#: Most pixels of a side. Files are decoded in bands of rows, so this is what bounds the smallest band.
MAX_SIDE = 1_000_000

#: Pixels of a file of any length whose coding could hold a picture of one color in a few bytes.
_MAX_PIXELS_OF_ANY_FILE = 16_000_000

#: Most pixels per byte of a larger one. 24 million pixels with a single thin stroke take 8,100 at most
#: (lossless WebP; JPEG XL 4,100, AVIF 2,400, HEIC 1,200, JPEG 2000 550), photographs a few hundred.
_MAX_PIXELS_PER_BYTE = 10_000

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

    Raises `DamagedError` if a side is not positive, `TooLargeError` if there are more than `MAX_PIXELS`
    pixels, or `MAX_SIDE` along a side.
    """
    if width < 1 or height < 1:
        raise DamagedError(f"its header says {width} x {height} pixels")
    if width * height > MAX_PIXELS:
        raise TooLargeError(
            f"it says it has {width} x {height} pixels and the limit is {MAX_PIXELS // 10**6} million",
            "crop it or scale it down first",
        )
    if max(width, height) > MAX_SIDE:
        raise TooLargeError(
            f"it says it has {width} x {height} pixels and the limit is {MAX_SIDE:,} along a side",
            "cut it into parts first",
        )


def check_packed_size(width: int, height: int, n_bytes: int) -> None:
    """Refuse an empty or overlarge picture, and a large one in a file that is shorter than any photograph.

    For codings with no least length, as JPEG and Deflate have one: there a file of 250 bytes may say that it
    has 14,000 x 14,000 pixels, and decoders take gigabytes before they see that nothing follows.
    """
    check_size(width, height)
    if width * height > max(_MAX_PIXELS_OF_ANY_FILE, _MAX_PIXELS_PER_BYTE * n_bytes):
        raise UnsupportedError(
            f"it says it has {width} x {height} pixels, too many for a photograph of {n_bytes:,} bytes",
            "get a fresh copy, or convert it to PNG if all of it has one color",
        )


def check_total(n_pixels: int) -> None:
    """Refuse pages that have too many pixels together."""
    if n_pixels > MAX_PIXELS:
        raise TooLargeError(
            f"its pages have more than {MAX_PIXELS // 10**6} million pixels together", "split it first"
        )
