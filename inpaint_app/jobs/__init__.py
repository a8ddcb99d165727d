"""The use cases, with neither Qt nor argparse. Imports `figures`, `files` and `image`."""
