"""Formats that hold an array rather than a picture."""
