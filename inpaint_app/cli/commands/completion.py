"""`inpaint completion`: scripts for shells that complete commands, options and values."""

import argparse
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from inpaint_app.cli.command import Command
from inpaint_app.cli.parser import input_path, one_of, output_path
from inpaint_app.cli.streams import print_report

_DETAILS = """\
examples:
  inpaint completion bash > ~/.local/share/bash-completion/completions/inpaint
  inpaint completion zsh > ~/.zfunc/_inpaint
  inpaint completion fish > ~/.config/fish/completions/inpaint.fish
  inpaint completion powershell >> $PROFILE

For zsh, ~/.zfunc must be in fpath before compinit is called. Open a new shell
afterwards."""

#: Names to choose from; "name=VALUE" may follow.
_NAMES = re.compile(r"([a-z0-9_]+(?:\|[a-z0-9_]+)+)(?:\|[a-z]+=[A-Z]+)?")
_FILES = (Path, input_path, output_path)


@dataclass(frozen=True)
class Option:
    """An option as a shell knows it: its names, its help, whether it takes a value, and which ones."""

    flags: tuple[str, ...]
    help: str
    takes_value: bool
    choices: tuple[str, ...] = ()
    takes_file: bool = False


@dataclass(frozen=True)
class CommandSummary:
    """A command with its options."""

    name: str
    summary: str
    options: tuple[Option, ...]


def summarize(top: argparse.ArgumentParser) -> list[CommandSummary]:
    """Return the commands of a parser, with their options."""
    commands = next(each for each in top._actions if isinstance(each, argparse._SubParsersAction))
    helps = {choice.dest: choice.help or "" for choice in commands._choices_actions}
    return [
        CommandSummary(name, helps[name], tuple(_options(parser)))
        for name, parser in commands.choices.items()
    ]


def _options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for action in parser._actions:
        names = _NAMES.fullmatch(action.metavar) if isinstance(action.metavar, str) else None
        yield Option(
            flags=tuple(action.option_strings),
            help=(action.help or "").replace("%%", "%"),
            takes_value=action.nargs != 0,
            choices=tuple(names[1].split("|")) if names else (),
            takes_file=action.type in _FILES or not action.option_strings,
        )


def bash_script(commands: list[CommandSummary]) -> str:
    """Return a script for bash; where it finds nothing, bash completes names of files."""
    cases, values = [], []
    for command in commands:
        flags = " ".join(flag for option in command.options for flag in option.flags)
        cases.append(f'        {command.name}) words="{flags}" ;;')
        for option in command.options:
            if option.choices:
                patterns = "|".join(f'"{command.name} {flag}"' for flag in option.flags or (command.name,))
                values.append(f'        {patterns}) words="{" ".join(option.choices)}" ;;')
    return "\n".join(
        (
            "# Completion of the command inpaint in bash.",
            "_inpaint() {",
            '    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=""',
            "    COMPREPLY=()",
            '    if [ "$COMP_CWORD" -eq 1 ]; then',
            f'        words="{" ".join(command.name for command in commands)} --help --version"',
            '    elif [[ $word == -* ]]; then case "${COMP_WORDS[1]}" in',
            *cases,
            '    esac else case "${COMP_WORDS[1]} $before" in',
            *values,
            "    esac fi",
            '    [ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$word"))',
            "}",
            "complete -o default -F _inpaint inpaint",
            "",
        )
    )


def zsh_script(commands: list[CommandSummary]) -> str:
    """Return a script for zsh."""
    lines = [
        "#compdef inpaint",
        "# Completion of the command inpaint in zsh.",
        "_inpaint() {",
        "    if (( CURRENT == 2 )); then",
        "        local -a commands=(",
        *(f"            {shlex.quote(f'{command.name}:{command.summary}')}" for command in commands),
        "        )",
        "        _describe command commands",
        "        return",
        "    fi",
        "    local command=$words[2]",
        "    shift words; (( CURRENT-- ))",
        '    case "$command" in',
    ]
    for command in commands:
        lines += [f"        {command.name}) _arguments \\", *_zsh_arguments(command), "            ;;"]
    return "\n".join((*lines, "    esac", "}", '_inpaint "$@"', ""))


