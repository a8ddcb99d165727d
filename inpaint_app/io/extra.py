"""Load the packages of the extra "cluster", which most users do not need."""

import importlib
from typing import Any

from inpaint_app.errors import UserError


def load_extra(module: str) -> Any:  # noqa: ANN401  (whatever the module holds)
    """Return a module of Dask or Zarr; raises `UserError` if the extra is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UserError(
            "Stores of blocks and clusters need Zarr and Dask, which are not installed",
            "install them with pip install 'dictsel[cluster]'",
        ) from error
