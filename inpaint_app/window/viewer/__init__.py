"""The panes that show pictures, and what they say; may import canvas, widgets, theme, session and below."""
