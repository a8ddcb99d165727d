"""Options that several commands share."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dictsel_core import RestoreSettings
from dictsel_core.damage_kinds import DAMAGE_KINDS, USUAL_KINDS, DamageKind
from dictsel_core.restoration import CONSTRAINTS, FILLS, PRESETS, SELECTORS, Parameter
from inpaint_app.cli.parser import (
    BadValueError,
    comma_separated,
    input_path,
    one_of,
    output_path,
    value_of,
    whole_number,
)
from inpaint_app.cluster.blocks import BLOCK_STEP, DEFAULT_BLOCK
from inpaint_app.explanations import (
    CONSTRAINT_EXPLANATIONS,
    FILL_EXPLANATIONS,
    PRESET_EXPLANATIONS,
    SELECTOR_EXPLANATIONS,
)
from inpaint_app.files.registry import format_names, lossy
from inpaint_app.files.write import DEFAULT_QUALITY
from inpaint_app.image.mask_spec import GROW, SENSITIVITY, TOLERANCE

_DEFAULTS = RestoreSettings()
_DATA_RANGE = Parameter(name="data_range", kind=float, minimum=0, excludes_minimum=True)


@dataclass(frozen=True)
class SettingOption:
    """An option for a field of `RestoreSettings`."""

    flag: str  #: Such as "--sparsity".
    #: What stands for the value in the help; empty for an option without one, which negates the default.
    metavar: str
    help: str
    parse: Callable[[str], Any] | None = None  #: Text to value; by default that of its `Parameter`.
    field: str = ""  #: If it has another name than the flag.

    @property
    def setting(self) -> str:
        """The field that it sets."""
        return self.field or self.flag.removeprefix("--").replace("-", "_")

    def add_to(self, group: argparse._ArgumentGroup) -> None:
        """Add it; if it is not given, the parsed arguments do not have the field."""
        kind: dict[str, Any] = {"action": "store_const", "const": not getattr(_DEFAULTS, self.setting)}
        if self.metavar:
            kind = {"metavar": self.metavar, "type": self.parse or value_of_setting(self.setting)}
        group.add_argument(self.flag, dest=self.setting, default=argparse.SUPPRESS, help=self.help, **kind)


def value_of_setting(name: str, otherwise: str = "") -> Callable[[str], Any]:
    """Return the type of a field of `RestoreSettings`."""
    return value_of(RestoreSettings.parameters[name], otherwise)


def rounds(text: str) -> int | None:
    """Parse a number of rounds; None for "auto"."""
    value: int | None = None if text == "auto" else value_of_setting("rounds", "or auto")(text)
    return value


def fill(text: str) -> str | Path:
    """Parse how wide holes are filled; the path of a network for "model=FILE"."""
    if text.startswith("model="):
        return input_path(text.removeprefix("model="))
    value: str = value_of_setting("fill", "or model=FILE")(text)
    return value


def _listed(explanations: dict[str, str]) -> str:
    return " ".join(f"{name}: {text}" for name, text in explanations.items())


_BY_OBSERVED = "(default: by the fraction of observed pixels, and the rounds)"
#: Every setting that the command line offers; `resolve_options` reads them.
SETTING_OPTIONS = (
    SettingOption(
        "--constraint",
        "|".join(CONSTRAINTS),
        f"{_listed(CONSTRAINT_EXPLANATIONS)} Default: {_DEFAULTS.constraint}.",
    ),
    SettingOption("--atoms", "K", f"dictionary size k {_BY_OBSERVED}", field="n_atoms"),
    SettingOption(
        "--sparsity",
        "S",
        f"maximum number of atoms per patch in the selection (default {_DEFAULTS.sparsity})",
    ),
    SettingOption(
        "--budget",
        "A",
        f"average number of atoms per patch, under average sparsity (default {_DEFAULTS.budget:g})",
    ),
    SettingOption(
        "--coding-sparsity", "N", f"maximum number of atoms per patch in the coding {_BY_OBSERVED}"
    ),
    SettingOption(
        "--patch-size", "N", f"height and width of a patch in pixels (default {_DEFAULTS.patch_size})"
    ),
    SettingOption(
        "--bases",
        "NAMES",
        f"bases of the ground set, separated by commas (default {','.join(_DEFAULTS.bases)})",
        comma_separated,
    ),
    SettingOption(
        "--rounds",
        "N|auto",
        "rounds of non-local refinement, 0 for none, auto for eight unless held-out pixels get worse "
        "(default: that of the preset)",
        rounds,
    ),
    SettingOption(
        "--selector",
        "|".join(SELECTORS),
        f"how atoms are selected. {_listed(SELECTOR_EXPLANATIONS)} Default: rols if more than 30 %% is "
        "missing, else romp.",
    ),
    SettingOption(
        "--replace-observed", "", "replace observed pixels too, as the paper does", field="keep_observed"
    ),
    SettingOption(
        "--fill",
        f"{'|'.join(FILLS)}|model=FILE",
        f"{_listed(FILL_EXPLANATIONS)} model=FILE: Holes wider than 16 pixels are filled by the network of "
        f"an ONNX file, in 'inpaint restore'. Default: {_DEFAULTS.fill}.",
        fill,
    ),
    SettingOption(
        "--every-patch", "", "code every patch, not every second or fourth one: a little better, but slower"
    ),
    SettingOption("--seed", "N", "seed of the random generator (default 0)"),
    SettingOption("--threads", "N", "number of threads (default: all cores)"),
)


def add_input(parser: argparse.ArgumentParser, what: str = "the damaged picture") -> None:
    """Add the picture to work on."""
    help_text = f"{what}: {format_names()}; - for standard input"
    parser.add_argument("input", metavar="IN", type=input_path, help=help_text)


def add_mask_options(
    parser: argparse.ArgumentParser, mask_help: str = "picture of the same size, white = missing"
) -> None:
    """Add where the missing pixels are."""
    group = parser.add_argument_group(
        "missing pixels", "Transparent pixels (alpha = 0) and NaN always count as missing; to mark others:"
    )
    group.add_argument("--mask", metavar="M", type=input_path, help=mask_help)
    group.add_argument("--invert-mask", action="store_true", help="black = missing instead")
    trust = "use --mask as it is, even if it looks inverted or like a photograph"
    group.add_argument("--trust-mask", action="store_true", help=trust)
    group.add_argument(
        "--keep-soft-edges",
        action="store_true",
        help="keep partly transparent pixels that border transparent ones; otherwise they are missing too",
    )
    group.add_argument(
        "--key", metavar="COLOR", help="color that marks missing pixels: '#ff00ff', 255,0,255, magenta or 0"
    )
    tolerance = (
        "maximum difference from --key in any channel (default: chosen for the picture, 0 if it has no loss)"
    )
    group.add_argument("--tolerance", metavar="N", type=value_of(TOLERANCE), help=tolerance)
    grow = (
        "pixels by which to grow what --mask and --key mark, since edges bleed "
        "(default 1, or 0 if missing pixels are scattered)"
    )
    group.add_argument("--grow-mask", metavar="N", type=value_of(GROW), help=grow)
    group.add_argument(
        "--detect",
        metavar="KINDS",
        type=damage_kinds,
        help=f"kinds of damage to detect, separated by commas: {', '.join(DAMAGE_KINDS)}",
    )
    add_sensitivity(group)


def add_kinds(parser: argparse.ArgumentParser) -> None:
    """Add the kinds of damage to look for."""
    kinds = f"what to look for (default {','.join(USUAL_KINDS)})"
    parser.add_argument("--kinds", metavar="KINDS", type=damage_kinds, default=USUAL_KINDS, help=kinds)


def add_sensitivity(group: argparse._ActionsContainer) -> None:
    """Add how sensitive the detection of damage is."""
    sensitivity = (
        "sensitivity of the detection: what is damage with a probability of at least 1 - S is marked "
        "(default 0.5)"
    )
    group.add_argument("--sensitivity", metavar="S", type=value_of(SENSITIVITY), help=sensitivity)


def damage_kinds(text: str) -> tuple[DamageKind, ...]:
    """Parse kinds of damage, separated by commas."""
    given = [name.replace("-", "_") for name in comma_separated(text)]
    for name in given:
        if name not in DAMAGE_KINDS:
            raise BadValueError(f"needs one or more of {','.join(DAMAGE_KINDS)}, not {name[:40]!r}.")
    return tuple(kind for kind in DAMAGE_KINDS if kind in given)


def add_method(
    parser: argparse.ArgumentParser, *, without: str = "", preset: str = "balanced", can_tune: bool = False
) -> None:
    """Add how to restore: preset and its default, recipe and settings, `without` one of them."""
    group = parser.add_argument_group("method")
    presets = f"{_listed(PRESET_EXPLANATIONS)} Default: {preset}."
    group.add_argument("--preset", metavar="|".join(PRESETS), type=one_of(PRESETS), help=presets)
    recipe = "settings and mask options of an earlier run (see --write-recipe)"
    group.add_argument("--recipe", metavar="R", type=Path, help=recipe)
    if can_tune:
        auto = "choose dictionary size, sparsity and budget by trials on held-out observed pixels"
        group.add_argument("--auto", action="store_true", help=auto)
    for option in SETTING_OPTIONS:
        if option.setting != without:
            option.add_to(group)


def add_output(parser: argparse.ArgumentParser, what: str, *, required: bool) -> None:
    """Add the picture to write."""
    help_text = f"{what}, or a folder for it; - for standard output, png:- in the format PNG"
    parser.add_argument("-o", "--output", metavar="OUT", type=output_path, required=required, help=help_text)
    add_overwrite(parser)


def add_overwrite(parser: argparse.ArgumentParser) -> None:
    """Add permission to replace files."""
    parser.add_argument("--overwrite", action="store_true", help="replace existing files, even the source")


def add_reference(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the undamaged picture."""
    measure = "the undamaged picture, to measure against"
    parser.add_argument("--reference", metavar="REF", type=input_path, required=required, help=measure)


