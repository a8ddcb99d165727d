"""Start the program that build.py has made, on this machine: `python smoke.py`.

A picture is damaged, restored and repaired, the window opens, and nothing may be compiled meanwhile.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Run the commands, one after another."""
    (folder,) = (path for path in (ROOT / "build" / "bundle").glob("Inpaint-*") if path.is_dir())
    suffix = ".exe" if sys.platform == "win32" else ""
    inpaint, window = (str(folder / f"{name}{suffix}") for name in ("inpaint", "inpaint-app"))
    sample = str(ROOT / "assets" / "sample.png")
    with tempfile.TemporaryDirectory() as home:
        names = ("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME")
        environment = os.environ | dict.fromkeys(names, home) | {"QT_QPA_PLATFORM": "offscreen"}
        for command in (
            [inpaint, "damage", sample, "-o", "damaged.png", "--missing", "0.8"],
            [inpaint, "restore", "damaged.png", "--reference", sample],
            [inpaint, "repair", sample, "-o", "repaired.png"],
            [window, "--sample", "--screenshot", "window.png"],
        ):
            subprocess.run(command, cwd=home, env=environment, check=True)
        compiled = list(Path(home).rglob("*.nbc"))
        if compiled:
            raise SystemExit(f"{len(compiled)} kernels were compiled here, not beforehand.")
    print("The program works.")


if __name__ == "__main__":
    main()
