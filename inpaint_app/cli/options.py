"""Options that several commands share."""

from typing import Any

from dictsel_core import RestoreSettings
from dictsel_core.damage_kinds import DAMAGE_KINDS, USUAL_KINDS
from dictsel_core.restoration import CONSTRAINTS, FILLS, PRESETS, SELECTORS, Parameter
from inpaint_app.cli.arguments import PATH, Argument, Group, Option, Value
from inpaint_app.cli.values import (
    DEPTH,
    FILL,
    INPUT,
    KINDS,
    NAMES,
    OUTPUT,
    ROUNDS,
    one_of,
    value_of,
    value_of_setting,
    whole_number,
)
from inpaint_app.engine.restore_file import BLOCK_STEP, DEFAULT_BLOCK
from inpaint_app.io.registry import format_names, lossy
from inpaint_app.io.write import DEFAULT_QUALITY
from inpaint_app.model.mask_spec import GROW, SENSITIVITY, TOLERANCE
from inpaint_app.text.explanations import (
    CONSTRAINT_EXPLANATIONS,
    FILL_EXPLANATIONS,
    PRESET_EXPLANATIONS,
    SELECTOR_EXPLANATIONS,
)

_METHOD = Group("method")
_MISSING = Group(
    "missing pixels", "Transparent pixels (alpha = 0) and NaN always count as missing; to mark others:"
)
_DEFAULTS = RestoreSettings()
_DATA_RANGE = Parameter(name="data_range", kind=float, minimum=0, excludes_minimum=True)


def _setting(flag: str, metavar: str, text: str, value: Value | None = None, field: str = "") -> Option:
    """Return an option for a field of `RestoreSettings`; without a `metavar`, it negates the default."""
    name = field or flag.removeprefix("--").replace("-", "_")
    more: dict[str, Any] = {} if metavar else {"flag_value": not getattr(_DEFAULTS, name)}
    kind = value or value_of_setting(name)
    return Option(flag, name, metavar=metavar, value=kind, group=_METHOD, is_setting=True, help=text, **more)


def _listed(explanations: dict[str, str]) -> str:
    return " ".join(f"{name}: {text}" for name, text in explanations.items())


_BY_OBSERVED = "(default: by the fraction of observed pixels, and the rounds)"
#: Every setting that the command line offers.
SETTING_OPTIONS = (
    _setting(
        "--constraint",
        "|".join(CONSTRAINTS),
        f"{_listed(CONSTRAINT_EXPLANATIONS)} Default: {_DEFAULTS.constraint}.",
    ),
    _setting("--atoms", "K", f"dictionary size k {_BY_OBSERVED}", field="n_atoms"),
    _setting(
        "--sparsity",
        "S",
        f"maximum number of atoms per patch in the selection (default {_DEFAULTS.sparsity})",
    ),
    _setting(
        "--mean-sparsity",
        "A",
        f"average number of atoms per patch, under average sparsity (default {_DEFAULTS.mean_sparsity:g})",
    ),
    _setting("--coding-sparsity", "N", f"maximum number of atoms per patch in the coding {_BY_OBSERVED}"),
    _setting("--patch-size", "N", f"height and width of a patch in pixels (default {_DEFAULTS.patch_size})"),
    _setting(
        "--bases",
        "NAMES",
        f"bases of the ground set, separated by commas (default {','.join(_DEFAULTS.bases)})",
        NAMES,
    ),
    _setting(
        "--rounds",
        "N|auto",
        "rounds of non-local refinement, 0 for none, auto for eight unless held-out pixels get worse "
        "(default: that of the preset)",
        ROUNDS,
    ),
    _setting(
        "--selector",
        "|".join(SELECTORS),
        f"how atoms are selected. {_listed(SELECTOR_EXPLANATIONS)} Default: rols if more than 30 % is "
        "missing, else romp.",
    ),
    _setting(
        "--replace-observed", "", "replace observed pixels too, as the paper does", field="keep_observed"
    ),
    _setting(
        "--fill",
        f"{'|'.join(FILLS)}|model=FILE",
        f"{_listed(FILL_EXPLANATIONS)} model=FILE: Holes wider than 16 pixels are filled by the network of "
        f"an ONNX file, in 'inpaint restore'. Default: {_DEFAULTS.fill}.",
        FILL,
    ),
    _setting(
        "--every-patch", "", "code every patch, not every second or fourth one: a little better, but slower"
    ),
    _setting("--seed", "N", "seed of the random generator (default 0)"),
    _setting("--threads", "N", "number of threads (default: all cores)"),
)


def input_argument(what: str = "the damaged picture") -> Argument:
    """Return the picture to work on."""
    return Argument("input", "IN", INPUT, f"{what}: {format_names()}; - for standard input")


def output_options(what: str, *, required: bool = False) -> list[Option]:
    """Return the picture to write, and permission to replace it."""
    text = f"{what}, or a folder for it; - for standard output, png:- in the format PNG"
    return [
        Option("-o", "--output", metavar="OUT", value=OUTPUT, required=required, help=text),
        overwrite_option(),
    ]


def overwrite_option() -> Option:
    """Return permission to replace files."""
    return Option("--overwrite", help="replace existing files, even the source")


