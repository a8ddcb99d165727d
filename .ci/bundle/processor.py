"""Choose the kind of processor that kernels are compiled for, when the unpacked program starts.

The bundle brings the machine code of all kernels for a few kinds of processors (LEVELS). Numba takes the kind
from two variables of the environment; where none fits, or the user has set them, it compiles for the machine.
"""

import os
import platform
import sys
from pathlib import Path

#: Kinds of processors, the best first: LLVM's name, and what a processor must be able to do, as Linux says.
LEVELS = {
    "x86-64-v3": ("avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"),
    "x86-64-v2": ("cx16", "popcnt", "sse4_1", "sse4_2", "ssse3"),
}
_WINDOWS_AVX2 = 40  # PF_AVX2_INSTRUCTIONS_AVAILABLE


def level() -> str:
    """Return the best kind that this processor is of; empty if none is, or if that cannot be told."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "apple-m1" if sys.platform == "darwin" else ""
    if sys.platform == "win32":
        import ctypes

        has_avx2 = ctypes.windll.kernel32.IsProcessorFeaturePresent(_WINDOWS_AVX2)
        return "x86-64-v3" if has_avx2 else "x86-64-v2"
    return level_of(_flags())


def level_of(flags: set[str]) -> str:
    """Return the best kind of a processor with certain abilities."""
    return next((name for name, needed in LEVELS.items() if flags.issuperset(needed)), "")


def _flags() -> set[str]:
    """Return what the processor can do, as Linux tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return set()
    return next((set(line.split()) for line in lines if line.startswith("flags")), set())


def features(name: str) -> str:
    """Return features that add none to a kind of processor; without any, Numba adds the machine's."""
    return "+fxsr" if name.startswith("x86") else "+neon"


def choose() -> None:
    """Tell Numba what to compile for, and so which machine code to look for."""
    name = level()
    if name and "NUMBA_CPU_NAME" not in os.environ:
        os.environ.update(NUMBA_CPU_NAME=name, NUMBA_CPU_FEATURES=features(name))


if getattr(sys, "frozen", False):
    choose()
