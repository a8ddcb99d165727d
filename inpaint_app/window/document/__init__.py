"""The state of the window, as values that never change, and the object that changes it."""
