"""What is printed: the report of a restoration, notes, JSON, and a bar for work that takes a while."""

import json
import math
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Self

from dictsel_core import Restoration
from dictsel_core.evaluation import QualityEstimate
from inpaint_app.cli.streams import print_note, print_report
from inpaint_app.engine.control import Event, JobControl, Progress, WorkClock
from inpaint_app.engine.measure import Scores
from inpaint_app.engine.restore_file import FileResult, Restored, SourceOpened, StoreOpened, WrittenFile
from inpaint_app.engine.source import Source
from inpaint_app.errors import UserError, printable_path
from inpaint_app.io.paths import is_stdout
from inpaint_app.model.missing import MissingPixels
from inpaint_app.text import (
    MARK_EXPLANATIONS,
    NO_ESTIMATE,
    estimated_part,
    format_decibels,
    format_duration,
    format_interval,
    format_percent,
    format_value,
)


class Console:
    """Prints the report to stdout and notes to stderr; both to stderr if stdout is for something else.

    That is a JSON document (`as_json`) or a picture. If `quiet`, report and notes are left out; if `verbose`,
    details are printed.
    """

    def __init__(
        self, *, as_json: bool = False, as_picture: bool = False, quiet: bool = False, verbose: bool = False
    ) -> None:
        self.as_json, self.quiet, self.verbose = as_json, quiet, verbose
        self._print = print_note if as_json or as_picture else print_report

    @classmethod
    def of(cls, args: SimpleNamespace, *outputs: Path | None) -> "Console":
        """Return the console that the options of `options.add_verbosity` ask for.

        Raises `UserError` if two of them contradict each other, or if two things would be written to stdout.
        """
        as_json = bool(getattr(args, "json", False))
        as_picture = any(output is not None and is_stdout(output) for output in outputs)
        if as_json and as_picture:
            raise UserError("--json and -o - both write to standard output", "give a file name after -o")
        if args.quiet and args.verbose:
            raise UserError("--quiet and --verbose exclude each other", "give one of them")
        return cls(as_json=as_json, as_picture=as_picture, quiet=args.quiet, verbose=args.verbose)

    def print(self, line: str) -> None:
        """Print a line of the report."""
        if not self.quiet:
            self._print(f"{line}\n")

    def print_detail(self, line: str) -> None:
        """Print a line to stderr that only `--verbose` asks for."""
        if self.verbose:
            print_note(f"{line}\n")

    def note(self, line: str) -> None:
        """Print a note to stderr."""
        if not self.quiet:
            print_note(f"Note: {line}\n")

    def print_written(self, path: Path, notes: Iterable[str], label: str = "Written") -> None:
        """Print the name of a file that was written, and notes about what it could not store."""
        self.print(f"{label + ':':<12} {printable_path(path)}")
        for note in notes:
            self.note(note)

    def print_json(self, contents: Mapping[str, Any]) -> None:
        """Print the JSON document, where one is wanted."""
        if self.as_json:
            print_report(f"{json.dumps(_plain(contents), indent=2, allow_nan=False)}\n")


