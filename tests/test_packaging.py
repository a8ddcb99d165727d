"""The package as it is installed, and the repository as it is published."""

import json
import re
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import dictsel_core

ROOT = Path(__file__).parents[1]
REQUIREMENTS = [Requirement(line) for line in metadata.requires("dictsel") or []]


def published_files() -> list[Path]:
    """Return the files that git tracks or would add."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [ROOT / name for name in listing.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def pins() -> dict[str, str]:
    """Return the version that constraints.txt pins for each distribution, refusing any other line."""
    found = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        match = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9.+!]+)", line)
        assert match, f"constraints.txt holds more than name==version: {line!r}"
        found[str(canonicalize_name(match[1]))] = match[2]
    return found


def test_version_has_one_source() -> None:
    assert dictsel_core.__version__ == metadata.version("dictsel")
    assert f"\nversion: {dictsel_core.__version__}\n" in (ROOT / "CITATION.cff").read_text()


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_every_requirement_is_pinned_within_its_bounds(requirement: Requirement) -> None:
    assert pins()[str(canonicalize_name(requirement.name))] in requirement.specifier


def test_gpl_peer_comes_with_the_bench_extra_alone() -> None:
    markers = [str(r.marker) for r in REQUIREMENTS if r.name == "spams-bin"]
    assert markers == ['extra == "bench"']


def test_assets_are_installed() -> None:
    assert (resources.files("inpaint_app") / "assets").is_dir()


def test_core_loads_no_window_and_no_file_format() -> None:
    command = "import dictsel_core, json, sys; print(json.dumps(list(sys.modules)))"
    output = subprocess.run([sys.executable, "-P", "-c", command], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in json.loads(output.stdout)}
    assert "dictsel_core" in loaded
    assert not loaded & {"PySide6", "PIL", "imageio", "tifffile", "matplotlib", "inpaint_app"}


def test_repository_names_no_place_of_one_machine() -> None:
    place = re.compile(rb"(?<![\w.:/])/(?:root|work|home|Users)/")
    offenders = [str(path.relative_to(ROOT)) for path in published_files() if place.search(path.read_bytes())]
    assert offenders == []


def test_repository_names_no_package_registry() -> None:
    registry = re.compile(rb"index-url|/simple/")
    here = Path(__file__)
    offenders = [
        str(path.relative_to(ROOT))
        for path in published_files()
        if path != here and registry.search(path.read_bytes())
    ]
    assert offenders == []


def test_no_merge_conflict_is_left_in_a_text():
    texts = [path for path in published_files() if path.suffix in {".md", ".toml", ".txt", ".py", ".cff"}]
    assert texts
    marked = [path for path in texts if re.search(r"^(<{7} |>{7} )", path.read_text(), re.MULTILINE)]
    assert marked == []
