"""The scripts that make a program without Python; the program itself is driven by `make test-bundle`."""

import ast
import importlib
import importlib.util
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

BUNDLE = Path(__file__).parents[1] / ".ci" / "bundle"


def load(name):
    spec = importlib.util.spec_from_file_location(name, BUNDLE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def processor():
    return load("processor")


def test_the_best_kind_of_processor_is_chosen(processor):
    new, old = processor.LEVELS
    everything = {flag for flags in processor.LEVELS.values() for flag in flags}
    assert processor.level_of(everything | {"avx512f"}) == new
    assert processor.level_of(everything - {"avx2"}) == old
    assert processor.level_of(set()) == ""


@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [("darwin", "arm64", "apple-m1"), ("linux", "aarch64", ""), ("freebsd", "riscv64", "")],
)
def test_other_processors_have_one_kind_or_none(processor, monkeypatch, system, machine, expected):
    monkeypatch.setattr(processor.sys, "platform", system)
    monkeypatch.setattr(processor.platform, "machine", lambda: machine)
    assert processor.level() == expected


def test_what_the_user_has_set_stays(processor, monkeypatch):
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    monkeypatch.delenv("NUMBA_CPU_FEATURES", raising=False)
    processor.choose()
    assert os.environ["NUMBA_CPU_NAME"] == "generic"
    assert "NUMBA_CPU_FEATURES" not in os.environ


def modules_left_out():
    """Return what the specification of the bundle calls unused."""
    tree = ast.parse((BUNDLE / "inpaint.spec").read_text())
    (value,) = (
        node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "UNUSED"
    )
    return [
        name
        for element in value.elts
        for name in ast.literal_eval(element.value if isinstance(element, ast.Starred) else element)
    ]


#: Imports what is written on its standard input, line by line, while some modules cannot be imported.
IMPORT_WITHOUT = """
import importlib
import importlib.abc
import sys

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if any(f"{name}.".startswith(f"{each}.") for each in sys.argv[1:]):
            raise ModuleNotFoundError(f"{name} is left out")

sys.meta_path.insert(0, Missing())
for line in sys.stdin:
    module, name = line.split()
    try:
        if not hasattr(importlib.import_module(module), name):
            importlib.import_module(f"{module}.{name}")
    except ImportError as error:
        print(line.strip(), "-", error)
"""


def test_what_the_program_imports_is_not_left_out():
    wanted = set()
    for package in ("inpaint_app", "dictsel_core"):
        for file in Path(importlib.import_module(package).__file__).parent.rglob("*.py"):
            if "napari_plugin" in file.parts or file.name == "sklearn.py":
                continue
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.level == 0:
                    wanted |= {f"{node.module} {alias.name}" for alias in node.names}
    libraries = ("PIL", "imagecodecs", "numba", "numpy", "scipy", "skimage", "tifffile")
    lines = sorted(line for line in wanted if line.startswith(libraries))
    assert "skimage.segmentation flood" in lines
    command = [sys.executable, "-P", "-c", IMPORT_WITHOUT, *modules_left_out()]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True)
    assert done.stdout == ""


def icu_data(items):
    """Return data of ICU, as the library has them."""
    header = struct.pack("<H", 32) + b"\xda\x27" + bytes(8) + b"CmnD" + bytes(16)
    names = [f"icudt73l/{name}\0".encode() for name in items]
    at = 4 + 8 * len(items)
    starts = [at + sum(map(len, names[:number])) for number in range(len(names))]
    contents_at = at + sum(map(len, names))
    contents_at += -contents_at % 16
    table, contents = struct.pack("<I", len(items)), b""
    for start, content in zip(starts, items.values(), strict=True):
        table += struct.pack("<II", start, contents_at + len(contents))
        contents += content + bytes(-len(content) % 16)
    return header + table + b"".join(names) + bytes(contents_at - at - sum(map(len, names))) + contents


def test_locales_are_taken_out_of_the_data_of_icu():
    kept = {"coll/root.res": b"order", "root.res": b"root" * 9, "unames.icu": b"names"}
    locales = {"af.res": b"x" * 40, "coll/de.res": b"y" * 7, "zone/zu.res": b"z" * 99}
    everything = dict(sorted((kept | locales).items()))
    assert load("icu").reduced(icu_data(everything)) == icu_data(kept)


def test_licenses_and_bill_of_materials_name_what_is_inside(tmp_path):
    folder = tmp_path / "Inpaint"
    (folder / "_internal" / "numpy").mkdir(parents=True)
    toc = tmp_path / "pyinstaller" / "inpaint" / "PYZ-00.toc"
    toc.parent.mkdir(parents=True)
    toc.write_text("[('click', '/somewhere/click/__init__.py', 'PYMODULE')]")
    load("licenses").write(folder)
    components = json.loads((folder / "sbom.json").read_text())["components"]
    names = {each["name"] for each in components}
    assert {"python", "numpy", "click"} <= names
    assert "scipy" not in names
    assert all(each["version"] and each["purl"].startswith("pkg:") for each in components)
    listed = (folder / "licenses" / "README.txt").read_text()
    assert "numpy" in listed
    assert (folder / "licenses" / "click.txt").stat().st_size > 0


@pytest.mark.skipif(os.name != "posix", reason="scripts of the POSIX shell")
def test_what_install_adds_uninstall_removes(tmp_path):
    unpacked, home = tmp_path / "a folder", tmp_path / "home"
    (unpacked / "share").mkdir(parents=True)
    home.mkdir()
    for name in ("install.sh", "uninstall.sh"):
        (unpacked / name).write_bytes((BUNDLE / name).read_bytes())
        (unpacked / name).chmod(0o755)
    for name in ("org.dictsel.inpaint.desktop", "icon.svg", "inpaint.1"):
        (unpacked / "share" / name).write_bytes((BUNDLE.parents[1] / "assets" / name).read_bytes())
    for name in ("inpaint", "inpaint-app"):
        (unpacked / name).write_text("#!/bin/sh\necho started\n")
        (unpacked / name).chmod(0o755)

    def run(path):
        environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
        return subprocess.run([path], env=environment, capture_output=True, text=True, check=False)

    (home / ".local" / "bin").mkdir(parents=True)
    (home / ".local" / "bin" / "inpaint").write_text("something else")
    refused = run(unpacked / "install.sh")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    (home / ".local" / "bin" / "inpaint").unlink()

    for _ in range(2):  # a second time replaces the first
        done = run(unpacked / "install.sh")
        assert (done.returncode, done.stderr) == (0, "")
    assert run(home / ".local" / "bin" / "inpaint").stdout == "started\n"
    entry = home / ".local" / "share" / "applications" / "org.dictsel.inpaint.desktop"
    assert f'Exec="{home}/.local/share/inpaint-app/inpaint-app" %f' in entry.read_text()
    (home / "picture.png").touch()
    done = run(home / ".local" / "share" / "inpaint-app" / "uninstall.sh")
    assert (done.returncode, done.stderr) == (0, "")
    assert [path for path in home.rglob("*") if not path.is_dir()] == [home / "picture.png"]
