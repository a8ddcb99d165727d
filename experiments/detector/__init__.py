"""The network that finds cracks, scratches, dust and hairs: its data, its training, its export."""
