"""What the window knows and does. No widgets."""
