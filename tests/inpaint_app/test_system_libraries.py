"""Which libraries of the system are missing, and what their packages are called."""

import sys
from importlib.machinery import ModuleSpec

import pytest

from inpaint_app import launch, system_libraries
from inpaint_app.system_libraries import missing_packages, package_of

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="libraries of Linux")

LDD = "libEGL.so.1 => not found\\n\\tlibc.so.6 => /lib/libc.so.6\\nlibxcb-image.so.0 => not found\\n"


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system with PySide6, a font, and what `ldd` says; its folder."""
    (tmp_path / "PySide6").mkdir()
    (tmp_path / "PySide6" / "QtWidgets.abi3.so").write_bytes(b"no library")
    (tmp_path / "fonts").mkdir()
    (tmp_path / "fonts" / "some.ttf").touch()
    spec = ModuleSpec("PySide6", None)
    spec.submodule_search_locations = [str(tmp_path / "PySide6")]
    monkeypatch.setattr(system_libraries.importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(system_libraries, "_FONT_FOLDERS", (str(tmp_path / "fonts"),))
    monkeypatch.setattr(system_libraries, "_FONT_SETTINGS", str(tmp_path / "fonts" / "some.ttf"))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def write_ldd(folder, text):
    (folder / "ldd").write_text(f"#!/bin/sh\nprintf '{text}'\n")
    (folder / "ldd").chmod(0o755)


@pytest.mark.parametrize(
    ("library", "package"),
    [
        ("libGL.so.1", "libgl1"),
        ("libxcb-cursor.so.0", "libxcb-cursor0"),
        ("libxcb.so.1", "libxcb1"),
        ("libxcb-icccm.so.4", "libxcb-icccm4"),
        ("libxkbcommon.so.0", "libxkbcommon0"),
        ("libunheard.so.7", "libunheard.so.7"),
    ],
)
def test_packages_have_the_names_of_debian(library, package):
    assert package_of(library) == package


def test_libraries_that_are_missing_are_named_by_their_packages(system):
    write_ldd(system, LDD)
    assert missing_packages() == ["libegl1", "libxcb-image0"]


def test_where_all_is_there_nothing_is_named(system):
    write_ldd(system, "libc.so.6 => /lib/libc.so.6\\n")
    assert missing_packages() == []


def test_without_ldd_the_library_that_cannot_be_loaded_is_named(system):
    assert missing_packages() == [str(system / "PySide6" / "QtWidgets.abi3.so")]


def test_a_system_without_letters_needs_a_font(system):
    write_ldd(system, "")
    (system / "fonts" / "some.ttf").unlink()
    assert missing_packages() == ["fontconfig-config", "fonts-dejavu-core"]


def test_the_window_says_what_to_install_before_qt_ends_the_process(monkeypatch, capfd):
    monkeypatch.setattr(launch, "missing_packages", lambda: ["libegl1", "libxcb-cursor0"])
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":77")
    assert launch.main([]) == 1
    said = capfd.readouterr().err
    assert said == "inpaint-app: The window cannot open; first install libegl1 libxcb-cursor0\n"
