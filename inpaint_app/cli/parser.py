"""Argument parsing with errors of one sentence that says what to do."""

import argparse
import difflib
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from dictsel_core.restoration import Parameter
from inpaint_app.cli.streams import CommandLineError, print_note, print_report
from inpaint_app.files.paths import STDIN, stdout_path
from inpaint_app.files.registry import suffixes, writable

AnyAction = TypeVar("AnyAction", bound=argparse.Action)

_VALUE_HINTS = {"--key": "put the color in quotes: --key '#ff00ff'"}


class BadValueError(Exception):
    """The text of an option is not a value of its type; the message stands after the option's name."""


class Parser(argparse.ArgumentParser):
    """A parser that raises `CommandLineError` where the standard one prints its usage and exits.

    Every check that argparse makes is met here by the method that makes it, so its messages are never read.
    """

    def __init__(self, **options: Any) -> None:  # noqa: ANN401  (the options of the standard parser)
        self._required: list[argparse.Action] = []
        super().__init__(allow_abbrev=False, formatter_class=_Formatter, **options)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, and refuse what is left over or left out."""
        words = sys.argv[1:] if args is None else list(args)
        for word in words[: words.index("--") if "--" in words else None]:
            self._refuse_value_of_flag(word)
        parsed, rest = super().parse_known_args(words, namespace)
        if rest:
            raise CommandLineError(self._unknown(rest[0]))
        missing = [_name(action) for action in self._required if getattr(parsed, action.dest) is None]
        if missing:
            raise CommandLineError(f"{' and '.join(missing)} is missing; {self._see_help}")
        return parsed, rest

    def error(self, message: str) -> NoReturn:
        """Refuse arguments that only argparse itself knows to be wrong."""
        raise CommandLineError(f"These arguments cannot be understood; {self._see_help}")

    @property
    def _see_help(self) -> str:
        return f"see '{self.prog} --help'."

    def _print_message(self, message: str, file: object = None) -> None:
        (print_note if file is sys.stderr else print_report)(message)

    def _add_action(self, action: AnyAction) -> AnyAction:
        added = super()._add_action(action)
        if added.required:  # checked when all is parsed
            added.required = False
            self._required.append(added)
        return added

    def _match_argument(self, action: argparse.Action, arg_strings_pattern: str) -> int:
        try:
            return super()._match_argument(action, arg_strings_pattern)
        except argparse.ArgumentError:
            hint = _VALUE_HINTS.get(_name(action))
            raise CommandLineError(
                f"{_name(action)} needs a value; " + (f"{hint}." if hint else self._see_help)
            ) from None

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:  # noqa: ANN401
        try:
            return super()._get_values(action, arg_strings)
        except BadValueError as error:
            raise CommandLineError(f"{_name(action)} {error}") from None

    def _check_value(self, action: argparse.Action, value: str) -> None:
        """Refuse a command that does not exist; options use `one_of` for their choices."""
        if action.choices is None or value in action.choices:
            return
        near = difflib.get_close_matches(value, action.choices, n=1)
        hint = f"did you mean '{self.prog} {near[0]}'?" if near else self._see_help
        raise CommandLineError(f"There is no command {value[:40]!r}; {hint}")

    def _refuse_value_of_flag(self, word: str) -> None:
        """Refuse ``--overwrite=yes`` and ``-hx``, which some versions of argparse take for ``-h``."""
        name, _, value = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
        action = self._option_string_actions.get(name)
        if value and action is not None and action.nargs == 0:
            raise CommandLineError(f"{name} takes no value; leave {value!r} out.")

    def _unknown(self, word: str) -> str:
        name = word.partition("=")[0]
        if name in self._option_string_actions:
            return f"{name} stands after --, where only names are expected; put it before --."
        if not name.startswith("-"):
            return f"{word!r} is an unexpected argument; put names with spaces in quotes."
        near = difflib.get_close_matches(name, self._option_string_actions, n=1)
        hint = f"did you mean {near[0]}?" if near else self._see_help
        return f"There is no option {name}; {hint}"


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of descriptions, and leaves room for long options."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)


def _name(action: argparse.Action) -> str:
    """Return an argument as the user knows it."""
    return action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)


def value_of(parameter: Parameter, otherwise: str = "") -> Callable[[str], Any]:
    """Return the type of what a parameter may be; `otherwise` names what else is possible."""
    wanted = f"{parameter.description} {otherwise}".rstrip()

    def parse(text: str) -> Any:  # noqa: ANN401  (of the kind that the parameter has)
        try:
            return parameter.checked(parameter.kind(text))
        except ValueError:
            raise BadValueError(f"needs {wanted}, not {text[:40]!r}.") from None

    return parse


def whole_number(minimum: int, maximum: int) -> Callable[[str], int]:
    """Return the type of whole numbers between two limits."""
    return value_of(Parameter(name="", kind=int, minimum=minimum, maximum=maximum))


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """Return the type of one of some names."""
    return value_of(Parameter(name="", kind=str, choices=tuple(names)))


def fraction(text: str) -> float:
    """Parse a fraction: 0.8 or 80%."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise BadValueError(
            f"needs a fraction between 0 and 1 such as 0.8, or between 0% and 100%, not {text[:40]!r}."
        )
    return value


def comma_separated(text: str) -> tuple[str, ...]:
    """Parse a list of names, separated by commas."""
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise BadValueError("needs names separated by commas, such as dct,haar.")
    return found


def input_path(text: str) -> Path:
    """Parse the name of a picture to read."""
    return STDIN if text == "-" else Path(text)


def output_path(text: str) -> Path:
    """Parse the name of a picture to write: also - or, with a format, png:-."""
    name, _, rest = text.rpartition(":")
    if text == "-" or (rest == "-" and not name):
        return stdout_path("")
    if rest != "-":
        return Path(text)
    if f".{name.lower()}" not in suffixes():  # whether it can be written is seen later
        known = ", ".join(f"{each.suffixes[0][1:]}:-" for each in writable())
        raise BadValueError(f"needs a file name, - or one of {known}, not {text[:40]!r}.")
    return stdout_path(f".{name}")
