"""Restore the bundled sample: what the program does without arguments where there is no display."""

import time
from contextlib import closing
from pathlib import Path

import numpy as np

from dictsel_core import iter_restore, psnr
from inpaint_app.cli.console import Console
from inpaint_app.cli.progress import Progress
from inpaint_app.errors import UserError, printable_path
from inpaint_app.files.paths import is_visible
from inpaint_app.files.read import read_picture
from inpaint_app.files.sample import DAMAGED, ORIGINAL, read_sample
from inpaint_app.files.write import write_picture
from inpaint_app.formatting import format_decibels, format_percent
from inpaint_app.image.missing import require_missing
from inpaint_app.image.picture import Picture

_OUTPUT = "sample_restored.png"


def show_sample(folder: Path) -> int:
    """Restore the sample with the default settings, print its PSNR, and write it into a folder."""
    say = Console().say
    say("There is no display for the window; the bundled sample is restored here instead.")
    original, damaged = read_sample(ORIGINAL), read_sample(DAMAGED)
    missing = require_missing(damaged)
    start = time.perf_counter()
    steps = iter_restore(damaged.pixels, missing.mask)
    with Progress() as progress, closing(steps):
        for step in steps:
            progress.update("restoring", step.fraction)
    restored = steps.result.image
    seconds = time.perf_counter() - start
    before = psnr(original.pixels, np.where(missing.mask[..., None], 0, damaged.pixels))
    say(f"Sample:      {damaged.width} x {damaged.height} pixels, {format_percent(missing.fraction)} missing")
    say(f"Damaged:     PSNR {format_decibels(before)}")
    say(f"Restored:    PSNR {format_decibels(psnr(original.pixels, restored))} in {seconds:.1f} s")
    picture = damaged.with_pixels(restored, filled=missing.mask)
    output = _output(folder, original)
    write_picture(picture, output, overwrite=True)
    say(f"Written:     {printable_path(output)}")
    say("For your own pictures: make run ARGS='restore photo.png', or make run ARGS=--help.")
    return 0


def _output(folder: Path, original: Picture) -> Path:
    """Return a name that is free, or that of an earlier result of ours."""
    path, number = folder / _OUTPUT, 1
    while is_visible(path) and not _is_restored_sample(path, original):
        number += 1
        path = folder / f"sample_restored_{number}.png"
    return path


def _is_restored_sample(path: Path, original: Picture) -> bool:
    """Whether a file shows the sample, so that a new result may take its place."""
    try:
        picture = read_picture(path)
    except UserError:
        return False
    same_kind = picture.pixels.shape == original.pixels.shape and picture.depth == original.depth
    return same_kind and psnr(original.pixels, picture.pixels) > 18
