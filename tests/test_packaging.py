"""The package as it is installed, and the repository as it is published."""

import json
import re
import subprocess
import sys
from importlib import metadata, resources
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import dictsel_core

ROOT = Path(__file__).parents[1]
REQUIREMENTS = [Requirement(line) for line in metadata.requires("dictsel") or []]


def published_files() -> list[Path]:
    """Return the files that git tracks or would add; without a repository, those of the unpacked archive."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        listing = ""
    paths = [ROOT / name for name in listing.split("\0") if name]
    paths = paths or [path for path in ROOT.rglob("*") if not is_made_here(path.relative_to(ROOT))]
    return [path for path in paths if path.is_file()]


def is_made_here(path: Path) -> bool:
    """Whether a file is an environment's, a cache's or a compiler's, which git would ignore."""
    folders = ("build", "dist", "__pycache__", ".git")
    return any(part in folders or re.match(r"\.venv|\..*_cache$|\.hypothesis", part) for part in path.parts)


class Pin(NamedTuple):
    """What constraints.txt says of one package."""

    version: str
    purposes: set[str]


def pins() -> dict[str, Pin]:
    """Return what constraints.txt says, refusing any line that does not belong there."""
    text = (ROOT / "constraints.txt").read_text()
    header = re.match(r"(?:#(?! for:).*\n)*", text)
    entry = re.compile(
        r"# for: (?P<purposes>.+)\n"
        r"(?P<name>[a-z0-9-]+)==(?P<version>[a-z0-9.]+)(?: ; [^\\\n]+)? \\\n"
        r"(?:    --hash=sha256:[0-9a-f]{64}(?: \\\n    --hash=sha256:[0-9a-f]{64})*)\n"
    )
    found, position = {}, header.end()
    while position < len(text):
        match = entry.match(text, position)
        assert match, f"constraints.txt holds something else: {text[position : position + 80]!r}"
        found[match["name"]] = Pin(match["version"], set(match["purposes"].split()))
        position = match.end()
    return found


def requirements_of(name: str) -> list[Requirement]:
    """Return what an installed package needs on this machine; nothing for one that is not installed."""
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []
    found = map(Requirement, lines)
    return [needed for needed in found if needed.marker is None or needed.marker.evaluate({"extra": ""})]


def purpose_of(requirement: Requirement) -> str:
    """Return the extra that a requirement of the package belongs to, or "run"."""
    extra = re.search(r'extra == "(\w+)"', str(requirement.marker))
    return extra[1] if extra else "run"


def test_version_has_one_source() -> None:
    assert dictsel_core.__version__ == metadata.version("dictsel")
    assert f"\nversion: {dictsel_core.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    metainfo = (ROOT / "assets" / "org.dictsel.inpaint.metainfo.xml").read_text()
    assert f'<release version="{dictsel_core.__version__}" ' in metainfo


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=str)
def test_every_requirement_is_pinned_within_its_bounds(requirement: Requirement) -> None:
    pin = pins()[canonicalize_name(requirement.name)]
    assert pin.version in requirement.specifier
    assert pin.purposes & {"run", purpose_of(requirement)}


def test_what_is_pinned_for_a_purpose_is_complete() -> None:
    """pip is told to install nothing else."""
    known = pins()
    for name, pin in known.items():
        for needed in requirements_of(name):
            also = known[canonicalize_name(needed.name)].purposes
            extras = pin.purposes - {"run", "core"} if "run" in also else set()  # installed on top of it
            assert pin.purposes - extras <= also, f"{name} needs {needed}"


def test_window_is_not_needed_for_the_core_alone() -> None:
    core = {name for name, pin in pins().items() if "core" in pin.purposes}
    assert {"numpy", "hatchling", "pytest", "hypothesis"} <= core
    assert not core & {"pyside6-essentials", "shiboken6", "pytest-qt", "mypy"}


def test_gpl_peer_comes_with_the_bench_extra_alone() -> None:
    markers = [str(r.marker) for r in REQUIREMENTS if r.name == "spams-bin"]
    assert markers == ['extra == "bench"']


def test_the_window_and_what_few_files_need_come_with_extras_alone() -> None:
    """So that library and command line stay small."""
    plain = {requirement.name for requirement in REQUIREMENTS if requirement.marker is None}
    assert "numpy" in plain
    assert not plain & {"PySide6-Essentials", "astropy", "dask", "matplotlib", "zarr"}
    extras = {purpose_of(requirement) for requirement in REQUIREMENTS}
    assert {"app", "fits", "cluster", "docs"} <= extras


@pytest.mark.skipif(
    Path(dictsel_core.__file__).is_relative_to(ROOT / "dictsel_core"), reason="needs the installed package"
)
def test_assets_are_installed() -> None:
    installed, ours = resources.files("inpaint_app") / "assets", ROOT / "assets"
    paths = [path for path in ours.rglob("*") if path.is_file()]
    assert {"actions.txt", "restore.txt", "brush.svg"} <= {path.name for path in paths}
    assert [path for path in paths if not installed.joinpath(*path.relative_to(ours).parts).is_file()] == []


@pytest.mark.parametrize(
    ("asset", "place"),
    [
        ("org.dictsel.inpaint.desktop", "applications/org.dictsel.inpaint.desktop"),
        ("org.dictsel.inpaint.metainfo.xml", "metainfo/org.dictsel.inpaint.metainfo.xml"),
        ("inpaint.1", "man/man1/inpaint.1"),
        ("icon.svg", "icons/hicolor/scalable/apps/org.dictsel.inpaint.svg"),
    ],
)
def test_desktop_files_are_installed_where_desktops_look(asset: str, place: str) -> None:
    found = [file for file in metadata.files("dictsel") or [] if str(file).endswith(f"share/{place}")]
    assert [Path(file.locate()).read_bytes() for file in found] == [(ROOT / "assets" / asset).read_bytes()]


def test_core_loads_no_window_and_no_file_format() -> None:
    command = "import dictsel_core, json, sys; print(json.dumps(list(sys.modules)))"
    output = subprocess.run([sys.executable, "-P", "-c", command], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in json.loads(output.stdout)}
    assert "dictsel_core" in loaded
    assert not loaded & {"PySide6", "PIL", "imageio", "tifffile", "matplotlib", "inpaint_app", "skimage"}


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


def test_the_conda_recipe_asks_for_what_the_package_asks_for():
    recipe = (ROOT / ".ci" / "conda" / "recipe.yaml").read_text()
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    asked = {line.removeprefix("    - ") for line in run.splitlines()}
    plain = [each for each in REQUIREMENTS if each.marker is None]
    assert asked == {f"{each.name.lower()} {each.specifier}" for each in plain} | {"python >=3.11"}
    assert f"  version: {dictsel_core.__version__}\n" in recipe
