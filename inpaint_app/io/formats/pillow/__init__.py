"""Formats that Pillow parses and decodes, in part by its plug-ins."""
