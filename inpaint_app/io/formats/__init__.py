"""One module per image format: bytes to `Picture` and back.

`pillow` has the formats that Pillow parses, `arrays` those of arrays; large ones have a folder of their own.

Containers (chunks, markers, directories) are parsed strictly and with bounds; pixels are unpacked by the
codecs of Pillow and imagecodecs, TIFF by tifffile with these. Parsing the containers ourselves is what lets
the size limit act before any allocation, truncated files be refused rather than filled up, and EXIF be kept
byte for byte.
"""

from inpaint_app.io.formats import jpeg, png, pnm, tiff
from inpaint_app.io.formats.arrays import fits, npy, npz
from inpaint_app.io.formats.pillow import jpeg2000, jpeg_xl, webp
from inpaint_app.io.formats.pillow.heif import AVIF, HEIC
from inpaint_app.io.formats.pillow.older import BMP, GIF, TGA

# Only these formats: every further decoder is one more way in for a hostile file.
#: All formats, in the order in which they are offered and recognized; a new one is added here, before TGA.
FORMATS = (
    *(png.FORMAT, tiff.FORMAT, jpeg.FORMAT, webp.FORMAT, AVIF, HEIC, jpeg_xl.FORMAT, jpeg2000.FORMAT),
    *(GIF, BMP, pnm.FORMAT, fits.FORMAT, npy.FORMAT, npz.FORMAT, TGA),
)
