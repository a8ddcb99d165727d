"""Text of tooltips."""

import textwrap

_WIDTH = 60


def tooltip(text: str) -> str:
    """Return a text wrapped into short lines; Qt would draw it as one."""
    return textwrap.fill(text, _WIDTH)
