"""Pictures larger than memory, restored in blocks by one process or by a Dask cluster. Needs an extra."""
