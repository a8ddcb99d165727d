"""The scripts that make calls, on machines that lack something; other programs are replaced by scripts."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / ".ci"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="scripts of the POSIX shell")

PACKAGES = "libegl1 libxcb-image0"
NO_QT = "ImportError: libEGL.so.1: cannot open shared object file"


def run(
    name: str, *arguments: str | Path, cwd: Path = ROOT, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a script, in the environment of the tests without CI and NO_APT."""
    environment = {key: value for key, value in os.environ.items() if key not in ("CI", "NO_APT")}
    return subprocess.run(
        [str(SCRIPTS / name), *map(str, arguments)],
        cwd=cwd,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def write_program(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(tmp_path):
    """A machine whose Python has PySide6, but not the libraries that it needs; the user is root."""
    write_program(tmp_path / "id", "echo 0")
    write_program(tmp_path / "apt-get", f'echo "$@" >>"{tmp_path}/called"')
    write_program(
        tmp_path / "bin" / "python",
        'case "$*" in',
        f"*QApplication*) echo 'Traceback' >&2; echo '{NO_QT}' >&2; exit 1 ;;",
        f"*system_libraries*) echo {PACKAGES} ;;",
        '*pytest*) echo "$@"; exit "${CODE:-0}" ;;',
        "esac",
    )
    return tmp_path


def path_of(folder: Path) -> str:
    return f"{folder}:{os.environ['PATH']}"


def test_no_setting_of_the_machine_reaches_the_tests(tmp_path):
    settings = {
        "PYTHONPATH": "x",
        "PYTHONUNBUFFERED": "1",
        "QT_QPA_PLATFORM": "xcb",
        "OMP_NUM_THREADS": "1",
        "LANG": "de_DE",
        "DISPLAY": ":0",
        "XDG_CONFIG_HOME": "x",
        "TMPDIR": str(tmp_path),
    }
    done = run("clean-environment", "sh", "-c", 'env; ls -A "$HOME"; exit 7', CI="true", **settings)
    assert done.returncode == 7
    kept = dict(line.split("=", 1) for line in done.stdout.splitlines())  # and the home folder is empty
    assert {"LC_ALL": "C.UTF-8", "CI": "true", "TMPDIR": str(tmp_path)}.items() <= kept.items()
    assert kept.keys() <= {"PATH", "HOME", "LC_ALL", "CI", "TMPDIR", "PWD", "SHLVL", "_"}
    assert Path(kept["HOME"]).parent == tmp_path
    assert not Path(kept["HOME"]).exists()


def test_without_qt_the_last_lines_say_what_was_skipped_and_why(bare):
    done = run("test", bare / "bin" / "python", "-n", "2", PATH=path_of(bare))
    assert done.returncode == 0
    called, _, *last = done.stdout.splitlines()
    assert called == "-P -m pytest --installed -p no:pytest-qt --ignore tests/inpaint_app/window -n 2"
    assert last[0].startswith("SKIPPED: the tests of the window")
    assert last[1] == NO_QT
    assert last[2].endswith(f": {PACKAGES}")


@pytest.mark.parametrize(
    ("variables", "code"),
    [({"CI": "true"}, 1), ({"CODE": "3"}, 3), ({"CI": "1", "CODE": "3"}, 1), ({"CI": "false"}, 0)],
)
def test_skipping_fails_in_continuous_integration_alone(bare, variables, code):
    done = run("test", bare / "bin" / "python", PATH=path_of(bare), **variables)
    assert done.returncode == code


def test_with_qt_nothing_is_left_out(bare):
    python = write_program(bare / "bin" / "python", 'case "$*" in *pytest*) echo "$@" ;; esac')
    done = run("test", python, "-n", "2", CI="true")
    assert (done.returncode, done.stdout) == (0, "-P -m pytest --installed -n 2\n")


def test_apt_is_announced_before_it_is_called(bare):
    done = run("qt-libraries", bare / "bin" / "python", PATH=path_of(bare))
    assert done.returncode == 0
    (announced,) = done.stdout.splitlines()
    assert "NO_APT=1" in announced
    assert announced.endswith(f": {PACKAGES}")
    update, install = (bare / "called").read_text().splitlines()
    assert update.startswith("update")
    assert install.endswith(PACKAGES)
    assert done.stderr.count("\n") == 1, "they are missing still"


@pytest.mark.parametrize("reason", ["NO_APT", "no root"])
def test_packages_are_named_where_apt_may_not_be_called(bare, reason):
    if reason == "no root":
        write_program(bare / "id", "echo 1000")
        write_program(bare / "sudo", "exit 1")
    variables = {"NO_APT": "1"} if reason == "NO_APT" else {}
    done = run("qt-libraries", bare / "bin" / "python", PATH=path_of(bare), **variables)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.endswith(f": {PACKAGES}\n")
    assert done.stderr.count("\n") == 1
    assert not (bare / "called").exists()
    again = run("qt-libraries", bare / "bin" / "python", PATH=path_of(bare), **variables)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", ""), "it is told once"
    (bare / ".qt-told").write_text("others\n")
    assert run("qt-libraries", bare / "bin" / "python", PATH=path_of(bare), **variables).stderr


CONSTRAINTS = """\
# What pip installs for all.
# for: run core
first==1 \\
    --hash=sha256:01
# for: dev
second==2 \\
    --hash=sha256:02
# for: core dev
third==3 \\
    --hash=sha256:03
"""


def test_what_is_installed_is_what_the_file_holds_for_the_purpose(tmp_path):
    (tmp_path / "constraints.txt").write_text(CONSTRAINTS)
    python = write_program(tmp_path / "venv" / "bin" / "python", f'echo "$@" >"{tmp_path}/called"')
    assert run("install", python, "core", "--no-compile", cwd=tmp_path).returncode == 0
    requirements = tmp_path / "venv" / "core.txt"
    names = [line.split()[0] for line in requirements.read_text().splitlines() if "==" in line]
    assert names == ["first==1", "third==3"]
    called = (tmp_path / "called").read_text()
    assert "--no-deps --require-hashes" in called
    assert f"--requirement {requirements} --no-compile" in called


@pytest.mark.parametrize(
    ("words", "is_shown"),
    [
        ("WARNING: Retrying (Retry(total=4)) after connection broken", False),
        ("ERROR: HASHES DO NOT MATCH", True),
    ],
)
def test_without_a_network_one_sentence_says_so(tmp_path, words, is_shown):
    (tmp_path / "constraints.txt").write_text(CONSTRAINTS)
    python = write_program(tmp_path / "venv" / "bin" / "python", f"echo '{words}'; exit 1")
    done = run("install", python, "run", cwd=tmp_path)
    assert done.returncode == 1
    assert (words in done.stderr) == is_shown
    assert ("The first run needs a network" in done.stderr) != is_shown
    assert (tmp_path / "venv" / "pip.log").read_text() == f"{words}\n"


def test_pythons_that_do_not_run_are_not_found(tmp_path):
    write_program(tmp_path / "python3.99", "echo 'pyenv: command not found' >&2; exit 127")
    write_program(tmp_path / "pyenv", "exit 1")
    found = run("find-python", "3.99", PATH=path_of(tmp_path))
    assert (found.returncode, found.stdout, found.stderr) == (1, "", "")
    write_program(tmp_path / "pyenv", "echo 3.99.1")
    write_program(tmp_path / "python3.99", '[ "$PYENV_VERSION" = 3.99.1 ] && echo /there/python')
    assert run("find-python", "3.99", PATH=path_of(tmp_path)).stdout == "/there/python\n"


def test_environment_comes_from_the_first_python_that_can_make_one(tmp_path):
    write_program(tmp_path / "python3.11", "exit 127")
    write_program(tmp_path / "python3.12", '[ "$1" = -c ]')  # new enough, but without venv
    make_one = 'mkdir -p "$3/bin"; cp "$0" "$3/bin/python"'
    write_program(
        tmp_path / "python3.13", f"case $1 in -m) {make_one} ;; --version) echo Python 3.13.9 ;; esac"
    )
    done = run("make-environment", tmp_path / "new", PATH=path_of(tmp_path))
    assert done.stdout == f"Made {tmp_path}/new with Python 3.13.9.\n"
    refused = run("make-environment", tmp_path / "new", "python3.12", PATH=path_of(tmp_path))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "install python3-venv" in refused.stderr
    none = run("make-environment", tmp_path / "new", "python3.11", PATH=path_of(tmp_path))
    assert "Python 3.11 or later is needed" in none.stderr
