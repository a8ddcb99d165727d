"""The panes that show pictures, and what they say."""
