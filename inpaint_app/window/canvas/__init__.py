"""Drawing pictures and painting masks."""
