"""Read TIFF and BigTIFF by tifffile: all pages, any number of bands, any common sample type."""

import io
import logging
import re
from collections.abc import Iterator
from dataclasses import replace

import tifffile

from inpaint_app.errors import DamagedError, UnsupportedError
from inpaint_app.io.formats.shared import tags
from inpaint_app.io.formats.shared.ifd import read_directory, read_header
from inpaint_app.io.formats.tiff.metadata import read_metadata
from inpaint_app.io.formats.tiff.page import CMYK, check_page, read_pixels
from inpaint_app.io.limits import check_size, check_total
from inpaint_app.model.metadata import Metadata
from inpaint_app.model.picture import Picture

# It prints warnings about damaged files where nobody has set up logging; the user gets one sentence instead.
logging.getLogger("tifffile").addHandler(logging.NullHandler())

_MAX_PAGES = 10_000
_REDUCED, _MASK = 1, 4
_STRUCTURAL = frozenset(
    {tags.WIDTH, tags.HEIGHT, tags.BITS, tags.COMPRESSION, tags.PHOTOMETRIC, tags.FILL_ORDER, tags.SAMPLES}
    | {tags.STRIP_OFFSETS, tags.STRIP_ROWS, tags.STRIP_COUNTS, tags.PLANAR, tags.PREDICTOR, tags.COLOR_MAP}
    | {tags.TILE_WIDTH, tags.TILE_HEIGHT, tags.TILE_OFFSETS, tags.TILE_COUNTS}
    | {tags.EXTRA_SAMPLES, tags.SAMPLE_FORMAT, tags.JPEG_TABLES}
)


def decode_tiff(data: bytes) -> Picture:
    """Return the pages of a TIFF file.

    Integers of 8 to 32 bits and floats stay as they are. Odd depths are stretched to 8 or 16 bits; longer
    integers become float64 if that holds them exactly, float16 becomes float32. Min-is-white is inverted,
    palettes and CMYK become RGB. Reduced copies of the picture and masks are left out.
    """
    header = read_header(data)
    first = read_directory(data, header, header.first)
    try:
        file = tifffile.TiffFile(io.BytesIO(data))
    except tifffile.TiffFileError as error:
        raise DamagedError("its directory cannot be read") from error
    pages: list[Picture] = []
    copies, n_pixels, following = [], 0, 0
    with file:
        for number, page in enumerate(distinct_pages(file)):
            if number >= _MAX_PAGES:
                raise UnsupportedError(f"it has more than {_MAX_PAGES:,} pages", "split it first")
            directory = read_directory(data, header, page.offset)
            if directory.lost & _STRUCTURAL:
                raise DamagedError("it ends too early")
            following = directory.next_offset
            kind = int(page.subfiletype or 0) if number else 0
            if kind & (_REDUCED | _MASK):
                copies.append(
                    "reduced copies of the picture" if kind & _REDUCED else "a mask inside the file"
                )
                continue
            check_size(page.imagewidth, page.imagelength)
            n_pixels += page.imagewidth * page.imagelength
            check_total(n_pixels)
            metadata = read_metadata(header, directory, is_first=not pages)
            read = _read_page(data, page, metadata, directory.text(tags.NO_DATA))
            # That of the first page stands in the EXIF block, too.
            pages.append(read.oriented(directory.integer(tags.ORIENTATION, 1)) if pages else read)
    if following or not pages:
        raise DamagedError("some of its pages are missing")
    refuse_hidden_pages(first.text(tags.DESCRIPTION), len(pages))
    lost = dict.fromkeys((*pages[0].metadata.lost, *copies))
    return replace(pages[0].with_metadata(lost=tuple(lost)), more_pages=tuple(pages[1:]))


def distinct_pages(file: tifffile.TiffFile) -> Iterator[tifffile.TiffPage]:
    """Yield the pages of a file; raises `DamagedError` if one follows itself, directly or in a circle."""
    offsets = set()
    for page in file.pages:
        assert isinstance(page, tifffile.TiffPage), "frames are not asked for"
        if page.offset in offsets:
            raise DamagedError("its pages follow each other in a circle")
        offsets.add(page.offset)
        yield page


def _read_page(data: bytes, page: tifffile.TiffPage, metadata: Metadata, no_data: str) -> Picture:
    """Return a page; `no_data` is how the file writes its value for that."""
    stored = check_page(page, len(data))
    pixels, alpha, converted = read_pixels(data, stored, metadata.icc)
    notices = [*converted, *stored.channels.notices]
    if page.photometric == CMYK:
        metadata = replace(metadata, icc=None)
    if not stored.keeps_values and no_data:
        kept = tuple(tag for tag in metadata.tags if tag.number != tags.NO_DATA)
        metadata = replace(metadata, tags=kept, no_data=None)
        notices.append(f'The file\'s "no data" value {no_data} was left out, for its values were converted.')
    if metadata.no_data is not None:
        notices.append(f'Pixels with the file\'s "no data" value {no_data} count as missing.')
    return Picture(pixels, alpha, metadata, tuple(notices))


def refuse_hidden_pages(description: str, n_pages: int) -> None:
    """Refuse an ImageJ stack that has one directory for all its images."""
    found = re.match(r"ImageJ=.*^images=(\d{1,9})$", description, re.DOTALL | re.MULTILINE)
    if found is not None and int(found[1]) > n_pages:
        raise UnsupportedError(
            f"it is an ImageJ stack of {found[1]} images with directories for {n_pages} only",
            "save it again as an ordinary TIFF",
        )
