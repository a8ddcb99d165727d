"""`inpaint completion`: scripts that let shells complete commands, options and values."""

import os
from types import SimpleNamespace
from typing import ClassVar

from click.shell_completion import (
    CompletionItem,
    ShellComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from inpaint_app.cli.arguments import Argument, Command
from inpaint_app.cli.options import one_of
from inpaint_app.cli.program import COMPLETION_VARIABLE, PROGRAM
from inpaint_app.cli.streams import print_report

SHELLS = ("bash", "zsh", "fish", "powershell")
_POWERSHELL = """\
Register-ArgumentCompleter -Native -CommandName %(prog_name)s -ScriptBlock {
    param($word, $tree, $cursor)
    $env:%(complete_var)s = "powershell_complete"
    $env:COMP_WORDS = $tree.ToString()
    $env:COMP_WORD = $word
    %(prog_name)s | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
    Remove-Item Env:%(complete_var)s, Env:COMP_WORDS, Env:COMP_WORD -ErrorAction SilentlyContinue
}
"""


class _PowerShell(ShellComplete):
    """PowerShell, which click does not know."""

    name: ClassVar[str] = "powershell"
    source_template: ClassVar[str] = _POWERSHELL

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one to complete, and that one."""
        words, last = split_arg_string(os.environ["COMP_WORDS"])[1:], os.environ.get("COMP_WORD", "")
        return words[:-1] if last and words[-1:] == [last] else words, last

    def format_completion(self, item: CompletionItem) -> str:
        """Return a line of what the script reads."""
        return str(item.value)


add_completion_class(_PowerShell)


def _run(args: SimpleNamespace) -> int:
    shell = get_completion_class(args.shell)
    assert shell is not None, "one of the shells"
    print_report(shell(PROGRAM, {}, "inpaint", COMPLETION_VARIABLE).source())
    return 0


COMMAND = Command(
    f"completion {'|'.join(SHELLS)}",
    [Argument("shell", "SHELL", one_of(SHELLS), "the shell to complete in")],
    _run,
)
