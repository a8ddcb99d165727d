"""Standard streams that are closed, full, or read by nobody any more."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from cli_files import write_pair

pytestmark = pytest.mark.skipif(os.name != "posix", reason="redirections of POSIX")
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
FULL = pytest.param("2>/dev/full", marks=needs_full)
SCRIPTS = Path(sysconfig.get_path("scripts"))
BUFFERING = pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])


def environment(unbuffered: str) -> dict[str, str]:
    return os.environ | {"PYTHONUNBUFFERED": unbuffered}


def run_redirected(redirection: str, *command: str | Path, cwd: Path, unbuffered: str = ""):
    """Run a command as a shell does, with redirections such as ``2>&-``."""
    line = ["sh", "-c", f'exec "$@" {redirection}', "sh", *map(str, command)]
    variables = environment(unbuffered)
    return subprocess.run(line, cwd=cwd, env=variables, capture_output=True, text=True, check=False)


def run_unread(*command: str | Path, cwd: Path, unbuffered: str = "") -> tuple[int, bytes]:
    """Run a command whose reader leaves at once, and return its exit code and what it says on stderr."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            command, cwd=cwd, env=environment(unbuffered), stdout=writer, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@BUFFERING
@pytest.mark.parametrize("command", ["inpaint", "inpaint-app"])
def test_help_that_nobody_reads(tmp_path, command, unbuffered) -> None:
    assert run_unread(SCRIPTS / command, "--help", cwd=tmp_path, unbuffered=unbuffered) == (0, b"")


def test_reader_that_leaves_does_not_stop_the_work(tmp_path) -> None:
    write_pair(tmp_path)
    assert run_unread(SCRIPTS / "inpaint", "restore", "broken.png", cwd=tmp_path) == (0, b"")
    assert (tmp_path / "broken_restored.png").exists()


@pytest.mark.parametrize(
    "redirection", ["2>&-", ">&-", "<&- >&- 2>&-", pytest.param("2>/dev/full", marks=needs_full)]
)
def test_work_is_done_where_a_stream_is_closed(tmp_path, redirection) -> None:
    write_pair(tmp_path)
    command = [SCRIPTS / "inpaint", "restore", "broken.png", "--no-estimate", "--reference", "whole.png"]
    done = run_redirected(redirection, *command, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Picture:") == (not redirection.startswith((">", "<")))
    run_redirected("", *command, "-o", "usual.png", cwd=tmp_path)
    assert (tmp_path / "broken_restored.png").read_bytes() == (tmp_path / "usual.png").read_bytes()


def test_no_file_takes_the_place_of_a_closed_stream(tmp_path) -> None:
    program = (
        "import sys\n"
        "from inpaint_app.cli import main\n"
        "main(['--version'])\n"
        "with open('new', 'w') as file:\n"
        "    sys.exit(file.fileno())\n"
    )
    done = run_redirected("<&- >&- 2>&-", sys.executable, "-P", "-c", program, cwd=tmp_path)
    assert done.returncode > 2


@pytest.mark.parametrize("redirection", ["2>&-", FULL])
def test_mistake_has_its_exit_code_where_it_cannot_be_told(tmp_path, redirection) -> None:
    assert run_redirected(redirection, SCRIPTS / "inpaint", "restore", "no.png", cwd=tmp_path).returncode == 2
    assert run_redirected(redirection, SCRIPTS / "inpaint-app", "--wrong", cwd=tmp_path).returncode == 2


@needs_full
@BUFFERING
@pytest.mark.parametrize(
    "words",
    [
        ["inpaint", "score", "whole.png", "whole.png"],
        ["inpaint", "score", "whole.png", "whole.png", "--json", "--quiet"],
        ["inpaint", "--help"],
        ["inpaint-app", "--help"],
    ],
    ids=" ".join,
)
def test_full_disk_under_the_output_is_one_sentence(tmp_path, words, unbuffered) -> None:
    write_pair(tmp_path)
    done = run_redirected(">/dev/full", SCRIPTS / words[0], *words[1:], cwd=tmp_path, unbuffered=unbuffered)
    sentence = "The output could not be printed (no space left on device); check where it is sent."
    assert (done.returncode, done.stderr) == (2, f"{words[0]}: {sentence}\n")
