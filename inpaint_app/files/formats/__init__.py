"""One module per image format: bytes to `Picture` and back.

Containers (chunks, markers, directories) are parsed here, strictly and with bounds; compressed pixel data
is handed to the C codecs inside Pillow: "zip", "jpeg", "libtiff", WebP.

Why not imagecodecs, which reads 16-bit PNG and every TIFF: its wheel is 26 MB (Pillow 7 MB, needed anyway)
and brings some fifty native decoders for formats that are not accepted here. Pillow's codecs unpack the
same bytes; they only lack 16-bit RGB *pictures*, so high and low bytes are fetched apart (PNG), or all
samples are fetched as plain bytes (TIFF). Why not tifffile alone: without imagecodecs it has no LZW, JPEG
or fax, and it unpacks deflate without a bound.

Seconds of one core to read 24 megapixels of 16-bit RGB, ours / imagecodecs: PNG 3.2 / 1.3; TIFF with
deflate 1.2 / 0.8, LZW 1.8 / 1.7, PackBits 0.5 / 0.3, uncompressed 0.3 / 0.03. Restoring them takes minutes.

Parsing the containers ourselves is also what lets the size limit act before any allocation, truncated files
be refused rather than filled up, and EXIF be kept byte for byte without Pillow's warnings. Pixels are decoded
a band of rows at a time into the arrays that the picture keeps (`bands`): of a file of 1.5 MB that holds 200
megapixels of 16-bit RGBA, 1.6 GB once unpacked, reading took 6.1 GB and now takes 1.6, and PNG a quarter
less time than above.
"""

from inpaint_app.files.formats import bmp, jpeg, png, pnm, tiff, webp

# Only these formats: every further decoder is one more way in for a hostile file.
FORMATS = (png.FORMAT, tiff.FORMAT, jpeg.FORMAT, webp.FORMAT, bmp.FORMAT, pnm.FORMAT)
"""All formats, in the order in which they are offered; a new one is added here."""
