"""Restore damaged pictures: the command line, image files and the window around ``dictsel_core``."""
