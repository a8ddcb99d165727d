"""The commands of `inpaint` as Markdown, for the page on the command line; see conf.py."""

import click

from inpaint_app.cli.arguments import Command
from inpaint_app.cli.program import COMMANDS, PROGRAM


def commands_as_markdown() -> str:
    """Return a section for each command, from what its `--help` is made from."""
    context = click.Context(PROGRAM)
    return "\n".join(_section(name, PROGRAM.get_command(context, name)) for name in COMMANDS)


def _section(name: str, command: Command) -> str:
    lines = [f"## {name}", "", f"```text\ninpaint {command.usage}\n```", "", command.help, ""]
    for group, records in command.groups():
        lines += [group.explanation, ""] if group.explanation else []
        lines += [f"| {group.heading} | |", "|---|---|"]
        lines += [f"| `{_cell(usage)}` | {_cell(text)} |" for usage, text in records]
        lines += [""]
    if command.details:
        lines += ["```text", command.details.strip("\n"), "```", ""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Return text that a cell of a table can hold."""
    return text.replace("|", "\\|").replace("<", "&lt;")
