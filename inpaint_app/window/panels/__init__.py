"""The docks around the viewer."""