def _plain(value: Any) -> Any:  # noqa: ANN401  (anything that JSON holds)
    """Return a value as JSON can hold it; numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


_DELAY = 0.5
_INTERVAL = 0.1
_WIDTH = 24


class ProgressBar:
    """One line on stderr that is redrawn, and gone at the end.

    It appears only on a terminal, only when the work has taken half a second, and not if `quiet`.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._shown = False
        self._fraction, self._stage = 0.0, ""
        self._wanted = not quiet and sys.stderr.isatty()
        self._began = self._drawn = time.monotonic()
        self._clock = WorkClock()

    def __enter__(self) -> Self:
        """Start the clock."""
        self._began = self._drawn = time.monotonic()
        self._clock = WorkClock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clear the line."""
        self.clear()

    def update(self, stage: str, fraction: float | None = None) -> None:
        """Show a stage and the fraction of the work that is done, if it is known."""
        now = time.monotonic()
        if fraction is not None:
            if fraction < self._fraction:  # another piece of work
                self._began = now - (_DELAY if self._shown else 0)
                self._clock = WorkClock()
            self._fraction = fraction
        elapsed = self._clock.seconds
        left = None if fraction is None or fraction < 0.02 else elapsed * (1 - fraction) / fraction
        if now - self._began >= _DELAY:
            self._draw(stage, fraction, left)

    def show_compilation(self, progress: Progress) -> None:
        """Show how far kernels are compiled, which is not part of the work."""
        self._draw(progress.stage, progress.fraction, progress.seconds_left)

    def _draw(self, stage: str, fraction: float | None, seconds_left: float | None) -> None:
        now = time.monotonic()
        soon = stage == self._stage and now - self._drawn < _INTERVAL
        if not self._wanted or soon:
            return
        self._stage, self._drawn, self._shown = stage, now, True
        print_note(f"\r\x1b[K{format_bar(stage, fraction, seconds_left)}")

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            print_note("\r\x1b[K")
            self._shown = False


def format_bar(stage: str, fraction: float | None, seconds_left: float | None) -> str:
    """Return the text of the bar."""
    if fraction is None:
        return f"{stage} ..."
    fraction = min(max(fraction, 0.0), 1.0)
    filled = round(_WIDTH * fraction)
    bar = "#" * filled + "-" * (_WIDTH - filled)
    left = "" if seconds_left is None else f"  {format_duration(seconds_left)} left"
    return f"[{bar}] {100 * fraction:3.0f} %  {stage}{left}"


_KEYS = (
    "estimated_psnr",
    "estimated_interval",
    "estimated_rmse",
    "n_invented",
    "missing_fraction",
    "marked_fraction",
    "found",
    "seconds",
    "settings",
    "output",
)


def as_document(result: FileResult | None) -> dict[str, Any]:
    """Return what `--json` prints about a restored file; None everywhere for one that failed."""
    if result is None:
        return dict.fromkeys((*asdict(Scores()), *_KEYS))
    quality, seconds, settings = result.quality, dict(result.seconds), asdict(result.settings)
    interval = error = None
    scores, estimate = asdict(quality.scores), quality.estimate
    if estimate is not None and quality.estimated_psnr is not None:
        interval, error = [estimate.low, estimate.high], estimate.rmse
        scores["data_range"] = estimate.data_range
    values = (
        quality.estimated_psnr,
        interval,
        error,
        None if estimate is None else estimate.n_invented,
        result.missing_fraction,
        result.marked_fraction,
        dict(result.found) or None,
        seconds,
        settings,
        str(result.output),
    )
    return scores | dict(zip(_KEYS, values, strict=True))


class TerminalControl(JobControl):
    """The control of a job whose reports are shown on the terminal."""

    def __init__(self, console: Console, bar: ProgressBar, *, brief: bool) -> None:
        super().__init__(self._show)
        self._console, self._bar, self._brief = console, bar, brief
        self._stage, self._began = "", time.perf_counter()
        self.if_stopped = ""  #: What there is to say if Ctrl-C ends it now.

    def _show(self, event: Event) -> None:
        if isinstance(event, Progress):
            if self._console.verbose and event.stage != self._stage:
                self._stage = event.stage
                self._bar.clear()
                self._console.print_detail(f"{time.perf_counter() - self._began:8.2f} s  {event.stage}")
            if event.is_compilation:
                self._bar.show_compilation(event)
            else:
                self._bar.update(event.stage, event.fraction)
            return
        if isinstance(event, WrittenFile):
            self.if_stopped = f"{printable_path(event.path)} was written."
        elif isinstance(event, StoreOpened):
            self.if_stopped = "the same command continues with the blocks that are left."
        if not self._brief:
            self._print(event)

    def _print(self, event: Event) -> None:
        if isinstance(event, SourceOpened):
            self._bar.clear()
            print_source(self._console, event.source)
        elif isinstance(event, Restored):
            self._bar.clear()
            print_restoration(self._console, event.restoration)
        elif isinstance(event, StoreOpened):
            self._bar.clear()
            _print_store(self._console, event)


@contextmanager
def terminal_control(console: Console, *, brief: bool = False) -> Iterator[TerminalControl]:
    """Show the reports of a job on the terminal, with a progress bar that is gone at the end.

    If `brief`, its progress alone.
    """
    with ProgressBar(quiet=console.quiet) as bar:
        yield TerminalControl(console, bar, brief=brief)


def print_source(console: Console, source: Source) -> None:
    """Print what was read."""
    picture, missing = source.picture, source.missing
    name = printable_path(source.path or source.name)
    where = " and ".join(MARK_EXPLANATIONS[each] for each in missing.sources)
    console.print(f"Picture:     {name}, {picture.width} x {picture.height} pixels, {picture.mode}")
    console.print(
        f"Missing:     {format_percent(missing.fraction)} of the pixels ({where}{_growth(missing)})"
    )
    for notice in (*picture.notices, *filter(None, (source.marking_note,))):
        console.note(notice)


def _print_store(console: Console, store: StoreOpened) -> None:
    height, width, *channels = store.shape
    bands = f", {channels[0]} channels" if channels else ""
    bands += f", {store.n_planes} planes" if store.n_planes > 1 else ""
    name = printable_path(store.path)
    console.print(f"Picture:     {name}, {width} x {height} pixels{bands}, {store.dtype}")
    console.print(f"Blocks:      {store.n_blocks}")
    if store.is_resumed:
        console.note("Continuing an earlier run; blocks that were finished are kept.")


def _growth(missing: MissingPixels) -> str:
    """Return how much was marked before marks have grown, if they have."""
    if missing.growth is None:
        return ""
    marked, pixels = format_percent(missing.growth.marked), missing.growth.pixels
    return f": {marked} marked, grown by {pixels} pixel{'s' * (pixels > 1)}; see --grow-mask"


def print_restoration(console: Console, restoration: Restoration) -> None:
    """Print what was done."""
    settings = restoration.settings
    counts = Counter(origin.basis for origin in restoration.origins)
    bases = ", ".join(f"{count} {basis}" for basis, count in counts.most_common())
    budget = f", {settings.mean_sparsity:g} on average" if settings.uses_budget else ""
    console.print(
        f"Dictionary:  {len(restoration.origins)} atoms ({bases}), selected under {settings.constraint} "
        f"sparsity: at most {settings.sparsity} atoms per patch{budget}"
    )
    console.print(
        f"Patches:     {settings.patch_size} x {settings.patch_size} pixels, "
        f"{restoration.mean_patch_atoms:.1f} atoms used on average (at most {settings.coding_sparsity})"
    )
    if restoration.n_rounds:
        console.print(f"Refinement:  {restoration.n_rounds} round{'s' if restoration.n_rounds > 1 else ''}")


def print_result(console: Console, result: FileResult) -> None:
    """Print how good a restored file is, how long it took and where it is."""
    quality = result.quality
    if quality.scores.psnr is not None:
        for line in score_lines(quality.scores):
            console.print(line)
    elif quality.estimate is not None:
        console.print(f"PSNR:        {_estimated(quality.estimate)}")
    stages = ", ".join(f"{stage} {time:.2f}" for stage, time in result.seconds.items() if stage != "total")
    console.print(f"Seconds:     {result.seconds['total']:.2f} ({stages})")
    print_details(console, result)
    console.print_written(result.output, result.notes)


def print_outcome(console: Console, result: FileResult, recipe: Path | None) -> None:
    """Print all about a restored file: its result, the recipe beside it, and the JSON document."""
    print_result(console, result)
    if recipe is not None:
        console.print_written(recipe, (), label="Recipe")
    console.print_json(as_document(result))


def print_details(console: Console, result: FileResult) -> None:
    """Print all settings of a restoration and its output, where details are wanted."""
    console.print_detail(f"Output:      {printable_path(result.output)}")
    settings = ", ".join(f"{name} = {value}" for name, value in asdict(result.settings).items())
    console.print_detail(f"Settings:    {settings}")


def _estimated(estimate: QualityEstimate) -> str:
    if not estimate.is_known:
        return NO_ESTIMATE[estimate.has_wide_hole]
    interval = format_interval(estimate.low, estimate.high)
    where = estimated_part(estimate.n_invented)
    return (
        f"about {format_decibels(estimate.psnr)} over {where}, with 90 % probability {interval} "
        f"(RMSE {format_value(estimate.rmse)}, of a range of {format_value(estimate.data_range)}): "
        "an estimate from held-out observed pixels (--reference measures it)"
    )


def score_lines(scores: Scores) -> list[str]:
    """Return PSNR, RMSE and SSIM as lines of a report."""
    of_range = "" if scores.data_range is None else f", of a range of {format_value(scores.data_range)}"
    lines = [
        f"PSNR:        {_both(format_decibels, scores.psnr, scores.psnr_missing)}{of_range}",
        f"RMSE:        {_both(format_value, scores.rmse, scores.rmse_missing)}",
    ]
    if scores.ssim is not None:
        lines.append(f"SSIM:        {_both('{:.4f}'.format, scores.ssim, scores.ssim_missing)}")
    return lines


def _both(form: Any, everywhere: float | None, missing: float | None) -> str:  # noqa: ANN401
    first = "-" if everywhere is None else form(everywhere)
    return f"{first} over all pixels" + ("" if missing is None else f", {form(missing)} over missing ones")
