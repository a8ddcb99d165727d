"""Colors, icons and style of the window; imports nothing else of it."""
