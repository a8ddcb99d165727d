"""Recipes: the JSON text (`recipe`), and the settings and marks in it (`contents`). Imports `image`."""
