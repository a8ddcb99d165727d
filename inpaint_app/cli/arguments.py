"""Commands, options and arguments on click, with errors of one sentence that says what to do."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from types import MappingProxyType, SimpleNamespace
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from inpaint_app.cli.streams import CommandLineError, print_report
from inpaint_app.errors import UserError
from inpaint_app.io.paths import STDIN

_VALUE_HINTS = {"--key": "put the color in quotes: --key '#ff00ff'"}
_CONTEXT = {"max_content_width": 100}


@dataclass(frozen=True)
class Group:
    """A heading of the help, and what stands below it."""

    heading: str
    explanation: str = ""


ARGUMENTS, OPTIONS = Group("arguments"), Group("options")


class BadValueError(Exception):
    """The text of an option is not a value of its type; the message stands after the option's name."""


class Value(click.ParamType):  # type: ignore[type-arg]
    """The type of a value: a function from text, which may raise `BadValueError`; and its completion."""

    name = "value"

    def __init__(
        self, parse: Callable[[str], Any], *, choices: Iterable[str] = (), is_path: bool = False
    ) -> None:
        self.parse, self._choices, self._is_path = parse, tuple(choices), is_path

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Return the value of a text; a default is one already."""
        if not isinstance(value, str) or param is None or ctx is None:
            return value
        try:
            return self.parse(value)
        except BadValueError as error:
            raise CommandLineError(f"{_shown(param)} {error}") from None

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return what the text may become."""
        if self._is_path:
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(name) for name in self._choices if name.startswith(incomplete)]


TEXT, PATH = Value(str), Value(Path, is_path=True)


class Argument(click.Argument):
    """What is given by its place; with `several`, the rest of the places."""

    group = ARGUMENTS

    def __init__(
        self, name: str, metavar: str, value: Value, help_text: str, *, several: bool = False, **more: Any
    ) -> None:
        super().__init__([name], type=value, metavar=metavar, nargs=-1 if several else 1, **more)
        self.help = help_text


class Option(click.Option):
    """What is given by its name, such as "-o, --output OUT"; without a value after the names, it is a flag.

    A setting is among the `settings` of the parsed arguments, and only if it was given.
    """

    def __init__(
        self,
        usage: str,
        help_text: str,
        value: Value = TEXT,
        *,
        group: Group = OPTIONS,
        setting: str = "",
        **more: Any,
    ) -> None:
        *names, last = usage.replace(",", "").split()
        kind = {"metavar": last, "type": value} if not last.startswith("-") else {"is_flag": True}
        names = names if "metavar" in kind else [*names, last]
        super().__init__([*names, *([setting] if setting else [])], **kind, help=help_text, **more)
        self.group, self.is_setting = group, bool(setting)


class Command(click.Command):
    """A command: its usage (without the name of the program), parameters, and what runs it.

    The end of its help, with examples, explanations and JSON keys, is a file of `assets/help` with its name,
    in which some words have yet to be filled in; there is none if these are None.
    """

    def __init__(
        self,
        usage: str,
        parameters: Sequence[click.Parameter],
        run: Callable[[SimpleNamespace], int],
        words: Mapping[str, str] | None = MappingProxyType({}),
        about: str = "",
    ) -> None:
        self.usage, self._words, self._run = usage, words, run
        settings = {**_CONTEXT, "allow_extra_args": True}
        name, parameters = usage.split(maxsplit=1)[0], [*parameters, help_option()]
        super().__init__(name, settings, params=parameters, add_help_option=False, help=about)

    @property
    def details(self) -> str:
        """The end of the help."""
        from inpaint_app.io.assets import asset  # seldom needed

        if self._words is None:
            return ""
        page = asset("help", f"{self.name}.txt").read_text("utf-8")
        return Template(page).safe_substitute(self._words).rstrip("\n")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, and refuse what is left over."""
        words = args if ctx.resilient_parsing else _as_click_reads_them(ctx, args)
        rest = parse(super().parse_args, ctx, words)
        if rest and not ctx.resilient_parsing:
            raise CommandLineError(_unexpected(ctx, rest[0]))
        return rest

    def invoke(self, ctx: click.Context) -> int:
        """Run the command on the parsed arguments."""
        if sum(isinstance(value, Path) and value == STDIN for value in ctx.params.values()) > 1:
            raise UserError("Standard input can be read only once", "give a file for all but one of them")
        settings = {each.name for each in self.params if getattr(each, "is_setting", False)}
        given = {
            name
            for name in ctx.params
            if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE  # rather than by default
        }
        others = {name: value for name, value in ctx.params.items() if name not in settings}
        chosen = {name: ctx.params[name] for name in settings & given}
        return self._run(SimpleNamespace(**others, settings=chosen))

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help."""
        program = ctx.command_path.removesuffix(self.name or "").rstrip()
        formatter.write_usage(program or self.usage, self.usage if program else "", prefix="usage: ")
        formatter.write_paragraph()
        formatter.write_text(self.help or "")
        for group, records in self.groups():
            with formatter.section(group.heading):
                if group.explanation:
                    formatter.write_text(group.explanation)
                formatter.write_dl(records, col_max=28)
        if self.details:
            formatter.write(f"\n{self.details}\n")

    def groups(self) -> Iterator[tuple[Group, list[tuple[str, str]]]]:
        """Yield the groups of the help, each with the names and explanations of its members."""
        members: dict[Group, list[tuple[str, str]]] = {}
        for each in self.params:
            assert isinstance(each, Argument | Option)
            members.setdefault(each.group, []).append((_usage(each), each.help or ""))
        yield from members.items()


