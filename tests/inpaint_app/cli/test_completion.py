"""Completion scripts and the manual page say what the parser says."""

import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from inpaint_app.cli import main
from inpaint_app.cli.commands.completion import SCRIPTS, summarize
from inpaint_app.cli.program import COMMANDS, parser

ROOT = Path(__file__).parents[3]
CASES = {
    "": ["restore", "batch", "completion", "--version"],
    "re": ["repair", "restore"],
    "restore --pre": ["--preset"],
    "restore --preset ": ["paper", "fast", "balanced", "best"],
    "restore a.png --depth ": ["8", "16"],
    "completion ": ["bash", "zsh", "fish", "powershell"],
    "score --j": ["--json"],
}


@pytest.mark.parametrize("shell", SCRIPTS)
def test_every_command_and_option_is_in_the_script(shell, capsys) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for command in summarize(parser()):
        assert command.name in script
        for option in command.options:
            for flag in option.flags:
                assert flag.lstrip("-") in script
    assert script.count("{") == script.count("}")
    if shell != "powershell" and shutil.which(shell):
        subprocess.run([shell, "-n", "-c", script], check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(("typed", "expected"), CASES.items())
def test_bash_completes(typed, expected, tmp_path) -> None:
    words = ["inpaint", *typed.split(" ")]
    (tmp_path / "script").write_text(SCRIPTS["bash"](summarize(parser())))
    line = " ".join(f"'{word}'" for word in words)
    asked = (
        f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _inpaint; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    command = ["bash", "-c", f". {tmp_path}/script; {asked}"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert set(expected) <= set(found)
    assert typed == "" or found == expected


def test_the_manual_page_is_up_to_date() -> None:
    make = runpy.run_path(str(ROOT / "docs" / "man_page.py"))["man_page"]
    page = make()
    assert (ROOT / "assets" / "inpaint.1").read_text() == page, (
        "run python docs/man_page.py > assets/inpaint.1"
    )
    for command in COMMANDS:
        assert f".SS inpaint {command.name}" in page
