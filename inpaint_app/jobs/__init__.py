"""The use cases, with neither Qt nor argparse. Imports `files`, `figures` and `image`."""
