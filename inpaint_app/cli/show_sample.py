"""Restore the bundled sample: what the program does without arguments where there is no display."""

from pathlib import Path

from dictsel_core import RestoreSettings, psnr
from inpaint_app.cli.report import Console, terminal_control
from inpaint_app.engine.measure import damage_quality, measure
from inpaint_app.engine.opening import open_sample
from inpaint_app.engine.restore import restore
from inpaint_app.errors import UserError
from inpaint_app.io.read import read_picture
from inpaint_app.io.write import Output
from inpaint_app.model.damage import SAMPLES
from inpaint_app.model.picture import Picture
from inpaint_app.text.formatting import format_decibels, format_percent

_OUTPUT = "sample_restored.png"


def show_sample(folder: Path) -> int:
    """Restore the sample with the default settings, print its PSNR, and write it into a folder."""
    console = Console()
    console.print("There is no display for the window; the bundled sample is restored here instead.")
    source = open_sample(SAMPLES[0])
    assert source.reference is not None, "the sample is damaged on purpose"
    pixels, mask, original = source.picture.pixels, source.missing.mask, source.reference.pixels
    with terminal_control(console) as control:
        run = restore(source.request(RestoreSettings()), control)
    assert run.restoration is not None, "nobody stops it"
    restored, missing = run.restoration.image, format_percent(source.missing.fraction)
    before, after = damage_quality(pixels, mask, original).scores, measure(original, restored, None)
    console.print(f"Sample:      {source.picture.width} x {source.picture.height} pixels, {missing} missing")
    console.print(f"Damaged:     PSNR {format_decibels(before.psnr or 0)}")
    console.print(f"Restored:    PSNR {format_decibels(after.psnr or 0)} in {run.seconds:.1f} s")
    output = _output(folder, source.reference)
    notes = Output(output, overwrite=True).write(source.restored(restored, mask), source.files)
    console.print_written(output, notes)
    console.print("For your own pictures: make run ARGS='restore photo.png', or make run ARGS=--help.")
    return 0


def _output(folder: Path, original: Picture) -> Path:
    """Return a name that is free, or that of an earlier result of ours."""
    path, number = folder / _OUTPUT, 1
    while path.exists() and not _is_restored_sample(path, original):
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
