"""Drawing pictures, and the tools that work on them; may import the theme, the session and below."""
