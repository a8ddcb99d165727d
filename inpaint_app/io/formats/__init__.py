"""One module per image format: bytes to `Picture` and back.

`pillow` has the formats that Pillow parses, `arrays` those of arrays; large ones have a folder of their own.

Containers (chunks, markers, directories) are parsed strictly and with bounds; pixels are unpacked by the
codecs of Pillow and imagecodecs, TIFF by tifffile with these. Parsing the containers ourselves is what lets
the size limit act before any allocation, truncated files be refused rather than filled up, and EXIF be kept
byte for byte.
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
