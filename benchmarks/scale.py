"""Pictures in blocks on a cluster of this machine: speed, memory, and what killed processes cost.

``python -m benchmarks scale`` takes a small picture, ``python -m benchmarks.scale 20000`` 400 megapixels.
"""

import argparse
import contextlib
import heapq
import itertools
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.measure import print_table
from dictsel_core import RestoreSettings
from inpaint_app.engine.blocks.jobs import FinishedBlock
from inpaint_app.engine.blocks.source import cut_into_blocks
from inpaint_app.engine.blocks.workers import local_cluster
from inpaint_app.engine.control import JobControl
from inpaint_app.engine.restore_file import DEFAULT_BLOCK, FileOptions, FileRequest, restore_file
from inpaint_app.io.chunked.opening import open_store
from inpaint_app.io.extra import load_extra
from inpaint_app.io.write import Output
from inpaint_app.model.missing import MaskSpec

_BAND = 1024
_POLL_SECONDS = 0.02
_HEADER = ("workers", "start-up", "planning", "blocks", "MP/s of blocks", "processor", "peak of a worker")


@dataclass(frozen=True)
class Case:
    """A picture on disk, and the side of its blocks."""

    folder: Path
    side: int
    block: int

    def request(self, output: str, scheduler: str | None) -> FileRequest:
        """Return the request that restores it."""
        mask_spec = MaskSpec(mask=self.folder / "mask.zarr", grow=0)
        return FileRequest(
            self.folder / "picture.zarr",
            Output(self.folder / output),
            FileOptions(RestoreSettings.preset("fast"), mask_spec),
            scheduler=scheduler,
            block=self.block,
        )

    def command(self, output: str, scheduler: str) -> list[str]:
        """Return the same as a command."""
        names = [
            "restore",
            "picture.zarr",
            "-o",
            output,
            "--mask",
            "mask.zarr",
            "--grow-mask",
            "0",
            "--quiet",
        ]
        options = ["--preset", "fast", "--block", str(self.block), "--scheduler", scheduler]
        run = "import sys; from inpaint_app.cli import main; sys.exit(main())"
        return [sys.executable, "-c", run, *names, *options]


