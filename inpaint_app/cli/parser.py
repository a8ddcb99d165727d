"""Argument parsing whose complaints are one sentence that says what to do."""

import argparse
import difflib
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from dictsel_core import Parameter
from inpaint_app.cli.streams import CommandLineError, print_note, print_report


class PrintingParser(argparse.ArgumentParser):
    """A parser that prints as all else is printed, so that a reader may leave."""

    def _print_message(self, message: str, file: object = None) -> None:
        (print_note if file is sys.stderr else print_report)(message)


class Parser(PrintingParser):
    """A parser that raises `CommandLineError` where the standard one prints its usage and exits."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401  (the options of the standard parser)
        options.setdefault("formatter_class", _Formatter)
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments."""
        command = re.match(r"argument COMMAND: invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if command:
            near = difflib.get_close_matches(command[1], re.findall(r"\w+", command[2]), n=1)
            hint = f"did you mean '{self.prog} {near[0]}'?" if near else f"see '{self.prog} --help'."
            raise CommandLineError(f"There is no command {command[1][:40]!r}; {hint}")
        raise CommandLineError(_sentence(message, self.prog))

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, and refuse what is left over, naming the option that may have been meant."""
        parsed, rest = super().parse_known_args(args, namespace)
        if rest:
            raise CommandLineError(self._unknown(rest[0]))
        return parsed, rest

    def _unknown(self, word: str) -> str:
        name = word.partition("=")[0]
        if not name.startswith("-"):
            return f"{word!r} is one word too many; put names that hold blanks in quotes."
        known = [option for action in self._actions for option in action.option_strings]
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"see '{self.prog} --help'."
        return f"There is no option {name}; {hint}"


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of descriptions, and leaves room for long options."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)


_PATTERNS: tuple[tuple[str, str], ...] = (
    (
        r"argument \S*/?(--key): expected one argument",
        "{0} needs a colour; put it in quotes: --key '#ff00ff'.",
    ),
    (r"argument (.+): expected (?:one|at least one) arguments?", "{0} needs a value; see '{prog} --help'."),
    (r"argument (.+): expected \d+ arguments?", "{0} needs more values; see '{prog} --help'."),
    (r"argument (.+): ignored explicit argument (.+)", "{0} takes no value; leave {1} out."),
    (r"argument (.+): not allowed with argument (.+)", "{0} and {1} exclude each other; give one of them."),
    (r"one of the arguments (.+) is required", "Something is missing: give one of {0}."),
    (r"the following arguments are required: (.+)", "{0} is missing; see '{prog} --help'."),
)


def _sentence(message: str, prog: str) -> str:
    """Turn a complaint of argparse into a sentence with advice."""
    for pattern, sentence in _PATTERNS:
        found = re.fullmatch(pattern, message, re.DOTALL)
        if found:
            return sentence.format(*found.groups(), prog=prog)
    found = re.fullmatch(r"argument ([^:]+): (.+)", message, re.DOTALL)
    if found:  # from the types below: "needs ..., not ..."
        return f"{found[1].split('/')[-1]} {found[2]}"
    return f"{message[:1].upper()}{message[1:]}; see '{prog} --help'."


def value_of(parameter: Parameter, otherwise: str = "") -> Callable[[str], Any]:
    """Return the type of what a parameter may be; `otherwise` names what else is possible."""
    wanted = f"{parameter.description} {otherwise}".rstrip()

    def parse(text: str) -> Any:  # noqa: ANN401  (of the kind that the parameter has)
        try:
            return parameter.checked(parameter.kind(text))
        except ValueError:
            raise argparse.ArgumentTypeError(f"needs {wanted}, not {text[:40]!r}.") from None

    return parse


def whole(least: int, most: int) -> Callable[[str], int]:
    """Return the type of whole numbers between two limits."""
    return value_of(Parameter(name="", kind=int, minimum=least, maximum=most))


def one_of(names: Iterable[str]) -> Callable[[str], str]:
    """Return the type of one of some names."""
    return value_of(Parameter(name="", kind=str, choices=tuple(names)))


def part(text: str) -> float:
    """Parse a part of a whole: 0.8 or 80%."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(
            f"needs a part between 0 and 1 such as 0.8, or between 0% and 100%, not {text[:40]!r}."
        )
    return value


def names(text: str) -> tuple[str, ...]:
    """Parse a list of names with commas between."""
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise argparse.ArgumentTypeError("needs names with commas between, such as dct,haar.")
    return found
