"""The libraries of the system that Qt needs: which are missing, and their packages in Debian and Ubuntu.

``python -m inpaint_app.system_libraries`` prints the packages that are missing, on one line.
"""

import ctypes
import importlib.util
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

#: What the window loads, below the folder of PySide6.
_LOADED = (
    "QtWidgets.abi3.so",
    "Qt/plugins/platforms/libqoffscreen.so",
    "Qt/plugins/platforms/libqxcb.so",
)
_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libz.so.1": "zlib1g",
}
#: Where the system says which fonts there are, and where they are.
_FONT_SETTINGS = "/etc/fonts/fonts.conf"
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")


def package_of(library: str) -> str:
    """Return the package that holds a library, such as libxcb-image.so.0; the library itself if unknown."""
    name, dot, version = library.partition(".so.")
    is_plain = name.startswith("libxcb") or name in ("libxkbcommon", "libzstd")
    return _PACKAGES.get(library, f"{name}{version}" if dot and is_plain else library)


def missing_packages() -> list[str]:
    """Return the packages to install before the window can open; none without Qt or outside of Linux."""
    spec = importlib.util.find_spec("PySide6")
    if spec is None or not sys.platform.startswith("linux"):
        return []
    folder = Path((spec.submodule_search_locations or [""])[0])
    libraries = _missing_libraries([folder / name for name in _LOADED if (folder / name).exists()])
    return sorted({package_of(library) for library in libraries} | set(_missing_fonts()))


def _missing_libraries(files: Iterable[Path]) -> set[str]:
    """Return the libraries that files need and the system lacks."""
    missing: set[str] = set()
    for file in files:
        try:
            done = subprocess.run(["ldd", file], capture_output=True, text=True, check=False)
            missing |= {line.split()[0] for line in done.stdout.splitlines() if "=> not found" in line}
        except OSError:  # no ldd: the first that is missing
            try:
                ctypes.CDLL(str(file))
            except OSError as error:
                missing.add(str(error).partition(":")[0])
    return missing


def _missing_fonts() -> list[str]:
    """Return the packages without which the window would have no letters."""
    files = (file for folder in _FONT_FOLDERS for file in Path(folder).expanduser().rglob("*.*"))
    has_font = any(file.suffix.lower() in (".ttf", ".otf", ".ttc", ".pfb") for file in files)
    needed = {"fonts-dejavu-core": has_font, "fontconfig-config": Path(_FONT_SETTINGS).exists()}
    return [package for package, is_there in needed.items() if not is_there]


if __name__ == "__main__":
    sys.stdout.write(" ".join(missing_packages()) + "\n")
