"""Options that several commands share, and what their values may be."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dictsel_core import RestoreSettings
from dictsel_core.damage_kinds import DAMAGE_KINDS, USUAL_KINDS, DamageKind
from dictsel_core.restoration import CONSTRAINTS, FILLS, PRESETS, SELECTORS, Parameter
from inpaint_app.cli.arguments import PATH, TEXT, Argument, BadValueError, Group, Option, Value
from inpaint_app.engine.restore_file import BLOCK_STEP, DEFAULT_BLOCK
from inpaint_app.io.paths import STDIN, stdout_path
from inpaint_app.io.registry import format_names, lossy, suffixes, writable
from inpaint_app.io.write import DEFAULT_QUALITY
from inpaint_app.model.missing import GROW, SENSITIVITY, TOLERANCE
from inpaint_app.text import (
    CONSTRAINT_EXPLANATIONS,
    FILL_EXPLANATIONS,
    PRESET_EXPLANATIONS,
    SELECTOR_EXPLANATIONS,
)


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


_METHOD = Group("method")
_MISSING = Group(
    "missing pixels", "Transparent pixels (alpha = 0) and NaN always count as missing; to mark others:"
)
_SENSITIVITY = (
    "sensitivity of the detection: what is damage with a probability of at least 1 - S is marked "
    "(default 0.5)"
)
_DEFAULTS = RestoreSettings()


def _setting(usage: str, text: str, value: Value | None = None, field: str = "") -> Option:
    """Return an option for a field of `RestoreSettings`; a flag negates the default."""
    flag, *metavar = usage.split()
    name = field or flag.removeprefix("--").replace("-", "_")
    more: dict[str, Any] = {} if metavar else {"flag_value": not getattr(_DEFAULTS, name)}
    return Option(usage, text, value or value_of_setting(name), group=_METHOD, setting=name, **more)


def _listed(explanations: dict[str, str]) -> str:
    return " ".join(f"{name}: {text}" for name, text in explanations.items())


_BY_OBSERVED = "(default: by the fraction of observed pixels, and the rounds)"
#: Every setting that the command line offers.
SETTING_OPTIONS = (
    _setting(
        f"--constraint {'|'.join(CONSTRAINTS)}",
        f"{_listed(CONSTRAINT_EXPLANATIONS)} Default: {_DEFAULTS.constraint}.",
    ),
    _setting("--atoms K", f"dictionary size k {_BY_OBSERVED}", field="n_atoms"),
    _setting(
        "--sparsity S", f"maximum number of atoms per patch in the selection (default {_DEFAULTS.sparsity})"
    ),
    _setting(
        "--mean-sparsity A",
        f"average number of atoms per patch, under average sparsity (default {_DEFAULTS.mean_sparsity:g})",
    ),
    _setting("--coding-sparsity N", f"maximum number of atoms per patch in the coding {_BY_OBSERVED}"),
    _setting("--patch-size N", f"height and width of a patch in pixels (default {_DEFAULTS.patch_size})"),
    _setting(
        "--bases NAMES",
        f"bases of the ground set, separated by commas (default {','.join(_DEFAULTS.bases)})",
        NAMES,
    ),
    _setting(
        "--rounds N|auto",
        "rounds of non-local refinement, 0 for none, auto for eight (default: that of the preset)",
        ROUNDS,
    ),
    _setting(
        f"--selector {'|'.join(SELECTORS)}",
        f"how atoms are selected. {_listed(SELECTOR_EXPLANATIONS)} Default: rols if more than 30 % is "
        "missing, else romp.",
    ),
    _setting("--replace-observed", "replace observed pixels too, as the paper does", field="keep_observed"),
    _setting(
        f"--fill {'|'.join(FILLS)}|model=FILE",
        f"{_listed(FILL_EXPLANATIONS)} model=FILE: Holes wider than 16 pixels are filled by the network of "
        f"an ONNX file, in 'inpaint restore'. Default: {_DEFAULTS.fill}.",
        FILL,
    ),
    _setting("--literal", "select and code to the letter of the paper: slower, and usually a little worse"),
    _setting("--seed N", "seed of the random generator (default 0)"),
    _setting("--threads N", "number of threads (default: all cores)"),
)


def input_argument(what: str = "the damaged picture") -> Argument:
    """Return the picture to work on."""
    return Argument("input", "IN", INPUT, f"{what}: {format_names()}; - for standard input")


def output_options(what: str, *, required: bool = False) -> list[Option]:
    """Return the picture to write, and permission to replace it."""
    text = f"{what}, or a folder for it; - for standard output, png:- in the format PNG"
    return [
        Option("-o, --output OUT", text, OUTPUT, required=required),
        OVERWRITE,
    ]


OVERWRITE = Option("--overwrite", "replace existing files, even the source")


def _mark(usage: str, text: str, field: str, value: Value = TEXT, **more: Any) -> Option:
    """Return an option for a field of `MaskSpec`."""
    return Option(usage, text, value, group=_MISSING, setting=field, **more)


def mask_options(mask: str = "picture of the same size, white = missing") -> list[Option]:
    """Return where the missing pixels are."""
    trust = "use --mask as it is, even if it looks inverted or like a photograph"
    keep = "keep partly transparent pixels that border transparent ones; otherwise they are missing, too"
    key = "color that marks missing pixels: '#ff00ff', 255,0,255, magenta or 0"
    tolerance = (
        "maximum difference from --key in any channel (default: chosen for the picture, 0 if it has no loss)"
    )
    grow = (
        "pixels by which to grow what --mask and --key mark, since edges bleed "
        "(default 1, or 0 if missing pixels are scattered)"
    )
    detect = f"kinds of damage to detect, separated by commas: {', '.join(DAMAGE_KINDS)}"
    return [
        _mark("--mask M", mask, "mask", INPUT),
        _mark("--invert-mask", "black = missing instead", "invert_mask"),
        _mark("--trust-mask", trust, "trusts_mask"),
        _mark("--keep-soft-edges", keep, "soft_edges", flag_value=False),
        _mark("--key COLOR", key, "key"),
        _mark("--tolerance N", tolerance, "tolerance", value_of(TOLERANCE)),
        _mark("--grow-mask N", grow, "grow", value_of(GROW)),
        _mark("--detect KINDS", detect, "detect", KINDS),
        _mark("--sensitivity S", _SENSITIVITY, "sensitivity", value_of(SENSITIVITY)),
    ]


_WHAT_FOR = f"what to look for (default {','.join(USUAL_KINDS)})"
#: Which damage is looked for, and how sensitively.
DETECTION = [
    Option("--kinds KINDS", _WHAT_FOR, KINDS, default=USUAL_KINDS),
    Option("--sensitivity S", _SENSITIVITY, value_of(SENSITIVITY), default=0.5),
]


def method_options(*, without: str = "", default: str = "balanced", can_tune: bool = False) -> list[Option]:
    """Return how to restore: preset, or the default without one, recipe and settings, `without` one."""
    presets = f"{_listed(PRESET_EXPLANATIONS)} Default: {default}."
    recipe = "settings and mask options of an earlier run (see --write-recipe)"
    auto = "choose dictionary size, sparsity and mean sparsity by trials on held-out observed pixels"
    return [
        Option(f"--preset {'|'.join(PRESETS)}", presets, one_of(PRESETS), group=_METHOD),
        Option("--recipe R", recipe, PATH, group=_METHOD),
        *([Option("--auto", auto, group=_METHOD)] if can_tune else []),
        *(option for option in SETTING_OPTIONS if option.name != without),
    ]


def reference_option(*, required: bool = False) -> Option:
    """Return the undamaged picture."""
    text = "the undamaged picture, to measure against"
    return Option("--reference REF", text, INPUT, required=required)


DATA_RANGE = Option(
    "--data-range R",
    "the range of values that PSNR and SSIM refer to (default: 255 for 8 bits, otherwise the "
    "largest less the smallest value that is known)",
    value_of(Parameter(name="data_range", kind=float, minimum=0, excludes_minimum=True)),
)
_BEST = [each for each in lossy() if each.is_lossless_at_100]
#: How a picture is written.
ENCODING = [
    Option(
        "--quality Q",
        f"quality of {format_names(lossy(), 'and')}, 1 to 100 (default {DEFAULT_QUALITY}); "
        f"100 is lossless for {format_names(_BEST, 'and')}, and their default if the input is lossless",
        whole_number(1, 100),
    ),
    Option(
        "--depth 8|16", "bits per channel (default: as in the input, or 8 where OUT cannot hold 16)", DEPTH
    ),
]


def scheduler_option(what: str) -> Option:
    """Return the cluster that does the work."""
    where = "tcp://HOST:PORT, tls://HOST:PORT, or local:N for N processes on this machine"
    return Option("--scheduler S", f"{what} on a Dask cluster: {where}")


#: How a picture is restored in blocks.
BLOCKS = [
    scheduler_option("restore the picture in blocks"),
    Option(
        "--block N",
        f"side of a block in pixels, a multiple of {BLOCK_STEP} (default {DEFAULT_BLOCK})",
        whole_number(BLOCK_STEP, 2**16),
    ),
]
GRAIN = Option(
    "--grain",
    "give restored pixels the grain of those around, so that they do not show as smooth bands; "
    "not in pictures of floats, and not counted in PSNR and SSIM",
)
STRICT = Option(
    "--strict", "write nothing if metadata of the picture would be lost; otherwise they are named in a note"
)
#: How much is printed.
VERBOSITY = [
    Option("--quiet", "print no report, no notes and no progress bar"),
    Option("--verbose", "also print each stage as it begins, and all settings, to stderr"),
]
REPORTING = [Option("--json", "print one JSON document and nothing else to stdout"), *VERBOSITY]
