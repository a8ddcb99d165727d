"""Arrays in the containers of other packages: what comes in as xarray goes out as xarray."""

import sys
from typing import Any

from numpy.typing import ArrayLike, NDArray

#: Packages whose arrays may be larger than memory.
_CHUNKED = ("dask", "zarr")


def is_data_array(value: object) -> bool:
    """Return whether a value is an xarray.DataArray; xarray is not imported for that."""
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(value, getattr(xarray, "DataArray", ()))


def axis_names(value: Any) -> tuple[str, ...]:  # noqa: ANN401  (whatever is given as an image)
    """Return the names of the axes of an xarray.DataArray; none for anything else."""
    return tuple(map(str, value.dims)) if is_data_array(value) else ()


def is_lazy(value: Any) -> bool:  # noqa: ANN401
    """Return whether a value is an array of Dask, which is computed when it is needed."""
    return type(value).__module__.partition(".")[0] == "dask"


def check_in_memory(value: Any, name: str) -> None:  # noqa: ANN401
    """Refuse arrays of Dask and Zarr, which may be larger than memory."""
    if is_data_array(value):
        if value.chunks is not None:
            raise TypeError(
                f"{name} holds Dask chunks; pass {name}.compute(), or {name}.data to restore it tile by tile "
                "(docs/arrays.md)."
            )
    elif (package := type(value).__module__.partition(".")[0]) in _CHUNKED:
        raise TypeError(
            f"{name} is an array of {package}, which may be larger than memory; pass np.asarray({name}), "
            "or arrays of Dask to restore, which works tile by tile (docs/arrays.md)."
        )


def aligned(mask: Any, image: Any) -> ArrayLike:  # noqa: ANN401
    """Return a mask with its axes in the order of those of an image, if both have names."""
    if is_data_array(mask) and is_data_array(image) and set(mask.dims) <= set(image.dims):
        ordered: ArrayLike = mask.transpose(*(name for name in image.dims if name in mask.dims))
        return ordered
    return mask  # type: ignore[no-any-return]


def like(given: Any, values: NDArray[Any]) -> Any:  # noqa: ANN401
    """Return new values in the container of the given ones: an xarray.DataArray keeps its coordinates."""
    return given.copy(data=values) if is_data_array(given) else values
