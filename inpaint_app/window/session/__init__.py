"""The state of the window and the work it starts; imports the use cases and below, and no widgets."""
