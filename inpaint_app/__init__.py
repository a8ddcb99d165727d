"""The application: image files, command line and window."""