def mask_options(mask: str = "picture of the same size, white = missing") -> list[Option]:
    """Return where the missing pixels are."""
    options = [
        Option("--mask", metavar="M", value=INPUT, help=mask),
        Option("--invert-mask", help="black = missing instead"),
        Option("--trust-mask", help="use --mask as it is, even if it looks inverted or like a photograph"),
        Option(
            "--keep-soft-edges",
            help="keep partly transparent pixels that border transparent ones; otherwise they are missing, "
            "too",
        ),
        Option(
            "--key",
            metavar="COLOR",
            help="color that marks missing pixels: '#ff00ff', 255,0,255, magenta or 0",
        ),
        Option(
            "--tolerance",
            metavar="N",
            value=value_of(TOLERANCE),
            help="maximum difference from --key in any channel (default: chosen for the picture, 0 if it has "
            "no loss)",
        ),
        Option(
            "--grow-mask",
            metavar="N",
            value=value_of(GROW),
            help="pixels by which to grow what --mask and --key mark, since edges bleed "
            "(default 1, or 0 if missing pixels are scattered)",
        ),
        Option(
            "--detect",
            metavar="KINDS",
            value=KINDS,
            help=f"kinds of damage to detect, separated by commas: {', '.join(DAMAGE_KINDS)}",
        ),
        sensitivity_option(),
    ]
    for each in options:
        each.group = _MISSING
    return options


def kinds_option() -> Option:
    """Return the kinds of damage to look for."""
    text = f"what to look for (default {','.join(USUAL_KINDS)})"
    return Option("--kinds", metavar="KINDS", value=KINDS, default=USUAL_KINDS, help=text)


def sensitivity_option() -> Option:
    """Return how sensitive the detection of damage is."""
    text = (
        "sensitivity of the detection: what is damage with a probability of at least 1 - S is marked "
        "(default 0.5)"
    )
    return Option("--sensitivity", metavar="S", value=value_of(SENSITIVITY), help=text)


def method_options(*, without: str = "", preset: str = "balanced", can_tune: bool = False) -> list[Option]:
    """Return how to restore: preset and its default, recipe and settings, `without` one of them."""
    presets = f"{_listed(PRESET_EXPLANATIONS)} Default: {preset}."
    recipe = "settings and mask options of an earlier run (see --write-recipe)"
    auto = "choose dictionary size, sparsity and mean sparsity by trials on held-out observed pixels"
    return [
        Option("--preset", metavar="|".join(PRESETS), value=one_of(PRESETS), group=_METHOD, help=presets),
        Option("--recipe", metavar="R", value=PATH, group=_METHOD, help=recipe),
        *([Option("--auto", group=_METHOD, help=auto)] if can_tune else []),
        *(option for option in SETTING_OPTIONS if option.name != without),
    ]


def reference_option(*, required: bool = False) -> Option:
    """Return the undamaged picture."""
    text = "the undamaged picture, to measure against"
    return Option("--reference", metavar="REF", value=INPUT, required=required, help=text)


def data_range_option() -> Option:
    """Return what the PSNR refers to."""
    text = (
        "the range of values that PSNR and SSIM refer to (default: 255 for 8 bits, otherwise the "
        "largest less the smallest value that is known)"
    )
    return Option("--data-range", metavar="R", value=value_of(_DATA_RANGE), help=text)


def encoding_options() -> list[Option]:
    """Return how to write a picture."""
    best = [each for each in lossy() if each.is_lossless_at_100]
    quality = (
        f"quality of {format_names(lossy(), 'and')}, 1 to 100 (default {DEFAULT_QUALITY}); "
        f"100 is lossless for {format_names(best, 'and')}, and their default if the input is lossless"
    )
    depth = "bits per channel (default: as in the input, or 8 where OUT cannot hold 16)"
    return [
        Option("--quality", metavar="Q", value=whole_number(1, 100), help=quality),
        Option("--depth", metavar="8|16", value=DEPTH, help=depth),
    ]


def scheduler_option(what: str) -> Option:
    """Return the cluster that does the work."""
    where = "tcp://HOST:PORT, tls://HOST:PORT, or local:N for N processes on this machine"
    return Option("--scheduler", metavar="S", help=f"{what} on a Dask cluster: {where}")


def block_options() -> list[Option]:
    """Return how a picture is restored in blocks."""
    block = f"side of a block in pixels, a multiple of {BLOCK_STEP} (default {DEFAULT_BLOCK})"
    return [
        scheduler_option("restore the picture in blocks"),
        Option("--block", metavar="N", value=whole_number(BLOCK_STEP, 2**16), help=block),
    ]


def grain_option() -> Option:
    """Return the grain of restored pixels."""
    text = (
        "give restored pixels the grain of those around, so that they do not show as smooth bands; "
        "not in pictures of floats, and not counted in PSNR and SSIM"
    )
    return Option("--grain", help=text)


def strict_option() -> Option:
    """Return the refusal of losses."""
    text = "write nothing if metadata of the picture would be lost; otherwise they are named in a note"
    return Option("--strict", help=text)


def verbosity_options(*, json: bool = True) -> list[Option]:
    """Return how much to print."""
    document = Option("--json", help="print one JSON document and nothing else to stdout")
    return [
        *([document] if json else []),
        Option("--quiet", help="print no report, no notes and no progress bar"),
        Option("--verbose", help="also print each stage as it begins, and all settings, to stderr"),
    ]
