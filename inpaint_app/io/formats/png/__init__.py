"""PNG with 1 to 16 bits per channel."""

import re

from inpaint_app.io.format import USUAL_METADATA, Format
from inpaint_app.io.formats.png.reader import SIGNATURE, decode_png
from inpaint_app.io.formats.png.writer import encode_png
from inpaint_app.model.metadata import MetadataKind

FORMAT = Format(
    name="PNG",
    suffixes=(".png",),
    mime_types=("image/png",),
    signature=re.compile(re.escape(SIGNATURE)),
    decode=decode_png,
    encode=encode_png,
    depths=(8, 16),
    metadata=USUAL_METADATA
    | {MetadataKind.XMP, MetadataKind.PNG_TEXT, MetadataKind.PNG_COLOR, MetadataKind.COMMENT},
)
