"""Completion scripts and the manual page say what the parser says."""

import re
import runpy
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from inpaint_app.cli import main
from inpaint_app.cli.commands.completion import SHELLS
from inpaint_app.cli.program import COMMANDS, COMPLETION_VARIABLE

ROOT = Path(__file__).parents[3]
CASES = {
    "": ["restore", "batch", "completion"],
    "--ver": ["--version"],
    "re": ["repair", "restore"],
    "restore --pre": ["--preset"],
    "restore --preset ": ["paper", "fast", "balanced", "best", "finest"],
    "restore a.png --depth ": ["8", "16"],
    "completion ": ["bash", "zsh", "fish", "powershell"],
    "score --j": ["--json"],
}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_asks_the_program(shell, capsys) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert COMPLETION_VARIABLE in script
    assert f"{shell}_complete" in script
    assert script.count("{") == script.count("}")
    if shell != "powershell" and shutil.which(shell):
        subprocess.run([shell, "-n", "-c", script], check=True, capture_output=True)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("typed", "expected"), CASES.items())
def test_what_a_word_may_become(shell, typed, expected, monkeypatch, capsys) -> None:
    *before, last = ["inpaint", *typed.split(" ")]
    monkeypatch.setenv(COMPLETION_VARIABLE, f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join([*before, last]))
    monkeypatch.setenv("COMP_CWORD", last if shell == "fish" else str(len(before)))
    monkeypatch.setenv("COMP_WORD", last)
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = {word for line in lines for word in re.split(r"[,\t]", line)}
    assert set(expected) <= found
    others = {name for name in COMMANDS if name not in expected}
    assert typed == "" or not others & found


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_in_earnest(tmp_path, capsys) -> None:
    assert main(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    asked = (
        "COMP_WORDS=(inpaint restore --preset ''); COMP_CWORD=3; _inpaint_completion inpaint; "
        "printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    variables = {"PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin", "HOME": str(tmp_path)}
    found = subprocess.run(
        ["bash", "-c", f". {tmp_path}/script; {asked}"],
        check=True,
        capture_output=True,
        text=True,
        env=variables,
    ).stdout.split()
    assert found == ["paper", "fast", "balanced", "best", "finest"]


def test_the_manual_page_is_up_to_date() -> None:
    make = runpy.run_path(str(ROOT / "docs" / "man_page.py"))["man_page"]
    page = make()
    assert (ROOT / "assets" / "inpaint.1").read_text() == page, (
        "run python docs/man_page.py > assets/inpaint.1"
    )
    for name in COMMANDS:
        assert f".SS inpaint {name}" in page
