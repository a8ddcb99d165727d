"""Restoration of images in blocks: what is done, and what each block needs for it."""
