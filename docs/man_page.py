"""Make the manual page of the command `inpaint` from what its `--help` is made from.

python docs/man_page.py > assets/inpaint.1
"""

import re
import sys
from collections.abc import Iterator

import click

from dictsel_core import __version__
from inpaint_app.cli.arguments import Command
from inpaint_app.cli.program import COMMANDS, DESCRIPTION, EXAMPLES, PROGRAM

_SEE_ALSO = "'inpaint COMMAND --help' prints the same on the terminal."


def man_page() -> str:
    """Return the page in the language of man."""
    context = click.Context(PROGRAM)
    commands = [PROGRAM.get_command(context, name) for name in COMMANDS]
    lines = [
        '.\\" Made by docs/man_page.py; do not edit.',
        f'.TH INPAINT 1 "" "inpaint {__version__}" "User Commands"',
        ".SH NAME",
        "inpaint \\- restore the missing pixels of damaged pictures",
        ".SH SYNOPSIS",
        *(f".B inpaint\n{_escape(command.usage)}\n.br" for command in commands),
        ".SH DESCRIPTION",
        *_paragraphs(DESCRIPTION),
        *_verbatim(EXAMPLES),
        ".SH COMMANDS",
    ]
    for command in commands:
        lines += [f".SS inpaint {_escape(command.usage)}", _escape(command.help), *_options(command)]
        lines += _verbatim(command.details)
    return "\n".join((*lines, ".SH SEE ALSO", _escape(_SEE_ALSO), ""))


def _options(command: Command) -> Iterator[str]:
    for group, records in command.groups():
        if group.explanation:
            yield from (".PP", _escape(group.explanation))
        for usage, text in records:
            names, value = re.fullmatch(r"((?:-\S+, )*\S+)(?: (.+))?", usage).groups()
            shown = f"\\fB{_escape(names)}\\fR"
            yield from (".TP", f"{shown} \\fI{_escape(value)}\\fR" if value else shown, _escape(text))


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
