"""XMP packets: XML text about a picture."""

import re

from inpaint_app.model.metadata import MetadataBlock, MetadataKind
from inpaint_app.model.picture import Picture

_ORIENTATION = re.compile(rb"(tiff:Orientation(?:\s*=\s*[\"']|\s*>\s*))[2-8]")


def with_upright_xmp(picture: Picture) -> Picture:
    """Return a picture whose XMP does not ask to turn what has been turned already."""
    blocks = tuple(
        MetadataBlock(block.kind, _ORIENTATION.sub(rb"\g<1>1", block.payload))
        if block.kind is MetadataKind.XMP
        else block
        for block in picture.metadata.blocks
    )
    return picture.with_metadata(blocks=blocks)
