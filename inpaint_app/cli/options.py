"""Options that several commands share."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dictsel_core import CONSTRAINTS, PRESETS, SELECTORS, RestoreSettings
from inpaint_app.cli.parser import names, one_of, value_of, whole
from inpaint_app.files.registry import readable_names
from inpaint_app.image.mask_spec import TOLERANCE

_DEFAULTS = RestoreSettings()
_BASES = ",".join(_DEFAULTS.bases)


def add_input(parser: argparse.ArgumentParser, what: str = "the damaged picture") -> None:
    """Add the picture to work on."""
    parser.add_argument("input", metavar="IN", type=Path, help=f"{what}: {readable_names()}")


def add_mask_options(parser: argparse.ArgumentParser, *, mask_help: str | None = None) -> None:
    """Add where the missing pixels are."""
    group = parser.add_argument_group(
        "missing pixels", "Transparent pixels (alpha = 0) and NaN always count as missing; to name others:"
    )
    group.add_argument(
        "--mask", metavar="M", type=Path, help=mask_help or "picture of the same size, white = missing"
    )
    group.add_argument("--invert-mask", action="store_true", help="black = missing instead")
    group.add_argument(
        "--key", metavar="COLOR", help="colour that marks missing pixels: '#ff00ff', 255,0,255, magenta or 0"
    )
    group.add_argument(
        "--tolerance",
        metavar="N",
        type=value_of(TOLERANCE),
        help="largest difference from --key in a channel (default 0)",
    )


def add_method(parser: argparse.ArgumentParser, *, constraint: bool = True, auto: bool = True) -> None:
    """Add how to restore."""
    group = parser.add_argument_group("method")
    group.add_argument(
        "--preset",
        metavar="|".join(PRESETS),
        type=one_of(PRESETS),
        help="balanced (the default), fast: without refinement, best: refined for as long as it helps, or "
        "paper: the published procedure, which replaces observed pixels too",
    )
    if constraint:
        group.add_argument(
            "--constraint",
            metavar="|".join(CONSTRAINTS),
            type=setting("constraint"),
            help="limit the atoms of each patch, or also their average over all patches "
            f"(default: {_DEFAULTS.constraint})",
        )
    group.add_argument(
        "--atoms",
        metavar="K",
        type=setting("n_atoms"),
        help="dictionary size k (default: by the part observed)",
    )
    group.add_argument(
        "--sparsity",
        metavar="S",
        type=setting("sparsity"),
        help=f"most atoms per patch (default {_DEFAULTS.sparsity})",
    )
    group.add_argument(
        "--budget",
        metavar="A",
        type=setting("budget"),
        help=f"average atoms per patch, with average sparsity (default {_DEFAULTS.budget:g})",
    )
    group.add_argument(
        "--coding-sparsity",
        metavar="N",
        type=setting("coding_sparsity"),
        help="most atoms one window may use when it is rebuilt (default: by the part observed)",
    )
    group.add_argument(
        "--patch-size",
        metavar="N",
        type=setting("patch_size"),
        help=f"side of a patch in pixels (default {_DEFAULTS.patch_size})",
    )
    group.add_argument(
        "--bases", metavar="NAMES", type=names, help=f"bases of the ground set (default {_BASES})"
    )
    group.add_argument(
        "--rounds",
        metavar="N|auto",
        type=rounds,
        help="rounds of non-local refinement, 0 for none, auto for as many as held-out pixels gain from, "
        f"as --preset best does (default {_DEFAULTS.rounds})",
    )
    group.add_argument(
        "--selector",
        metavar="|".join(SELECTORS),
        type=setting("selector"),
        help="how atoms are selected: Replacement OLS, or the paper's Replacement OMP or ROMPd "
        "(default: the first where much is missing, else the second)",
    )
    group.add_argument(
        "--replace-observed", action="store_true", help="replace observed pixels too, as the paper does"
    )
    group.add_argument(
        "--every-patch",
        action="store_true",
        help="code every patch, not every second or fourth one: a little better, but slower",
    )
    if auto:
        group.add_argument(
            "--auto",
            action="store_true",
            help="choose dictionary size, sparsity and budget by trials on held-out observed pixels",
        )
    group.add_argument(
        "--recipe", metavar="R", type=Path, help="settings and marks of an earlier run (see --write-recipe)"
    )
    group.add_argument(
        "--seed", metavar="N", type=setting("seed"), help="for every random choice (default 0)"
    )
    group.add_argument("--threads", metavar="N", type=setting("threads"), help="default: all cores")


def add_output(parser: argparse.ArgumentParser, default: str) -> None:
    """Add where the result goes."""
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, help=f"default: {default}")
    add_overwrite(parser)


def add_overwrite(parser: argparse.ArgumentParser) -> None:
    """Add leave to replace files."""
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist, even the source")


def add_encoding(parser: argparse.ArgumentParser) -> None:
    """Add how to write a picture."""
    parser.add_argument(
        "--quality",
        metavar="Q",
        type=whole(1, 100),
        default=95,
        help="of JPEG and WebP, 1 to 100 (default 95)",
    )
    parser.add_argument(
        "--depth", metavar="8|16", type=depth, help="bits per channel (default: those of the picture)"
    )


def add_verbosity(parser: argparse.ArgumentParser) -> None:
    """Add how much to say."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON document and nothing else to stdout"
    )
    parser.add_argument("--quiet", action="store_true", help="print no report, no notes and no progress bar")


def setting(name: str, otherwise: str = "") -> Callable[[str], Any]:
    """Return the type of a parameter of `RestoreSettings`."""
    return value_of(RestoreSettings.parameters[name], otherwise)


def rounds(text: str) -> int | str:
    """Parse a number of rounds, or "auto"."""
    value: int | str = text if text == "auto" else setting("rounds", "or auto")(text)
    return value


def depth(text: str) -> int:
    """Parse a bit depth."""
    return int(one_of(("8", "16"))(text))
