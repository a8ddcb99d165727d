"""The same restorations with other machine code, or by another revision, as ratios in one run."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from benchmarks.measure import print_table

ROOT = Path(__file__).parents[1]
THIS = "this"
#: What the unpacked program has kernels for (.ci/bundle/processor.py), as Numba is told.
PROCESSORS = {
    level: {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "+fxsr"} for level in ("x86-64-v3", "x86-64-v2")
}
CASES = ("gray, 80 %", "gray, scratches", "color, 80 %")
_ROUNDS = 4
_SLOWEST = 1.25

#: Prints the processor time of each case, after a run that compiles or loads the kernels.
_SCRIPT = """
import sys
import time

import skimage.data

sys.path.append(sys.argv[1])
from benchmarks.pictures import damages
from dictsel_core import restore

masks = damages((512, 512))
gray, color = skimage.data.camera(), skimage.data.astronaut()
for image, damage in (gray, "80 % random"), (gray, "scratches"), (color, "80 % random"):
    seconds = []
    for _ in range(4):
        start = time.process_time()
        restore(image, masks[damage], channel_axis=-1 if image.ndim == 3 else None)
        seconds.append(time.process_time() - start)
    print(min(seconds[1:]))
"""


def processors() -> None:
    """Print what kernels for a kind of processor cost against those compiled for this machine."""
    _print_ratios("kernels for a kind of processor over those for this machine", PROCESSORS)


def since(revision: str) -> None:
    """Print the time of this code over that of another revision, and fail if it is a quarter longer."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", revision, "dictsel_core"], cwd=ROOT, check=True, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        (ratios,) = _print_ratios(f"{revision} over this code", {revision: {"PYTHONPATH": folder}})
    if min(ratios) < 1 / _SLOWEST:
        raise SystemExit(f"Restorations take more than {_SLOWEST} times as long as in {revision}.")


def _print_ratios(title: str, builds: Mapping[str, Mapping[str, str]]) -> list[list[float]]:
    """Print the processor time of each build over that of this code, and return it."""
    everything: dict[str, Mapping[str, str]] = {THIS: {}, **builds}
    runs = [{name: _seconds(variables) for name, variables in everything.items()} for _ in range(_ROUNDS)]
    ratios = [
        [median(run[name][case] / run[THIS][case] for run in runs) for case in range(len(CASES))]
        for name in builds
    ]
    rows = [[name, *(f"{each:.2f}" for each in row)] for name, row in zip(builds, ratios, strict=True)]
    print_table(f"512 x 512, balanced, processor time: {title}", ["", *CASES], rows)
    return ratios


def _seconds(variables: Mapping[str, str]) -> list[float]:
    """Return the processor time of each case with certain variables of the environment."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    # -P, and the pictures last on the path: the package is that of PYTHONPATH.
    command = [sys.executable, "-P", "-c", _SCRIPT, str(ROOT)]
    with tempfile.TemporaryDirectory() as folder:
        printed = subprocess.run(command, check=True, cwd=folder, env=environment, stdout=subprocess.PIPE)
    return [float(line) for line in printed.stdout.split()]