def add_data_range(parser: argparse.ArgumentParser) -> None:
    """Add what the PSNR refers to."""
    told = (
        "the range of values that PSNR and SSIM refer to (default: 255 for 8 bits, otherwise the "
        "largest less the smallest value that is known)"
    )
    parser.add_argument("--data-range", metavar="R", type=value_of(_DATA_RANGE), help=told)


def add_encoding(parser: argparse.ArgumentParser) -> None:
    """Add how to write a picture."""
    best = [each for each in lossy() if each.is_lossless_at_100]
    quality = (
        f"quality of {format_names(lossy(), 'and')}, 1 to 100 (default {DEFAULT_QUALITY}); "
        f"100 is lossless for {format_names(best, 'and')}, and their default if the input is lossless"
    )
    depth = "bits per channel (default: as in the input, or 8 where OUT cannot hold 16)"
    parser.add_argument("--quality", metavar="Q", type=whole_number(1, 100), help=quality)
    parser.add_argument(
        "--depth", metavar="8|16", type=lambda text: int(one_of(("8", "16"))(text)), help=depth
    )


def add_scheduler(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the cluster that does the work."""
    where = "tcp://HOST:PORT, tls://HOST:PORT, or local:N for N processes on this machine"
    parser.add_argument("--scheduler", metavar="S", help=f"{what} on a Dask cluster: {where}")


def add_blocks(parser: argparse.ArgumentParser) -> None:
    """Add how a picture is restored in blocks."""
    block = f"side of a block in pixels, a multiple of {BLOCK_STEP} (default {DEFAULT_BLOCK})"
    add_scheduler(parser, "restore the picture in blocks")
    parser.add_argument("--block", metavar="N", type=whole_number(BLOCK_STEP, 2**16), help=block)


def add_grain(parser: argparse.ArgumentParser) -> None:
    """Add the grain of restored pixels."""
    grain = (
        "give restored pixels the grain of those around, so that they do not show as smooth bands; "
        "not in pictures of floats, and not counted in PSNR and SSIM"
    )
    parser.add_argument("--grain", action="store_true", help=grain)


def add_fill_from(parser: argparse.ArgumentParser) -> None:
    """Add where the pieces that fill wide holes come from."""
    where = "picture of the same size, white = may be copied into wide holes (default: what is around them)"
    parser.add_argument("--fill-from", metavar="M", type=input_path, help=where)


def add_strict(parser: argparse.ArgumentParser) -> None:
    """Add the refusal of losses."""
    strict = "write nothing if metadata of the picture would be lost; otherwise they are named in a note"
    parser.add_argument("--strict", action="store_true", help=strict)


def add_verbosity(parser: argparse.ArgumentParser, *, json: bool = True) -> None:
    """Add how much to print."""
    if json:
        only = "print one JSON document and nothing else to stdout"
        parser.add_argument("--json", action="store_true", help=only)
    parser.add_argument("--quiet", action="store_true", help="print no report, no notes and no progress bar")
    verbose = "also print each stage as it begins, and all settings, to stderr"
    parser.add_argument("--verbose", action="store_true", help=verbose)
