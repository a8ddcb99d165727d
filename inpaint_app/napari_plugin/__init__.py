"""The napari plug-in: fill the missing pixels of an image layer. Only this package imports napari."""
