"""TIFF and BigTIFF: any number of pages and bands, integers and floats."""

import re

from inpaint_app.io.format import USUAL_METADATA, Format
from inpaint_app.io.formats.tiff.reader import decode_tiff
from inpaint_app.io.formats.tiff.writer import encode_tiff
from inpaint_app.model.picture import MetadataKind

FORMAT = Format(
    name="TIFF",
    suffixes=(".tif", ".tiff"),
    mime_types=("image/tiff",),
    signature=re.compile(rb"II[*+]\0|MM\0[*+]", re.DOTALL),
    decode=decode_tiff,
    encode=encode_tiff,
    depths=(8, 16, 32),
    keeps_arrays=True,
    metadata=USUAL_METADATA
    | {MetadataKind.TIFF_TAGS, MetadataKind.XMP, MetadataKind.IPTC, MetadataKind.PHOTOSHOP},
)
