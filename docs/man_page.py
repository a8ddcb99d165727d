"""Make the manual page of the command `inpaint` from what its `--help` is made from.

python docs/man_page.py > assets/inpaint.1
"""

import argparse
import re
import sys
from collections.abc import Iterator

from dictsel_core import __version__
from inpaint_app.cli.program import COMMANDS, parser

_SEE_ALSO = "'inpaint COMMAND --help' prints the same on the terminal."


def man_page() -> str:
    """Return the page in the language of man."""
    top = parser()
    commands = next(each for each in top._actions if isinstance(each, argparse._SubParsersAction))
    lines = [
        '.\\" Made by docs/man_page.py; do not edit.',
        f'.TH INPAINT 1 "" "inpaint {__version__}" "User Commands"',
        ".SH NAME",
        "inpaint \\- restore the missing pixels of damaged pictures",
        ".SH SYNOPSIS",
        *(f".B inpaint\n{_escape(command.usage)}\n.br" for command in COMMANDS),
        ".SH DESCRIPTION",
        *_paragraphs(top.description or ""),
        *_verbatim(top.epilog or ""),
        ".SH COMMANDS",
    ]
    for command in COMMANDS:
        lines += [f".SS inpaint {_escape(command.usage)}", _escape(command.summary)]
        lines += _options(commands.choices[command.name])
        lines += _verbatim(command.details)
    return "\n".join((*lines, ".SH SEE ALSO", _escape(_SEE_ALSO), ""))


def _options(own: argparse.ArgumentParser) -> Iterator[str]:
    for group in own._action_groups:
        actions = [action for action in group._group_actions if action.help]
        if group.description and actions:
            yield from (".PP", _escape(group.description))
        for action in actions:
            value = "" if action.nargs == 0 else str(action.metavar or action.dest)
            names = ", ".join(action.option_strings) or value
            shown = f"\\fB{_escape(names)}\\fR"
            if action.option_strings and value:
                shown += f" \\fI{_escape(f'[{value}]' if action.nargs == '?' else value)}\\fR"
            yield from (".TP", shown, _escape((action.help or "").replace("%%", "%")))


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        yield from (".PP", _escape(" ".join(paragraph.split())))


def _verbatim(text: str) -> Iterator[str]:
    """Yield text that keeps its lines, such as examples."""
    yield from (".PP", ".nf", *(_escape(line) for line in text.splitlines()), ".fi")


def _escape(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", escaped)


if __name__ == "__main__":
    sys.stdout.write(man_page())
