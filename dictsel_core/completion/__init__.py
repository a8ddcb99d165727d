"""Completion of wide holes by example: texture and structure are copied from elsewhere in the image."""

from dictsel_core.completion.holes import fill_wide_parts, wide_parts

__all__ = ["fill_wide_parts", "wide_parts"]
