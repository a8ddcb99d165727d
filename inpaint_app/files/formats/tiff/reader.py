"""Read TIFF and BigTIFF: gray, RGB, palette and CMYK, any common sample type."""

import numpy as np

from inpaint_app.files.formats.shared import tags
from inpaint_app.files.formats.shared.bands import row_bands
from inpaint_app.files.formats.shared.exif import exif_of_tiff
from inpaint_app.files.formats.shared.ifd import Directory, read_directory, read_header
from inpaint_app.files.formats.tiff.layout import CMYK, read_layout
from inpaint_app.files.formats.tiff.samples import read_channels, read_samples
from inpaint_app.files.limits import MAX_PROFILE_BYTES
from inpaint_app.image.picture import Array, Picture, full_scale


def decode_tiff(data: bytes) -> Picture:
    """Return the first page of a TIFF file.

    Integers of 8 and 16 bits and float32 stay as they are. Odd depths are stretched to 8 or 16 bits; signed
    and longer integers become float32 if that holds them exactly; float16 and float64 become float32.
    Min-is-white is inverted, palettes and CMYK become RGB. The value that GDAL notes as "no data" becomes
    NaN in float pictures and transparent in others.
    """
    header = read_header(data)
    directory = read_directory(data, header, header.first)
    layout = read_layout(directory)
    channels = read_channels(layout)
    icc = directory.raw(tags.ICC)[:MAX_PROFILE_BYTES] or None
    pixels, alpha, converted = read_samples(directory, layout, channels, icc)
    notices = [*converted, *channels.notices]
    alpha = _mark_no_data(pixels, alpha, directory.text(tags.NO_DATA), notices)
    if directory.next_offset:
        notices.append("The file has more than one page: the first was used.")
    return Picture(
        pixels,
        alpha,
        exif=exif_of_tiff(header, directory),
        icc=None if layout.photometric == CMYK else icc,
        dpi=_resolution(directory),
        source_format="TIFF",
        notices=tuple(notices),
    )


def _mark_no_data(pixels: Array, alpha: Array | None, text: str, notices: list[str]) -> Array | None:
    """Mark pixels that have the file's "no data" value as missing: float ones by NaN, others by alpha.

    Returns
    -------
    ndarray or None
        The alpha channel; one that the file has stays as it is.
    """
    try:
        value = float(text)
    except ValueError:
        return alpha
    is_float = pixels.dtype.kind == "f"
    with np.errstate(over="ignore"):  # the lowest float64 is a common value
        narrow = np.float32(value)
    if alpha is not None and not is_float:
        return alpha
    opacity = None if is_float else np.full(pixels.shape[:2], pixels.dtype.type(full_scale(pixels.dtype)))
    found = False
    for rows in row_bands(pixels.shape[0], pixels[:1].nbytes):
        band = pixels[rows]
        if opacity is None:
            marked = band == narrow
            band[marked] = np.nan
        else:
            marked = (band == value).all(axis=2) if band.ndim == 3 else band == value
            opacity[rows][marked] = 0
        found |= bool(marked.any())
    if found:
        notices.append(f'Pixels with the file\'s "no data" value {text} count as missing.')
    return opacity if found and opacity is not None else alpha


def _resolution(directory: Directory) -> tuple[float, float] | None:
    factor = {2: 1.0, 3: 2.54}.get(directory.integer(tags.RESOLUTION_UNIT, 2))
    across, down = directory.rational(tags.X_RESOLUTION), directory.rational(tags.Y_RESOLUTION)
    return None if factor is None or not across or not down else (across * factor, down * factor)
