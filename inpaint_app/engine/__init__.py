"""The use cases, with neither Qt nor argparse. Imports `figures`, `io` and `model`."""