def _zsh_arguments(command: CommandSummary) -> Iterator[str]:
    places = []
    for option in command.options:
        values = f"({' '.join(option.choices)})" if option.choices else "_files" if option.takes_file else ""
        if not option.flags:
            places.append(f"            {shlex.quote(f'*: :{values}')} \\")
            continue
        explanation = re.sub(r"[\[\]:\\]", " ", option.help)
        for flag in option.flags:
            value = f": :{values}" if option.takes_value else ""
            yield f"            {shlex.quote(f'{flag}[{explanation}]{value}')} \\"
    yield from places[:1]


def fish_script(commands: list[CommandSummary]) -> str:
    """Return a script for fish."""
    lines = ["# Completion of the command inpaint in fish."]
    for command in commands:
        about = shlex.quote(command.summary)
        lines.append(f"complete -c inpaint -n __fish_use_subcommand -f -a {command.name} -d {about}")
        where = f"complete -c inpaint -n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            names = " ".join(f"-{'l' if flag[1] == '-' else 's'} {flag.lstrip('-')}" for flag in option.flags)
            values = f" -a '{' '.join(option.choices)}'" if option.choices else ""
            kind = " -r" if option.takes_file else " -x" if option.takes_value else ""
            if option.flags:
                text = re.sub(r"(['\\])", r"\\\1", option.help)
                lines.append(f"{where} {names}{kind}{values} -d '{text}'")
            elif values:
                lines.append(f"{where} -f{values}")
    return "\n".join((*lines, ""))


def powershell_script(commands: list[CommandSummary]) -> str:
    """Return a script for PowerShell."""
    lines = [
        "# Completion of the command inpaint in PowerShell.",
        "Register-ArgumentCompleter -Native -CommandName inpaint -ScriptBlock {",
        "    param($word, $tree, $cursor)",
        "    $words = @($tree.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })",
        "    $before = @($words | Where-Object { $_ -ne $word })",
        "    $last = if ($before.Count) { $before[-1] } else { '' }",
        "    $command = if ($before.Count) { $before[0] } else { '' }",
        "    $found = switch -Exact ($command) {",
    ]
    for command in commands:
        choices = {flag: option.choices for option in command.options for flag in option.flags}
        named = [f"'{flag}' {{ {_listed(values)} }}" for flag, values in choices.items() if values]
        places = [name for option in command.options if not option.flags for name in option.choices]
        others = _listed((*choices, *places))
        cases = " ".join((*named, f"default {{ {others} }}"))
        lines.append(f"        '{command.name}' {{ switch -Exact ($last) {{ {cases} }} }}")
    names = _listed((*(command.name for command in commands), "--help", "--version"))
    return "\n".join(
        (
            *lines,
            f"        default {{ {names} }}",
            "    }",
            '    $found | Where-Object { $_ -like "$word*" } | ForEach-Object {',
            "        [System.Management.Automation.CompletionResult]::new($_)",
            "    }",
            "}",
            "",
        )
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


SCRIPTS: dict[str, Callable[[list[CommandSummary]], str]] = {
    "bash": bash_script,
    "zsh": zsh_script,
    "fish": fish_script,
    "powershell": powershell_script,
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "shell", metavar="|".join(SCRIPTS), type=one_of(SCRIPTS), help="the shell to complete in"
    )


def _run(args: argparse.Namespace) -> int:
    print_report(SCRIPTS[args.shell](summarize(args.parser)))
    return 0


COMMAND = Command(
    f"completion {'|'.join(SCRIPTS)}",
    "Print a script that lets a shell complete commands, options and names of files.",
    _DETAILS,
    _add_options,
    _run,
)
