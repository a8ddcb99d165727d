"""The report of a restoration in words and figures."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dictsel_core import Restoration, RestoreSettings
from inpaint_app.cli.console import Console
from inpaint_app.errors import printable_path
from inpaint_app.files.recipe_contents import plain_settings
from inpaint_app.formatting import format_decibels, format_percent
from inpaint_app.jobs.work import Scores, Source

_SOURCES = {"alpha": "transparent", "nan": "NaN", "mask": "in the mask", "key": "of the given colour"}


KEYS = (
    "psnr",
    "psnr_missing",
    "ssim",
    "estimated_psnr",
    "missing_fraction",
    "seconds",
    "settings",
    "output",
)
"""What `--json` tells about a restoration."""


@dataclass(frozen=True)
class Outcome:
    """Figures of one restoration, None where they do not apply; notes about files that were replaced."""

    scores: Scores
    estimated_psnr: float | None
    missing_fraction: float
    seconds: Mapping[str, float]
    settings: RestoreSettings
    output: Path | None
    notes: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        values = (
            self.scores.psnr,
            self.scores.psnr_missing,
            self.scores.ssim,
            self.estimated_psnr,
            self.missing_fraction,
            dict(self.seconds),
            plain_settings(self.settings),
            None if self.output is None else str(self.output),
        )
        return dict(zip(KEYS, values, strict=True))


def print_source(console: Console, source: Source) -> None:
    """Say what was read."""
    picture, missing = source.picture, source.missing
    where = " and ".join(_SOURCES.get(name, name) for name in missing.sources)
    console.say(
        f"Picture:     {printable_path(source.path)}, {picture.width} x {picture.height} "
        f"pixels, {picture.mode}"
    )
    console.say(f"Missing:     {format_percent(missing.fraction)} of the pixels ({where})")
    for notice in picture.notices:
        console.note(notice)


def print_restoration(console: Console, restoration: Restoration) -> None:
    """Say what was done."""
    settings = restoration.settings
    counts = Counter(origin.basis for origin in restoration.origins)
    bases = ", ".join(f"{count} {basis}" for basis, count in counts.most_common())
    budget = f", {settings.budget:g} on average" if settings.constraint == "average" else ""
    console.say(
        f"Dictionary:  {len(restoration.origins)} atoms ({bases}), selected under {settings.constraint} "
        f"sparsity: at most {settings.sparsity} atoms per patch{budget}"
    )
    console.say(
        f"Patches:     {settings.patch_size} x {settings.patch_size} pixels, "
        f"{restoration.mean_patch_atoms:.1f} atoms used on average (at most {settings.coding_sparsity})"
    )
    if restoration.n_rounds:
        console.say(f"Refinement:  {restoration.n_rounds} round{'s' if restoration.n_rounds > 1 else ''}")


def print_outcome(console: Console, outcome: Outcome) -> None:
    """Say how good it is, how long it took and where it is."""
    scores = outcome.scores
    if scores.psnr is not None:
        for line in score_lines(scores):
            console.say(line)
    elif outcome.estimated_psnr is not None:
        console.say(
            f"PSNR:        about {format_decibels(outcome.estimated_psnr)}, an estimate from "
            "held-out observed "
            "pixels (--reference measures it)"
        )
    stages = ", ".join(f"{stage} {time:.2f}" for stage, time in outcome.seconds.items() if stage != "total")
    console.say(f"Seconds:     {outcome.seconds['total']:.2f} ({stages})")
    if outcome.output is not None:
        console.say(f"Written:     {printable_path(outcome.output)}")
    for note in outcome.notes:
        console.note(note)


def score_lines(scores: Scores) -> list[str]:
    """Return PSNR and SSIM as lines of a report."""
    lines = [f"PSNR:        {_both(format_decibels, scores.psnr, scores.psnr_missing)}"]
    if scores.ssim is not None:
        lines.append(f"SSIM:        {_both('{:.4f}'.format, scores.ssim, scores.ssim_missing)}")
    return lines


def _both(form: Any, everywhere: float | None, missing: float | None) -> str:  # noqa: ANN401
    first = "-" if everywhere is None else form(everywhere)
    return f"{first} over all pixels" + ("" if missing is None else f", {form(missing)} over missing ones")
