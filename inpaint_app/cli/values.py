"""What the values of options may be."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dictsel_core import RestoreSettings
from dictsel_core.damage_kinds import DAMAGE_KINDS, DamageKind
from dictsel_core.restoration import FILLS, Parameter
from inpaint_app.cli.arguments import BadValueError, Value
from inpaint_app.io.paths import STDIN, stdout_path
from inpaint_app.io.registry import suffixes, writable


def value_of(parameter: Parameter, otherwise: str = "") -> Value:
    """Return the type of what a parameter may be; `otherwise` names what else is possible."""
    wanted = f"{parameter.description} {otherwise}".rstrip()

    def parse(text: str) -> Any:  # noqa: ANN401  (of the kind that the parameter has)
        try:
            return parameter.checked(parameter.kind(text))
        except ValueError:
            raise BadValueError(f"needs {wanted}, not {text[:40]!r}.") from None

    return Value(parse, choices=parameter.choices or ())


def value_of_setting(name: str, otherwise: str = "") -> Value:
    """Return the type of a field of `RestoreSettings`."""
    return value_of(RestoreSettings.parameters[name], otherwise)


def whole_number(minimum: int, maximum: int) -> Value:
    """Return the type of whole numbers between two limits."""
    return value_of(Parameter(name="", kind=int, minimum=minimum, maximum=maximum))


def one_of(names: Iterable[str]) -> Value:
    """Return the type of one of some names."""
    return value_of(Parameter(name="", kind=str, choices=tuple(names)))


def _fraction(text: str) -> float:
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise BadValueError(
            f"needs a fraction between 0 and 1 such as 0.8, or between 0% and 100%, not {text[:40]!r}."
        )
    return value


def _names(text: str, example: str = "dct,haar") -> tuple[str, ...]:
    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise BadValueError(f"needs names separated by commas, such as {example}.")
    return found


def _damage_kinds(text: str) -> tuple[DamageKind, ...]:
    given = [name.replace("-", "_") for name in _names(text, "scratches,dust")]
    for name in given:
        if name not in DAMAGE_KINDS:
            raise BadValueError(f"needs one or more of {','.join(DAMAGE_KINDS)}, not {name[:40]!r}.")
    return tuple(kind for kind in DAMAGE_KINDS if kind in given)


def _rounds(text: str) -> int | None:
    value: int | None = None if text == "auto" else value_of_setting("rounds", "or auto").parse(text)
    return value


def _fill(text: str) -> str | Path:
    if text.startswith("model="):
        return _input_path(text.removeprefix("model="))
    value: str = value_of_setting("fill", "or model=FILE").parse(text)
    return value


def _input_path(text: str) -> Path:
    return STDIN if text == "-" else Path(text)


def _output_path(text: str) -> Path:
    name, _, rest = text.rpartition(":")
    if text == "-" or (rest == "-" and not name):
        return stdout_path("")
    if rest != "-":
        return Path(text)
    if f".{name.lower()}" not in suffixes():  # whether it can be written is seen later
        known = ", ".join(f"{each.suffixes[0][1:]}:-" for each in writable())
        raise BadValueError(f"needs a file name, - or one of {known}, not {text[:40]!r}.")
    return stdout_path(f".{name}")


def _depth(text: str) -> int:
    return int(one_of(("8", "16")).parse(text))


#: 0.8 or 80%.
FRACTION = Value(_fraction)
#: Names, or kinds of damage, separated by commas.
NAMES, KINDS = Value(_names), Value(_damage_kinds, choices=DAMAGE_KINDS)
#: A number, or None for "auto".
ROUNDS = Value(_rounds, choices=("auto",))
#: How wide holes are filled; the path of a network for "model=FILE".
FILL = Value(_fill, choices=FILLS)
#: Bits per channel.
DEPTH = Value(_depth, choices=("8", "16"))
#: A picture to read, also - for standard input; one to write, also - or, with a format, png:-.
INPUT, OUTPUT = Value(_input_path, is_path=True), Value(_output_path, is_path=True)