def make_case(folder: Path, side: int, block: int, missing: float = 0.5) -> Case:
    """Write waves, edges and noise, and a mask of scattered pixels."""
    zarr = load_extra("zarr")
    shape, rng = (side, side), np.random.default_rng(0)
    picture = zarr.create_array(folder / "picture.zarr", shape=shape, dtype="uint8", chunks=(_BAND, _BAND))
    mask = zarr.create_array(folder / "mask.zarr", shape=shape, dtype="bool", chunks=(_BAND, _BAND))
    columns = np.arange(side, dtype=np.float32)
    for top in range(0, side, _BAND):
        rows = np.arange(top, min(top + _BAND, side), dtype=np.float32)[:, None]
        values = 120 + 60 * np.sin(rows / 9) * np.cos(columns / 13) + 40 * ((rows // 37 + columns // 53) % 2)
        values = values + 3 * rng.standard_normal(values.shape, np.float32)
        picture[top : top + _BAND] = np.clip(values, 0, 255).astype(np.uint8)
        mask[top : top + _BAND] = rng.random(values.shape, np.float32) < missing
    return Case(folder, side, block)


def peak_memory() -> float:
    """Return the peak memory of the process that it runs in, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def warm_up() -> None:
    """Load in a worker what its first job would have to load."""
    from inpaint_app.engine.blocks import jobs  # noqa: F401

    load_extra("zarr")


@dataclass(frozen=True)
class Measured:
    """What a run took, in seconds.

    Attributes
    ----------
    start : float
        Until all workers had loaded the program.
    planning : float
        To survey the picture, select the dictionary, and give the result its name.
    blocks : float
        From the first job to the last.
    processor : float
        Processor time of all blocks together.
    memory : float
        Largest of a worker, in megabytes.
    """

    n_workers: int
    start: float
    planning: float
    blocks: float
    processor: float
    memory: float


def measure(case: Case, n_workers: int) -> Measured:
    """Restore the picture on some workers."""
    output, distributed = f"whole-{n_workers}.zarr", load_extra("distributed")
    jobs: list[FinishedBlock] = []

    def note(report: object) -> None:
        if isinstance(report, FinishedBlock):
            jobs.append(report)

    start = time.perf_counter()
    with local_cluster(n_workers) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        client.run(warm_up)
        started = time.perf_counter()
        result = restore_file(case.request(output, cluster.scheduler_address), JobControl(note))
        memory = max(client.run(peak_memory).values())
    seconds = result.seconds
    blocks = sum(seconds[kind] for kind in seconds if kind not in ("select", "total"))
    processor = sum(job.seconds for job in jobs)
    return Measured(n_workers, started - start, seconds["total"] - blocks, blocks, processor, memory)


def table_row(case: Case, measured: Measured) -> tuple[str, ...]:
    """Return a line of the table."""
    megapixels = case.side**2 / 1e6
    return (
        str(measured.n_workers),
        f"{measured.start:.1f}",
        f"{measured.planning:.1f}",
        f"{measured.blocks:.1f}",
        f"{megapixels / measured.blocks:.2f}",
        f"{measured.processor:.1f}",
        f"{measured.memory:.0f} MB",
    )


class VirtualWorkers:
    """Runs jobs in this process, but in the order and at the times of some workers that share nothing.

    Times are processor time, so that other programs do not count; what a job waits for does.
    """

    threads = 1

    def __init__(self, n_workers: int) -> None:
        self._n_workers, self.seconds, self.busy = n_workers, 0.0, 0.0

    def run(self, jobs: Iterable[Any], on_lost: object = None) -> Iterator[Any]:
        """Yield the results of jobs."""
        waiting, running, numbers = iter(jobs), list[tuple[float, int, Any]](), itertools.count()
        while True:
            for job in itertools.islice(waiting, self._n_workers - len(running)):
                start = time.process_time()
                result = job()
                seconds = time.process_time() - start
                self.busy += seconds
                heapq.heappush(running, (self.seconds + seconds, next(numbers), result))
            if not running:
                return
            self.seconds, _, result = heapq.heappop(running)
            yield result


def virtual_speed(case: Case, n_workers: int) -> float:
    """Return how much faster some workers that share nothing are than one, by the same schedule."""
    workers = VirtualWorkers(n_workers)

    @contextlib.contextmanager
    def open_virtual(*_arguments: object) -> Iterator[VirtualWorkers]:
        yield workers

    start = time.process_time()
    with mock.patch("inpaint_app.engine.blocks.restore.open_workers", open_virtual):
        restore_file(case.request(f"virtual-{n_workers}.zarr", None), JobControl())
    serial = time.process_time() - start - workers.busy
    return (workers.busy + serial) / (workers.seconds + serial)


class Watcher(threading.Thread):
    """Follows which blocks are written while a picture is restored, and calls a function once at some number.

    Parameters
    ----------
    workspace : Path
        Its folder.
    n_blocks : int
        When to call the function.
    act : callable
        What to do then.
    """

    def __init__(self, workspace: Path, n_blocks: int, act: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self._workspace, self._n_blocks, self._act = workspace, n_blocks, act
        self._stopped = threading.Event()
        self.first: dict[str, int] = {}
        self.repeated: set[str] = set()

    def run(self) -> None:
        """Look at the blocks until it is stopped."""
        while not self._stopped.wait(_POLL_SECONDS):
            for block in self._workspace.glob("result/c/*/*"):
                try:
                    modified = block.stat().st_mtime_ns
                except FileNotFoundError:  # the run has ended
                    continue
                name = str(block.relative_to(self._workspace))
                if name.endswith(".partial"):
                    continue
                if self.first.setdefault(name, modified) != modified:
                    self.repeated.add(name)
            if len(self.first) >= self._n_blocks:
                self._act()
                self._n_blocks = sys.maxsize

    def stop(self) -> None:
        """Stop looking."""
        self._stopped.set()
        self.join()


def workspace_of(case: Case, output: str) -> Path:
    """Return the folder in which a result is made."""
    return case.folder / f".{output}.inpaint-part"


def kill_worker(case: Case) -> str:
    """Kill one of two workers half-way, and say what came of it."""
    with local_cluster(2) as cluster:
        victim = next(iter(cluster.workers.values())).pid

        def act() -> None:
            os.kill(victim, signal.SIGKILL)

        n_half = len(cut_into_blocks((case.side, case.side), case.block)) // 2
        watcher = Watcher(workspace_of(case, "killed.zarr"), n_half, act)
        watcher.start()
        restore_file(case.request("killed.zarr", cluster.scheduler_address), JobControl())
        watcher.stop()
    n_blocks, n_twice = len(watcher.first), len(watcher.repeated)
    return f"{n_blocks} blocks, {n_twice} of them written twice; {compare(case, 'killed.zarr')}"


def kill_all(case: Case) -> str:
    """Kill the command with all its processes half-way, start it again, and say what came of it."""
    command, workspace = case.command("again.zarr", "local:2"), workspace_of(case, "again.zarr")
    process = subprocess.Popen(command, cwd=case.folder, start_new_session=True)
    n_half = len(cut_into_blocks((case.side, case.side), case.block)) // 2
    watcher = Watcher(workspace, n_half, lambda: os.killpg(process.pid, signal.SIGKILL))
    watcher.start()
    process.wait()
    time.sleep(1)  # for the last processes of its group
    n_before = len(watcher.first)
    subprocess.run(command, cwd=case.folder, check=True)
    watcher.stop()
    return (
        f"{n_before} blocks before, {len(watcher.first)} in all, "
        f"{len(watcher.repeated)} of them written twice; {compare(case, 'again.zarr')}"
    )


def compare(case: Case, output: str) -> str:
    """Say whether a result is that of one worker."""
    one, other = (open_store(case.folder / name) for name in ("whole-1.zarr", output))
    blocks = cut_into_blocks(one.shape, case.block)
    same: list[Any] = [np.array_equal(one.read(rect), other.read(rect)) for rect in blocks]
    return "the same result" if all(same) else f"{len(same) - sum(same)} blocks DIFFER"


def main(side: int = 3072, block: int = 768, *, kills: bool = True) -> None:
    """Print the table for a square picture."""
    # A worker that is killed leaves a semaphore behind, which Python's resource tracker removes and warns of.
    os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker:UserWarning"
    with tempfile.TemporaryDirectory() as name:
        case = make_case(Path(name), side, block)
        one, two = (measure(case, n_workers) for n_workers in (1, 2))
        title = f"{side} x {side} pixels, half of them missing, preset fast, blocks of {block}"
        print_table(title, _HEADER, [table_row(case, each) for each in (one, two)])
        print(
            f"Blocks: {one.blocks / two.blocks:.2f} times as fast on two workers, which need "
            f"{two.processor / one.processor:.2f} times the processor time."
        )
        print(f"1 against 2 workers: {compare(case, 'whole-2.zarr')}")
        speeds = ", ".join(f"{n} {virtual_speed(case, n):.2f} times" for n in (2, 8))
        print(f"Workers that share nothing, by the same schedule: {speeds} as fast as one")
        if kills:
            print(f"kill -9 of a worker: {kill_worker(case)}")
            print(f"kill -9 of everything, started again: {kill_all(case)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("side", type=int, nargs="?", default=3072, help="of the picture in pixels")
    parser.add_argument("--block", type=int, default=DEFAULT_BLOCK)
    parser.add_argument("--no-kills", action="store_true", help="only measure speed and memory")
    given = parser.parse_args()
    main(given.side, given.block, kills=not given.no_kills)
