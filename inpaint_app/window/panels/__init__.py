"""The docks around the viewer; may import canvas, widgets, theme, session and below."""
