"""Completion of wide holes by example: texture and structure are copied from elsewhere in the image.

What finds holes and what fills them is loaded when it is first used: SciPy is slow to import.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
