"""Pictures of any size on disk: Zarr and OME-Zarr, TIFF, NumPy files."""
