"""Build the program that needs no Python: `python build.py`.

The environment needs the extras "app" and "bundle". What comes out is
dist/Inpaint-VERSION-SYSTEM-MACHINE.tar.xz, or .zip on Windows.
"""

import compileall
import os
import platform
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

import kernels
import licenses

from dictsel_core import __version__

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SYSTEM = {"win32": "windows", "darwin": "macos"}.get(sys.platform, sys.platform)
NAME = f"Inpaint-{__version__}-{SYSTEM}-{platform.machine().lower()}"


def main() -> None:
    """Build, step by step."""
    work, dist = ROOT / "build" / "bundle", ROOT / "dist"
    shutil.rmtree(work, ignore_errors=True)
    dist.mkdir(exist_ok=True)
    print("Collecting what the program needs.", flush=True)
    quiet = ["--noconfirm", "--log-level", "ERROR"]
    folders = ["--distpath", str(work), "--workpath", str(work / "pyinstaller")]
    spec = str(HERE / "inpaint.spec")
    # -P: the installed package, which has its assets, and not the checkout.
    subprocess.run([sys.executable, "-P", "-m", "PyInstaller", *quiet, *folders, spec], cwd=ROOT, check=True)
    folder = (work / "Inpaint").rename(work / NAME)
    core = folder / "_internal" / "dictsel_core"
    kernels.compile_all(core)
    # Bytecode is used as it is, whatever the times of the files become when they are unpacked.
    compileall.compile_dir(core, quiet=1, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    licenses.write(folder)
    _add_files(folder)
    print(f"Packing {_size(folder) / 1e6:.0f} MB.", flush=True)
    archive = _pack(folder, dist)
    print(f"{archive.relative_to(ROOT)}: {archive.stat().st_size / 1e6:.0f} MB")


def _add_files(folder: Path) -> None:
    """Add what the user reads and calls."""
    shutil.copy(HERE / "README.txt", folder)
    if sys.platform == "linux":
        assets = folder / "share"
        assets.mkdir()
        for name in ("org.dictsel.inpaint.desktop", "icon.svg", "inpaint.1"):
            shutil.copy(ROOT / "assets" / name, assets)
        for name in ("install.sh", "uninstall.sh"):
            shutil.copy(HERE / name, folder)


def _pack(folder: Path, dist: Path) -> Path:
    """Return the archive of a folder."""
    if sys.platform == "win32":
        return Path(shutil.make_archive(str(dist / folder.name), "zip", folder.parent, folder.name))
    archive = dist / f"{folder.name}.tar.xz"
    owner = ["--owner=0", "--group=0", "--sort=name"] if sys.platform == "linux" else []
    command = ["tar", "-C", str(folder.parent), *owner, "-cJf", str(archive), folder.name]
    subprocess.run(command, env=os.environ | {"XZ_OPT": "-6 -T0"}, check=True)
    return archive


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


if __name__ == "__main__":
    main()
