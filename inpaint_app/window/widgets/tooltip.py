"""Words that appear under the pointer."""

from __future__ import annotations

import textwrap

_WIDTH = 60


def tooltip(text: str) -> str:
    """Return a sentence in lines that are easily read; Qt would draw it as one, however long."""
    return textwrap.fill(text, _WIDTH)
