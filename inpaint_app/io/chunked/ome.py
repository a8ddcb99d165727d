"""The metadata of OME-Zarr 0.5 images: axes, levels of the pyramid and their scales."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inpaint_app.errors import UserError, printable_path

VERSION = "0.5"
#: What rows, columns and channels are called.
_PICTURE_AXES = (("y", "lat", "latitude"), ("x", "lon", "longitude"), ("c", "band", "bands", "channel"))


@dataclass(frozen=True)
class Multiscale:
    """An image of several scales."""

    axes: tuple[Mapping[str, Any], ...]  #: Name, type and unit of each axis.
    datasets: tuple[str, ...] = ("0",)  #: Paths of the arrays, finest first.
    #: Of the finest array: its pixel size, and where it lies.
    transformations: tuple[Mapping[str, Any], ...] = ()
    name: str = ""
    #: What else the group tells under "ome": how to display the channels.
    others: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the axes."""
        return tuple(str(axis.get("name", "")) for axis in self.axes)

    def picture_axes(self, path: Path, n_axes: int) -> tuple[int, ...]:
        """Return which axes of an array are rows, columns and, if there are any, channels.

        Raises `UserError` if these are not the axes of the array, or no axes of a picture.
        """
        axes = picture_axes(self.names)
        if len(self.names) != n_axes or axes is None:
            raise UserError(f"{printable_path(path)} has no axes y and x", "check its OME metadata")
        return axes

    def attributes(self, factors: Sequence[int]) -> dict[str, Any]:
        """Return the attributes of the group of an image with the same axes.

        Its levels, with the paths "0", "1" and so on, are smaller than the finest by these factors.
        """
        sizes, starts = self._values("scale", 1.0), self._values("translation", 0.0)
        datasets = []
        for level, factor in enumerate(factors):
            by = [factor if name in ("y", "x") else 1 for name in self.names]
            scale = [each * size for each, size in zip(by, sizes, strict=True)]
            # The center of a coarse pixel lies between those of the fine ones.
            shifts = [
                start + (each - 1) / 2 * size for start, each, size in zip(starts, by, sizes, strict=True)
            ]
            steps: list[dict[str, Any]] = [{"type": "scale", "scale": scale}]
            if any(shifts):
                steps.append({"type": "translation", "translation": shifts})
            datasets.append({"path": str(level), "coordinateTransformations": steps})
        multiscale = {
            "name": self.name,
            "axes": [dict(axis) for axis in self.axes],
            "datasets": datasets,
            "type": "mean",
        }
        return {"ome": {**self.others, "version": VERSION, "multiscales": [multiscale]}}

    def _values(self, kind: str, default: float) -> list[float]:
        for step in self.transformations:
            if step.get("type") == kind and len(step.get(kind, ())) == len(self.axes):
                return [float(value) for value in step[kind]]
        return [default] * len(self.axes)


def picture_axes(names: Sequence[str]) -> tuple[int, ...] | None:
    """Return which of some named axes are rows, columns and, if there are any, channels.

    None if there are no rows and columns. All others are axes along which pictures are stacked.
    """
    places = [[at for at, name in enumerate(names) if name.lower() in known] for known in _PICTURE_AXES]
    rows, columns, channels = places
    if len(rows) != 1 or len(columns) != 1 or len(channels) > 1:
        return None
    return (*rows, *columns, *channels)


def new_multiscale(name: str, *, has_channels: bool, is_stack: bool) -> Multiscale:
    """Return the metadata of an image that comes from elsewhere: pixels of size one."""
    channels = ({"name": "c", "type": "channel"},) if has_channels else ()
    spaces = tuple({"name": axis, "type": "space"} for axis in ("zyx" if is_stack else "yx"))
    return Multiscale((*channels, *spaces), name=name)


def read_multiscale(path: Path, attributes: Mapping[str, Any]) -> Multiscale:
    """Return the first multiscale image of a group; raises `UserError` if the group is no OME-Zarr image."""
    ome = attributes.get("ome", attributes)  # version 0.4 has no such level
    try:
        first = ome["multiscales"][0]
        datasets = first["datasets"]
        return Multiscale(
            tuple(_mapping(axis) for axis in first["axes"]),
            tuple(_checked_path(each["path"]) for each in datasets),
            tuple(_transformation(each) for each in datasets[0].get("coordinateTransformations", ())),
            str(first.get("name", "")),
            {key: value for key, value in ome.items() if key == "omero"},
        )
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise UserError(
            f"{printable_path(path)} is a Zarr group, not an array or a valid OME-Zarr image",
            "name the array inside it",
        ) from error


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError("not a mapping")
    return value


def _checked_path(value: object) -> str:
    """Return the path of an array inside a group."""
    path = str(value) if isinstance(value, str | int) else ""
    if not path or any(part in ("", ".", "..") for part in path.split("/")):
        raise ValueError("not a path inside the group")
    return path


def _transformation(value: object) -> Mapping[str, Any]:
    """Return a transformation, whose numbers are finite."""
    step = _mapping(value)
    for kind in ("scale", "translation"):
        if not all(math.isfinite(number) for number in step.get(kind, ())):
            raise ValueError("not a number")
    return step
