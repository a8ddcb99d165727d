"""Timing in turns, and tables."""

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median


def seconds_in_turns(candidates: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Time each candidate once per round, in turns, so that a slow moment of the machine affects all."""
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def ratio(seconds: Mapping[str, Sequence[float]], name: str, to: str) -> float:
    """Return the median over rounds of the time of `name` over the time of `to`."""
    return median(a / b for a, b in zip(seconds[name], seconds[to], strict=True))


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with a title; the first column is left-aligned, the others right-aligned."""
    widths = [max(len(line[i]) for line in (header, *rows)) for i in range(len(header))]
    print(f"\n{title}")
    for line in (header, ["-" * width for width in widths], *rows):
        cells = [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]
        print("  ".join(cells).rstrip())
