"""What the window offers to do about a picture, above the pictures."""
