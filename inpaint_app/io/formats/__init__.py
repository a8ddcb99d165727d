"""One module per image format: bytes to `Picture` and back.

`pillow` has the formats that Pillow parses, `arrays` those of arrays; large ones have a folder of their own.

Containers (chunks, markers, directories) are parsed strictly and with bounds; compressed pixel data are
handed to the codecs inside Pillow, of TIFF to those of Python. TIFF is parsed and written by tifffile. What
it lacks without imagecodecs (LZW, predictors of floats, odd depths) and what it does without a bound
(deflate) is in `tiff/unpack.py`, `tiff/lzw.py` and `tiff/segments.py`; imagecodecs, a wheel of 26 MB, is an
extra for rare compressions.

Parsing the containers ourselves is what lets the size limit act before any allocation, truncated files be
refused rather than filled up, and EXIF be kept byte for byte without Pillow's warnings. Pixels are decoded
a band of rows at a time into the arrays that the picture keeps (`bands`): of a file of 1.5 MB that holds
200 megapixels of 16-bit RGBA, 1.6 GB once unpacked, reading took 6.1 GB and now takes 1.6.
"""

from inpaint_app.io.formats import jpeg, png, pnm, tiff
from inpaint_app.io.formats.arrays import fits, npy, npz
from inpaint_app.io.formats.pillow import avif, bmp, gif, heic, jpeg2000, jpeg_xl, tga, webp

# Only these formats: every further decoder is one more way in for a hostile file.
#: All formats, in the order in which they are offered and recognized; a new one is added here, before TGA.
FORMATS = tuple(
    module.FORMAT
    for module in (
        png,
        tiff,
        jpeg,
        webp,
        avif,
        heic,
        jpeg_xl,
        jpeg2000,
        gif,
        bmp,
        pnm,
        fits,
        npy,
        npz,
        tga,
    )
)