def help_option() -> Option:
    """Return the option that prints the help."""
    return _printing("-h, --help", "show this help and exit", lambda ctx: ctx.get_help())


def version_option(text: str) -> Option:
    """Return the option that prints the version."""
    return _printing("--version", "show the version and exit", lambda _: text)


def _printing(usage: str, help_text: str, text: Callable[[click.Context], str]) -> Option:
    """Return an option that prints a text, and ends the program."""

    def show(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not ctx.resilient_parsing:
            print_report(f"{text(ctx)}\n")
            ctx.exit()

    return Option(usage, help_text, expose_value=False, is_eager=True, callback=show)


def run_program(program: click.Command, name: str, words: Sequence[str]) -> int:
    """Parse the words of a command line, run what they ask for and return the exit code."""
    try:
        with program.make_context(name, list(words)) as context:
            code: int = program.invoke(context)
            return code
    except click.exceptions.Exit as end:  # after --help or --version
        return end.exit_code


def parse(
    parse_args: Callable[[click.Context, list[str]], list[str]], ctx: click.Context, args: list[str]
) -> list[str]:
    """Call a parser of click, and raise its errors as one sentence each."""
    try:
        return parse_args(ctx, args)
    except click.UsageError as error:
        raise CommandLineError(_sentence(ctx, error)) from None


def see_help(ctx: click.Context) -> str:
    """Return where to find more."""
    return f"see '{ctx.command_path} --help'."


def did_you_mean(word: str, known: Iterable[str], otherwise: str, shown: str = "{}") -> str:
    """Return a question for the known word that is most like another one."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {shown.format(near[0])}?" if near else otherwise


def _as_click_reads_them(ctx: click.Context, words: Sequence[str]) -> list[str]:
    """Return the words of a command line, -o=OUT as -o OUT, since click would take =OUT for the value.

    The name of an option is no value, unless it follows an equals sign. If help is asked for, nothing else
    matters.
    """
    flags = _flags(ctx.command)
    read: list[str] = []
    waiting: click.Option | None = None  # for its value
    for number, word in enumerate(words):
        if waiting is not None and (word in flags or word == "--"):
            raise CommandLineError(_needs_value(ctx, waiting))
        if word == "--":
            return [*read, *words[number:]]
        name, is_given, value = word.partition("=")
        option = flags.get(name) if waiting is None else None
        waiting = None
        if option is not None and option.name == "help":
            return [word]
        if option is None or option.is_flag:
            read.append(word)
        elif is_given and len(name) == len("-o"):
            read += name, value
        else:
            read.append(word)
            waiting = None if is_given or _may_stand_alone(option) else option
    return read


def _sentence(ctx: click.Context, error: click.UsageError) -> str:
    if isinstance(error, click.NoSuchOption):
        hint = did_you_mean(error.option_name, _flags(ctx.command), see_help(ctx))
        return f"There is no option {error.option_name}; {hint}"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        return f"{_shown(error.param)} is missing; {see_help(ctx)}"
    if isinstance(error, click.BadOptionUsage):
        option = _flags(ctx.command).get(error.option_name)
        if option is not None and not option.is_flag:
            return _needs_value(ctx, option)
        return f"{error.option_name} takes no value; give it alone."
    return f"These arguments cannot be understood; {see_help(ctx)}"


def _needs_value(ctx: click.Context, option: click.Option) -> str:
    hint = _VALUE_HINTS.get(_shown(option))
    return f"{_shown(option)} needs a value; " + (f"{hint}." if hint else see_help(ctx))


def _unexpected(ctx: click.Context, word: str) -> str:
    if word.partition("=")[0] in _flags(ctx.command):
        return f"{word} stands after --, where only names are expected; put it before --."
    return f"{word!r} is an unexpected argument; put names with spaces in quotes."


def _flags(command: click.Command) -> dict[str, click.Option]:
    """Return the options of a command by their names."""
    return {name: each for each in command.params if isinstance(each, click.Option) for name in each.opts}


def _shown(parameter: click.Parameter) -> str:
    """Return a parameter as the user knows it."""
    return parameter.opts[-1] if isinstance(parameter, click.Option) else str(parameter.metavar)


def _usage(parameter: click.Parameter) -> str:
    """Return a parameter with its value, as in the help."""
    if not isinstance(parameter, click.Option):
        return str(parameter.metavar)
    value = f"[{parameter.metavar}]" if parameter.is_flag is False and _may_stand_alone(parameter) else ""
    return " ".join(filter(None, (", ".join(parameter.opts), value or parameter.metavar)))


def _may_stand_alone(option: click.Option) -> bool:
    """Return whether the value of an option may be left out."""
    return isinstance(option.flag_value, Path)
