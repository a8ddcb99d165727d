"""The licenses and the bill of materials of a bundle: of its Python packages and its libraries of Debian."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path


@dataclass(frozen=True)
class Part:
    """A package of which something is in the bundle."""

    name: str
    version: str
    license: str
    texts: tuple[Path, ...]
    address: str  #: package URL, see the specification of that name


def write(folder: Path) -> None:
    """Write licenses/ and sbom.json (CycloneDX 1.5) into the folder of a program."""
    parts = [_python(), *_packages(folder), *_libraries(folder)]
    texts = folder / "licenses"
    texts.mkdir()
    lines = []
    for part in parts:
        for number, text in enumerate(part.texts):
            suffix = f"-{number}" if number else ""
            shutil.copyfile(text, texts / f"{part.name}{suffix}.txt")
        lines.append(f"{part.name} {part.version}: {part.license}")
    (texts / "README.txt").write_text(
        "\n".join(["What this program is made of.", "", *lines, ""]), encoding="utf-8"
    )
    components = [
        {
            "type": "library",
            "name": part.name,
            "version": part.version,
            "purl": part.address,
            "licenses": [{"license": {"name": part.license}}],
        }
        for part in parts
    ]
    document = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": components}
    (folder / "sbom.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _python() -> Part:
    version = ".".join(map(str, sys.version_info[:3]))
    candidates = [Path(sys.base_prefix, "lib", f"python{version.rpartition('.')[0]}", "LICENSE.txt")]
    texts = tuple(path for path in candidates if path.is_file())
    return Part("python", version, "PSF-2.0", texts, f"pkg:generic/python@{version}")


def _packages(folder: Path) -> list[Part]:
    """Return the Python packages of which a module is in the bundle."""
    listed = metadata.packages_distributions()
    table = (folder.parent / "pyinstaller" / "inpaint" / "PYZ-00.toc").read_text(encoding="utf-8")
    inside = {path.name for path in (folder / "_internal").iterdir()}
    used = {
        name
        for module, names in listed.items()
        if module in inside or f"('{module}'" in table
        for name in names
    }
    parts = []
    for name in sorted(used, key=str.lower):
        about = metadata.distribution(name)
        files = [
            file
            for file in about.files or ()
            if "licen" in str(file).lower() or "copying" in str(file).lower()
        ]
        texts = tuple(
            path
            for path in (Path(str(file.locate())) for file in files)
            if path.is_file() and path.suffix != ".py"
        )
        kind = about.metadata.get("License-Expression") or about.metadata.get("License") or "see the text"
        kind = kind.splitlines()[0][:80]
        parts.append(
            Part(about.name, about.version, kind, texts, f"pkg:pypi/{about.name.lower()}@{about.version}")
        )
    return parts


def _libraries(folder: Path) -> list[Part]:
    """Return the packages of Debian of which a library is in the bundle."""
    if not shutil.which("dpkg-query"):
        return []
    names = [path.name for path in (folder / "_internal").glob("lib*.so*") if not path.is_symlink()]
    found = subprocess.run(
        ["dpkg-query", "--search", *(f"*/{name}" for name in names)],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    packages = sorted(
        {line.partition(":")[0] for line in found.splitlines() if not line.startswith("diversion")}
    )
    parts = []
    for name in packages:
        shown = subprocess.run(
            ["dpkg-query", "--show", "--showformat=${Version}\n", name],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        text = Path("/usr/share/doc", name, "copyright")
        texts = (text,) if text.is_file() else ()
        version = shown.splitlines()[0]
        parts.append(Part(name, version, "see the text", texts, f"pkg:deb/debian/{name}@{version}"))
    return parts
