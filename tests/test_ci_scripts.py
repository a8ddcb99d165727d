"""The scripts that make calls, on machines that lack something; other programs are replaced by scripts."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / ".ci"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="scripts of the POSIX shell")


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


def path_of(folder: Path) -> str:
    return f"{folder}:{os.environ['PATH']}"


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
