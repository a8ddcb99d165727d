"""Processor time that the first restoration spends on compiling, kernel by kernel."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import dictsel_core

#: Restores a color picture with the package of a folder without machine code, and prints what was compiled.
_SCRIPT = """
import time

import numpy as np

from dictsel_core import restore
from dictsel_core._util import compiled

begun, rows = [], []
load, save = compiled.KernelCache.load_overload, compiled.KernelCache.save_overload

def begin(cache, *arguments):
    found = load(cache, *arguments)
    if found is None:
        begun.append([time.thread_time(), 0.0])
    return found

def end(cache, *arguments):
    start, inner = begun.pop()
    seconds = time.thread_time() - start
    rows.append((seconds - inner, seconds, cache._name))
    if begun:
        begun[-1][1] += seconds
    save(cache, *arguments)

compiled.KernelCache.load_overload, compiled.KernelCache.save_overload = begin, end
image = np.random.default_rng(0).integers(0, 256, (128, 128, 3), np.uint8)
restore(image, image[:, :, 0] < 200, channel_axis=-1)
print("alone  with parts  kernel")
for alone, whole, name in sorted(rows, reverse=True):
    print(f"{alone:5.2f} {whole:11.2f}  {name}")
print(f"{sum(row[0] for row in rows):5.2f} s for {len(rows)} kernels")
"""


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(dictsel_core.__file__).parent
        target = Path(folder) / "dictsel_core"
        shutil.copytree(package, target, ignore=shutil.ignore_patterns("__pycache__"))
        variables = os.environ | {"XDG_CACHE_HOME": folder, "LOCALAPPDATA": folder, "PYTHONPATH": folder}
        subprocess.run([sys.executable, "-c", _SCRIPT], check=True, env=variables, cwd=folder)
