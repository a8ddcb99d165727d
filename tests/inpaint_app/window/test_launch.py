"""How the window is started, from the outside."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings  # noqa: TID251  (to put a trap there)

from dictsel_core import __version__
from inpaint_app import launch
from inpaint_app.io.read import read_picture
from inpaint_app.system import has_display


def run(*args: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess:
    variables = {
        name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")
    }
    variables |= {"XDG_CONFIG_HOME": str(cwd / "config"), "QT_QPA_PLATFORM": "offscreen", **environment}
    return subprocess.run(
        [sys.executable, "-P", "-m", "inpaint_app.launch", *args],
        cwd=cwd,
        env=variables,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def modules_after(statement: str) -> set[str]:
    command = f"import sys, json; {statement}; print(json.dumps(list(sys.modules)))"
    output = subprocess.run([sys.executable, "-P", "-c", command], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in json.loads(output.stdout)}


def test_the_window_loads_neither_scipy_nor_scikit_image() -> None:
    loaded = modules_after("import inpaint_app.window.app")
    assert "PySide6" in loaded
    assert not loaded & {"scipy", "skimage", "matplotlib"}


def test_canvases_panels_and_theme_load_no_numerical_library() -> None:
    names = ("viewer.panes", "canvas.canvas", "canvas.tools.registry", "widgets.sliders")
    names += ("panels.atom_gallery", "widgets.point_curve", "theme.theme", "theme.icons")
    loaded = modules_after("; ".join(f"import inpaint_app.window.{name}" for name in names))
    assert not loaded & {"scipy", "skimage", "dictsel_core", "matplotlib"}


def test_the_command_line_loads_no_qt() -> None:
    assert "PySide6" not in modules_after("import inpaint_app.cli, inpaint_app.launch, inpaint_app.__main__")


class Evil:
    """Runs a command when it is unpickled."""

    def __init__(self, command: str) -> None:
        self._command = command

    def __reduce__(self) -> tuple:
        return os.system, (self._command,)


def test_a_picture_of_the_window_runs_and_changes_nothing_that_is_remembered(tmp_path, files) -> None:
    shot, folder, mark = tmp_path / "shot.png", tmp_path / "config" / "dictsel", tmp_path / "was-run"
    folder.mkdir(parents=True)
    poison = QSettings(str(folder / "inpaint-app.ini"), QSettings.Format.IniFormat)
    for name in ("theme", "recent", "folder", "geometry", "state", "automatic"):
        poison.setValue(name, Evil(f"touch {mark}"))
    poison.sync()
    remembered = (folder / "inpaint-app.ini").read_bytes()
    (folder / "inpaint-app.json").write_bytes(remembered)
    done = run(
        *(str(files["damaged"]), "--reference", str(files["whole"])),
        *("--screenshot", "shot.png", "--size", "1100x700", "--theme", "dark"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    picture = read_picture(shot)
    assert (picture.width, picture.height) == (1100, 700)
    assert picture.pixels.std() > 10
    assert not mark.exists()
    assert (folder / "inpaint-app.json").read_bytes() == remembered
    again = run("--sample", "--screenshot", "shot.png", cwd=tmp_path)
    assert again.returncode == 2
    assert "already exists" in again.stderr
    assert "Traceback" not in again.stderr


def test_what_is_remembered_can_be_reset(tmp_path, files) -> None:
    remembered = tmp_path / "config" / "dictsel" / "inpaint-app.json"
    remembered.parent.mkdir(parents=True)
    remembered.write_text('{"theme": "light", "recent": ["/a.png"]}')
    done = run("--reset", str(files["damaged"]), "--screenshot", "s.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    stored = json.loads(remembered.read_text())
    assert (stored["theme"], stored["recent"]) == ("system", [])


def test_what_cannot_be_opened_is_a_sentence(tmp_path) -> None:
    done = run("nothing.png", "--screenshot", "shot.png", cwd=tmp_path)
    assert done.returncode == 2
    assert "does not exist" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "shot.png").exists()


def test_without_a_display_it_says_so(tmp_path) -> None:
    done = run("--sample", cwd=tmp_path)
    assert done.returncode == 1
    assert "no display" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_while_qt_loads_ends_without_a_traceback(tmp_path) -> None:
    program = (
        "import os, signal, sys\n"
        "class CtrlC:\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name == 'PySide6.QtWidgets': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, CtrlC)\n"
        "from inpaint_app.launch import main\n"
        "sys.exit(main(['--sample', '--screenshot', 'shot.png']))\n"
    )
    command = [sys.executable, "-P", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (130, "inpaint-app: Stopped.\n")


@pytest.mark.parametrize("size", ["12", "1280x", "axb", "10x10", "99999x900"])
def test_a_wrong_size_is_refused(size, capsys) -> None:
    assert launch.main(["--sample", "--size", size]) == 2
    assert size in capsys.readouterr().err


def test_a_mask_needs_a_picture(capsys) -> None:
    assert launch.main(["--mask", "m.png"]) == 2
    assert "FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, False),
        ({"DISPLAY": ":0"}, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, True),
        ({"DISPLAY": ":0", "QT_QPA_PLATFORM": "offscreen"}, False),
        ({"QT_QPA_PLATFORM": "vnc:size=800x600"}, True),
    ],
)
def test_displays_are_recognized(monkeypatch, variables, expected) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert has_display() is expected


def test_the_version_is_printed(capsys) -> None:
    assert launch.main(["--version"]) == 0
    assert capsys.readouterr().out == f"inpaint-app {__version__}\n"
