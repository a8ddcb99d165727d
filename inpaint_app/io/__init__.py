"""Files in and out: formats, atomic writing, recipes. Imports `model`."""
