"""How much memory reading a file takes, measured in a process of its own."""

import subprocess
import sys
from pathlib import Path

# The kernel's high-water mark of this program alone; that of getrusage begins with the parent's.
_READ = """
import contextlib, re, sys
from pathlib import Path
from inpaint_app.errors import UserError
from inpaint_app.io.read import read_picture
peak = lambda: int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
before = peak()
with contextlib.suppress(UserError):
    read_picture(sys.argv[1])
print((peak() - before) / 1024)
"""


def reading_megabytes(path: Path) -> float:
    """Return by how much the memory of a process grows at most while it reads a picture, or refuses it."""
    command = [sys.executable, "-P", "-c", _READ, str(path)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
