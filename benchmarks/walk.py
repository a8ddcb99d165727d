"""The files of the core that a restoration of an image in memory passes through."""

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import dictsel_core
from dictsel_core import restore

_ROOT = f"{Path(dictsel_core.__file__).parent}{os.sep}"


def main() -> None:
    """Print the files, with the number of functions of each that are called."""
    image = np.add.outer(np.arange(96), np.arange(96)).astype(np.uint8)
    image ^= np.random.default_rng(1).integers(0, 8, image.shape, np.uint8)
    mask = np.random.default_rng(0).random(image.shape) < 0.5
    restore(image, mask)  # kernels are compiled, and bases made
    files = files_of(lambda: restore(image, mask))
    for name, n_functions in sorted(files.items()):
        print(f"{n_functions:4}  {name}")
    print(f"{len(files)} files")


def files_of(work: Callable[[], Any]) -> dict[str, int]:
    """Return the files of the core whose functions some work calls, in any thread, and how many of each."""
    seen: set[tuple[str, str]] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:  # noqa: ANN401  (what a profiler is given)
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(_ROOT):
            seen.add((name.removeprefix(_ROOT), frame.f_code.co_qualname))

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    counts: dict[str, int] = {}
    for name, _ in seen:
        counts[name] = counts.get(name, 0) + 1
    return counts
