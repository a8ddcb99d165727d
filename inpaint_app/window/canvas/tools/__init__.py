"""What the left button does on a picture, one file per tool; may import the session and below."""
