"""Resolve the dependencies again and write constraints.txt: ``python lock.py UV``, UV being the program uv.

uv asks the public index and does not know pip's settings, so the hashes are those of the files that everybody
gets. It resolves once for all platforms and all supported versions of Python.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADER = """\
# What make installs: one version of each package, and the SHA-256 of every file that the public index has
# of it, for all platforms. pip refuses any other file. Written by "make lock".
#
# The line above a package says what it is for: "run" is library, command line and build, "core" the tests of
# the core on other versions of Python, "napari" those of the plug-in, the others are extras of
# pyproject.toml; each but "core" is in addition to "run".
"""
# Beyond the dependencies themselves; lines of these extras.
CORE_TESTS = ("hypothesis", "pytest", "pytest-xdist", "scikit-learn", "xarray")
NAPARI_TESTS = ("PySide6-Essentials", "hypothesis", "pytest", "pytest-qt")


def requirements() -> dict[str, list[str]]:
    """Return what each purpose asks for, from pyproject.toml."""
    contents = tomllib.loads((ROOT / "pyproject.toml").read_text())
    run = contents["project"]["dependencies"] + contents["build-system"]["requires"]
    extras = contents["project"]["optional-dependencies"]
    tools = extras["app"] + extras["dev"]
    core, napari = (
        [line for line in tools if name_of(line) in names] for names in (CORE_TESTS, NAPARI_TESTS)
    )
    purposes = {"run": run, "core": run + core} | {name: run + extras[name] for name in sorted(extras)}
    return purposes | {"napari": purposes["napari"] + napari}


def name_of(requirement: str) -> str:
    """Return the name at the beginning of a requirement."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]


def resolve(uv: str, wanted: list[str], *options: str) -> dict[str, str]:
    """Return the lines that pip needs for each package of a resolution, by the package's name."""
    command = [
        *(uv, "--no-config", "pip", "compile", "-", "--universal", "--fork-strategy", "fewest"),
        *("--python-version", "3.11", "--no-header", "--no-annotate", "--quiet", *options),
    ]
    lines = "\n".join(wanted)
    text = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True).stdout
    packages: dict[str, str] = {}
    for entry in re.findall(r"^\S.*(?:\n .*)*\n", text, re.MULTILINE):
        name = entry.partition("==")[0]
        packages[name] = packages.get(name, "") + entry  # more than one where versions depend on the platform
    return packages


def main(uv: str) -> None:
    """Write constraints.txt."""
    wanted = requirements()
    pinned = resolve(uv, [line for lines in wanted.values() for line in lines], "--generate-hashes")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as versions:
        versions.write("".join(pinned.values()))
        versions.flush()
        packages = {
            purpose: resolve(uv, lines, "--constraints", versions.name).keys()
            for purpose, lines in wanted.items()
        }
    text = HEADER
    for package in sorted(pinned):
        purposes = [purpose for purpose in packages if package in packages[purpose]]
        if "run" in purposes:
            purposes = [purpose for purpose in purposes if purpose in ("run", "core")]
        text += f"# for: {' '.join(purposes)}\n{pinned[package]}"
    (ROOT / "constraints.txt").write_text(text)


if __name__ == "__main__":
    main(sys.argv[1])
