"""The files that a restoration passes through: of the core, and of the app for a command and a slider."""

import contextlib
import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import dictsel_core
import inpaint_app
from dictsel_core import restore
from inpaint_app.cli import main as inpaint
from inpaint_app.model.picture import Picture

if TYPE_CHECKING:
    from inpaint_app.window.main_window import MainWindow


def main() -> None:
    """Print the files of core and app, with the number of functions of each that are called."""
    image = np.add.outer(np.arange(96), np.arange(96)).astype(np.uint8)
    image ^= np.random.default_rng(1).integers(0, 8, image.shape, np.uint8)
    mask = np.random.default_rng(0).random(image.shape) < 0.5
    restore(image, mask)  # kernels are compiled, and bases made
    _print("restore(image, mask)", files_of(lambda: restore(image, mask), dictsel_core))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Image.fromarray(image).save("scan.tif")
        Image.fromarray(mask).save("m.png")
        command = "inpaint restore scan.tif --mask m.png -o out.tif"
        with contextlib.redirect_stdout(io.StringIO()):
            inpaint([*command.split()[1:-1], "first.tif"])  # everything is imported
            files = files_of(lambda: inpaint(command.split()[1:]), inpaint_app)
        _print(command, files)
    _walk_through_window(image, mask)


def _walk_through_window(image: NDArray[Any], mask: NDArray[Any]) -> None:
    """Print the files that a step of a slider passes through: until it is taken, and until it is seen."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    try:
        from benchmarks.window_gaps import make_window
        from inpaint_app.window.app import wait_until_settled
    except ImportError:
        print("no window: PySide6 is not installed")
        return
    window = make_window()
    picture = Picture(image, np.where(mask, 0, 255).astype(np.uint8))
    window.session.opening.open_picture(lambda: picture, "scan")
    wait_until_settled(window)
    slider_step(window, 5)
    wait_until_settled(window)
    _print("a step of a slider", files_of(lambda: slider_step(window, 6), inpaint_app))
    wait_until_settled(window)

    def see_step() -> None:
        slider_step(window, 7)
        wait_until_settled(window)

    _print("a step of a slider, and its preview drawn", files_of(see_step, inpaint_app))
    window.session.document.discard()
    window.close()


def slider_step(window: "MainWindow", sparsity: int) -> None:
    """Move the slider of the sparsity as a user does."""
    from PySide6.QtWidgets import QSlider

    fields = window.side.parameters.findChildren(QSlider)
    next(slider for slider in fields if "Sparsity" in slider.accessibleName()).setValue(sparsity)


def _print(what: str, files: dict[str, int]) -> None:
    for name, n_functions in sorted(files.items()):
        print(f"{n_functions:4}  {name}")
    print(f"{len(files)} files: {what}\n")


def files_of(work: Callable[[], Any], package: ModuleType = dictsel_core) -> dict[str, int]:
    """Return the files of a package whose functions some work calls, in any thread, and how many of each."""
    root = f"{Path(package.__file__ or '').parent}{os.sep}"
    seen: set[tuple[str, str]] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:  # noqa: ANN401  (what a profiler is given)
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(root):
            seen.add((name.removeprefix(root), frame.f_code.co_qualname))

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
