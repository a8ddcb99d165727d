"""One module per command of `inpaint`, each with its `COMMAND`. Imports `cli` and everything below it."""
