"""Colours, icons and style."""
