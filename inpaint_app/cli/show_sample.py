"""Restore the bundled sample: what the program does without arguments where there is no display."""

from importlib import resources
from pathlib import Path

from dictsel_core import RestoreSettings, psnr
from inpaint_app.cli.report import Console, print_outcome, terminal_control
from inpaint_app.engine.restore_file import FileOptions, FileRequest, restore_file
from inpaint_app.errors import UserError
from inpaint_app.io.assets import DAMAGED, ORIGINAL, asset
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import Output


def show_sample(folder: Path) -> int:
    """Restore the sample with the default settings, as the command would, and write it into a folder."""
    console = Console()
    console.print("There is no display for the window; the bundled sample is restored here instead.")
    with resources.as_file(asset(DAMAGED)) as damaged, resources.as_file(asset(ORIGINAL)) as original:
        output = Output(_free_name(folder, original), overwrite=True)
        request = FileRequest(damaged, output, FileOptions(RestoreSettings()), reference=original)
        with terminal_control(console) as control:
            result = restore_file(request, control)
    print_outcome(console, result, None)
    console.print("For your own pictures: make run ARGS='restore photo.png', or make run ARGS=--help.")
    return 0


def _free_name(folder: Path, original: Path) -> Path:
    """Return a name that is free, or that of an earlier result of ours."""
    path, number = folder / "sample_restored.png", 1
    while path.exists() and not _is_restored(path, original):
        number += 1
        path = folder / f"sample_restored_{number}.png"
    return path


def _is_restored(path: Path, original: Path) -> bool:
    """Whether a file shows the sample, so that a new result may take its place."""
    try:
        pixels, whole = read_picture(path).pixels, read_picture(original).pixels
    except UserError:
        return False
    return pixels.shape == whole.shape and pixels.dtype == whole.dtype and psnr(whole, pixels) > 18
