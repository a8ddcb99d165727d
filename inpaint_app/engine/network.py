"""Wide holes filled by a network of the user's own, from an ONNX file. Nothing is downloaded."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from inpaint_app.errors import UserError, printable_path
from inpaint_app.model.picture import Array, Mask, Rect, full_scale

#: How much around a hole a network sees: as many pixels on every side, or more if the hole is larger.
_MIN_CONTEXT = 64
#: Height and width of pictures of any size are made multiples of this.
_MULTIPLE = 8
#: Results above this are in steps of 1 / 255.
_MAX_UNIT = 2.0
_TYPES: dict[str, np.dtype[Any]] = {
    "tensor(uint8)": np.dtype(np.uint8),
    "tensor(float)": np.dtype(np.float32),
}

Unit = NDArray[np.float32]


def fill_by_network(image: Array, holes: Mask, network: "Network") -> Array:
    """Return a picture (H, W) or (H, W, 3) with its holes (H, W) filled by a network.

    What is in the holes should be a smooth estimate, since some networks mix it with theirs at the border.

    It takes a picture and a mask and returns a picture. Networks of bytes take masks that are 0 where pixels
    are missing (MI-GAN), those of floats 0 to 1 and masks that are 1 there (LaMa). If they have a size of
    their own, the picture around each hole is scaled to it.

    Raises `UserError` if the network cannot be used for the picture.
    """
    from skimage.measure import label, regionprops  # noqa: PLC0415  (slow to import)

    if image.ndim == 3 and image.shape[2] != 3:
        raise UserError("Networks fill gray and color pictures only", "fill the holes with texture")
    low, span = _range(image, holes)
    result = image.copy()

    labels = label(holes, connectivity=2)
    for hole in regionprops(labels):
        region = _around(Rect.from_slices(*hole.slice), holes.shape)
        unit = ((image[region].astype(np.float64) - low) / span).astype(np.float32)
        color = unit if unit.ndim == 3 else np.repeat(unit[:, :, None], 3, axis=2)
        filled = network.run(np.clip(color, 0, 1), holes[region]).astype(np.float64)
        values = (filled if image.ndim == 3 else filled.mean(axis=2)) * span + low
        own = labels[region] == hole.label
        result[region][own] = values[own] if image.dtype.kind == "f" else np.rint(values[own])
    return result


@dataclass(frozen=True)
class Network:
    """A network that has been loaded."""

    session: Any  #: Of onnxruntime, which has no types.
    name: str
    image: Any  #: Its inputs.
    mask: Any

    @classmethod
    def load(cls, path: Path) -> "Network":
        """Read a file; raises `UserError` if it holds no network that fills holes."""
        name = printable_path(path)
        try:
            onnxruntime = import_module("onnxruntime")  # an extra
        except ImportError as error:
            raise UserError(
                "Networks need onnxruntime, which is not installed", "install dictsel[network]"
            ) from error
        if not path.is_file():
            raise UserError(f"There is no file {name}", "give the ONNX file of a network")
        try:
            session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        except Exception as error:  # its errors have no class in common
            raise UserError(f"{name} holds no network that can be run", "give an ONNX file") from error
        inputs = session.get_inputs()
        masks = [each for each in inputs if "mask" in each.name.lower()]
        images = [each for each in inputs if each not in masks]
        fits = len(masks) == len(images) == 1 and all(
            each.type in _TYPES and len(each.shape) == 4 for each in inputs
        )
        if not fits:
            raise UserError(
                f"The network {name} does not take one picture and one mask",
                "give one that does, such as an export of MI-GAN or LaMa",
            )
        return cls(session, name, images[0], masks[0])

    def run(self, image: Unit, hole: Mask) -> Unit:
        """Return a picture (H, W, 3) from 0 to 1 as the network completes it."""
        own = self.image.shape[2:]
        is_fixed = all(isinstance(each, int) for each in own)
        height, width = hole.shape
        if is_fixed:
            given, hidden = _resized(image, (own[0], own[1])), _resized_mask(hole, (own[0], own[1]))
        else:
            more = [(0, -length % _MULTIPLE) for length in (height, width)]
            given, hidden = np.pad(image, [*more, (0, 0)], mode="edge"), np.pad(hole, more)
        filled = self._called(given, hidden)
        return _resized(filled, (height, width)) if is_fixed else filled[:height, :width]

    def _called(self, image: Unit, hole: Mask) -> Unit:
        planes = np.ascontiguousarray(image.transpose(2, 0, 1)[None])
        inputs = {
            self.image.name: np.rint(planes * 255).astype(np.uint8) if _is_bytes(self.image) else planes,
            self.mask.name: (np.where(hole, 0, 255) if _is_bytes(self.mask) else hole)[None, None].astype(
                _TYPES[self.mask.type]
            ),
        }
        try:
            result = np.asarray(self.session.run(None, inputs)[0])
        except Exception as error:  # its errors have no class in common
            raise UserError(
                f"The network {self.name} failed at the picture", "give one for pictures of any size"
            ) from error
        if result.shape != planes.shape:
            raise UserError(
                f"The network {self.name} does not return a picture of the size that it takes",
                "give one that does, such as an export of MI-GAN or LaMa",
            )
        values = result[0].transpose(1, 2, 0).astype(np.float32)
        in_bytes = result.dtype == np.uint8 or values.max() > _MAX_UNIT
        return np.asarray(np.clip(np.nan_to_num(values / np.float32(255) if in_bytes else values), 0, 1))


def _is_bytes(given: Any) -> bool:  # noqa: ANN401  (an input of onnxruntime)
    return bool(given.type == "tensor(uint8)")


def _range(image: Array, holes: Mask) -> tuple[float, float]:
    """Return the value of black, and how far white is above it."""
    if image.dtype.kind != "f":
        return 0.0, float(full_scale(image.dtype))
    known = image[~holes]
    low = float(known.min()) if known.size else 0.0
    return low, (float(known.max()) - low if known.size else 0.0) or 1.0


def _around(hole: Rect, shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Return a square around a hole, as far as the picture goes, in which it takes a third of the length."""
    length = max(hole.height, hole.width)
    side = length + 2 * max(length, _MIN_CONTEXT)
    rows, columns = (
        slice(max(middle - side // 2, 0), min(middle + side // 2, n))
        for middle, n in zip((hole.row + hole.height // 2, hole.column + hole.width // 2), shape, strict=True)
    )
    return rows, columns


def _resized(image: Unit, shape: tuple[int, int]) -> Unit:
    planes = [
        np.asarray(Image.fromarray(np.ascontiguousarray(plane)).resize(shape[::-1], Image.Resampling.BICUBIC))
        for plane in image.transpose(2, 0, 1)
    ]
    return np.asarray(np.clip(np.stack(planes, axis=2), 0, 1))


def _resized_mask(hole: Mask, shape: tuple[int, int]) -> Mask:
    """Return a mask in another size; what is missing in part is missing."""
    soft = Image.fromarray(hole.astype(np.float32)).resize(shape[::-1], Image.Resampling.BILINEAR)
    return np.asarray(soft) > 0
