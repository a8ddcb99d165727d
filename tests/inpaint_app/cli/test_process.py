"""The command as a process: exit codes, signals, no Qt, a terminal."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest
from cli_files import contents, write_pair

from inpaint_app.cli.report import format_bar
from inpaint_app.text import format_duration

COMMAND = Path(sysconfig.get_path("scripts")) / "inpaint"
posix = pytest.mark.skipif(os.name != "posix", reason="signals and terminals of POSIX")


def run(*arguments, **options) -> subprocess.CompletedProcess:
    command = [str(COMMAND), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_installed_command_restores(tmp_path) -> None:
    whole, broken = write_pair(tmp_path)
    done = run("restore", broken, "--reference", whole, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["output"] == str(tmp_path / "broken_restored.png")
    again = run("restore", broken)
    assert again.returncode == 2
    assert again.stderr.count("\n") == 1
    assert "Traceback" not in again.stderr


def test_plain_terminals_show_any_name(tmp_path) -> None:
    _, broken = write_pair(tmp_path)
    broken = broken.rename(tmp_path / "Übung.png")
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    assert run("restore", broken, "--no-estimate", env=environment).returncode == 0


def test_every_command_runs_without_qt(tmp_path) -> None:
    whole, broken = write_pair(tmp_path)
    lines = [
        ["damage", whole, "-o", "d.png", "--scratches"],
        ["restore", broken, "-o", "r.png"],
        ["score", whole, "r.png"],
        ["compare", broken, "--reference", whole],
        ["tune", broken],
        ["dictionary", broken, "-o", "a.png"],
        ["batch", broken, "-o", "out"],
    ]
    program = (
        "import sys, json\n"
        "for name in ('PySide6', 'shiboken6'): sys.modules[name] = None\n"
        "from inpaint_app.cli import main\n"
        "from dictsel_core.evaluation import tuning\n"
        "tuning.N_ATOMS, tuning.CODING_SPARSITIES = (8, 12), (4,)\n"
        "sys.exit(max(main(line) for line in json.loads(sys.argv[1])))\n"
    )
    listing = json.dumps([[str(word) for word in words] for words in lines])
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, listing],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("command", ["restore broken.png -o old.png", "batch in -o out --jobs 2"])
def test_stopping_leaves_nothing_half_written(tmp_path, number, code, command) -> None:
    write_pair(tmp_path, shape=(600, 600), missing=0.8)
    (tmp_path / "old.png").write_bytes(b"old")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.png").write_bytes((tmp_path / "broken.png").read_bytes())
    before = contents(tmp_path)
    process = subprocess.Popen(
        [str(COMMAND), *command.split(), "--overwrite", "--threads", "1"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if command.startswith("restore"):
        assert process.stdout.readline().startswith("Picture:")
    else:
        while not (tmp_path / "out").exists():
            time.sleep(0.05)
        time.sleep(0.5)
    process.send_signal(number)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == code
    assert "Traceback" not in errors
    assert contents(tmp_path) == before
    assert not (tmp_path / "out").exists()


def run_program(program: str, *arguments: str, **options) -> subprocess.CompletedProcess:
    """Run lines of Python in a process of their own."""
    command = [sys.executable, "-P", "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, **options)


@posix
@pytest.mark.parametrize("module", ["inpaint_app.errors", "datetime", "inpaint_app.cli.program"])
def test_ctrl_c_while_the_libraries_load(module) -> None:
    # NumPy's compiled part loads datetime, and turns an exception there into an ImportError of its own.
    program = (
        "import os, signal, sys\n"
        "class CtrlC:\n"
        "    def find_spec(name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, CtrlC)\n"
        "from inpaint_app.cli import main\n"
        "sys.exit(main(['--version']))\n"
    )
    done = run_program(program)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "inpaint: Stopped.\n")


def test_ctrl_c_while_a_thread_starts(tmp_path) -> None:
    """Such a thread is on no list of those to be told that the end has come."""
    write_pair(tmp_path)
    program = (
        "import sys, threading\n"
        "from inpaint_app.cli import main\n"
        "real = threading.Thread.start\n"
        "def start(thread):\n"
        "    real(thread)\n"
        "    raise KeyboardInterrupt\n"
        "threading.Thread.start = start\n"
        "sys.exit(main())\n"
    )
    done = run_program(program, "restore", "broken.png", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (130, "inpaint: Stopped.\n")


# Writes with a signal at the end of the file, and with a second one while it is removed.
SIGNALLED = (
    "import os, pathlib, signal, sys\n"
    "from inpaint_app.cli import main\n"
    "number = signal.Signals[sys.argv.pop()]\n"
    "def strike(real):\n"
    "    def struck(*arguments, **options):\n"
    "        os.kill(os.getpid(), number)\n"
    "        return real(*arguments, **options)\n"
    "    return struck\n"
    "os.fsync, pathlib.Path.unlink = strike(os.fsync), strike(pathlib.Path.unlink)\n"
    "sys.exit(main())\n"
)


@posix
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_signal_while_writing_leaves_no_temporary_file(tmp_path, name, code) -> None:
    write_pair(tmp_path)
    before = contents(tmp_path)
    done = run_program(SIGNALLED, "restore", "broken.png", "-o", "new.png", name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (code, "")
    assert contents(tmp_path) == before


@posix
def test_under_nohup_it_outlives_its_terminal(tmp_path) -> None:
    write_pair(tmp_path)
    done = run_program(
        f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{SIGNALLED}",
        *("restore", "broken.png", "-o", "new.png", "SIGHUP"),
        cwd=tmp_path,
    )
    assert done.returncode == 0
    assert (tmp_path / "new.png").exists()


@posix
def test_progress_bar_appears_on_a_terminal_alone_and_goes(tmp_path) -> None:
    import pty

    write_pair(tmp_path, shape=(400, 400), missing=0.8)  # takes longer than the bar waits
    try:
        ours, theirs = pty.openpty()
    except OSError:
        pytest.skip("this system has no pseudo-terminals, as in a bare chroot")
    command = [str(COMMAND), "restore", "broken.png", "--no-estimate", "--threads", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the other end closes
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    assert process.wait(timeout=600) == 0
    assert b"% " in shown
    assert b"left" in shown
    assert shown.endswith(b"\r\x1b[K")


def test_bar_in_words() -> None:
    assert format_bar("coding", 0.5, 10) == "[############------------]  50 %  coding  10 s left"
    assert format_bar("coding", 0.0, None) == "[------------------------]   0 %  coding"
    assert format_bar("estimating", None, 10) == "estimating ..."
    assert [format_duration(seconds) for seconds in (0.2, 59, 61, 3720)] == [
        "1 s",
        "59 s",
        "1 min 01 s",
        "1 h 02 min",
    ]
