"""What the program says about itself, and its log: a start from the desktop has no terminal.

The log holds versions and tracebacks of mistakes of ours, and nothing of any picture.
"""

import logging
import logging.handlers
import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from dictsel_core import __version__
from inpaint_app.system import state_folder

TITLE = "Inpaint"
ABOUT = (
    f"<b>{TITLE} {__version__}</b><p>Restores missing pixels in two stages: patches are coded with a "
    "dictionary selected by Replacement OMP or Replacement OLS, then refined by similar patches "
    "(non-local refinement).</p><p>Replacement OMP and its sparsity constraints: Kaito Fujii and "
    "Tasuku Soma, <i>Fast greedy algorithms for dictionary selection with generalized sparsity "
    "constraints</i>, NeurIPS 2018.</p><p>BSD-3-Clause license.</p>"
)


_PACKAGES = ("numpy", "scipy", "numba", "pillow", "tifffile", "PySide6-Essentials")
_MAX_BYTES, _KEPT_FILES, _SHOWN_LINES = 200_000, 2, 60
_log = logging.getLogger("inpaint_app")


def log_file() -> Path | None:
    """Return the file of the log, in the folder for the state of programs; None without a home."""
    folder = state_folder()
    return None if folder is None else folder / "dictsel" / "inpaint-app.log"


def start_log(path: Path | None) -> None:
    """Write what happens from now on to a file too, which never grows large; without one, nowhere."""
    if path is None:
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=_MAX_BYTES, backupCount=_KEPT_FILES, encoding="utf-8", errors="replace"
        )
    except OSError:  # a full disk, a folder of somebody else: the program works without a log
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    _log.info("%s", "; ".join(versions()))


def stop_log() -> None:
    """Close the files of the log."""
    for handler in list(_log.handlers):
        _log.removeHandler(handler)
        handler.close()


def versions() -> Sequence[str]:
    """Return the versions of the program and of what it runs on."""
    found = [f"Inpaint {__version__}", f"Python {platform.python_version()}", platform.platform()]
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} unknown")
    return [*found, f"{os.cpu_count()} cores"]


def details(path: Path | None) -> str:
    """Return what a report of a mistake should have: versions, and the end of the log."""
    lines: list[str] = []
    if path is not None and path.is_file():
        lines = path.read_text("utf-8", errors="replace").splitlines()[-_SHOWN_LINES:]
    return "\n".join((*versions(), "", *lines)).rstrip() + "\n"
