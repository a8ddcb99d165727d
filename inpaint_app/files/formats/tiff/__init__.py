"""TIFF."""
