"""Workers: this process, or those of a Dask cluster."""

import contextlib
import ctypes
import logging
import pickle
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

from dictsel_core import __version__
from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.errors import UserError, clause
from inpaint_app.io.extra import load_extra

Result = TypeVar("Result")
Job = Callable[[], Result]
# Of distributed, which has no types.
Client = Any
Future = Any
OnLost = Callable[[Callable[[], Result], UserError], Result]

LOOPBACK = "127.0.0.1"
_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_REMOTE = re.compile(r"(tcp|tls)://\S+:\d+")
_SECONDS_TO_CONNECT = 10
# Of the C library of Linux, malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT_BYTES, _MAPPED_BYTES = 2**28, 2**25
_LOST_SCHEDULER = "The connection with the scheduler was lost", "start it, then the same command again"
_SAME_EVERYWHERE = "install the same version of dictsel[cluster] on the scheduler and on all workers"


class Workers:
    """Runs jobs, each a picklable function without arguments: here, or on the workers of a Dask cluster."""

    def __init__(self, control: JobControl, client: Client | None = None) -> None:
        self._control, self.client = control, client

    @property
    def threads(self) -> int | None:
        """Threads that a job may use; None where it has the machine for itself."""
        return None if self.client is None else 1

    def run(self, jobs: Iterable[Job[Result]], on_lost: OnLost[Result] | None = None) -> Iterator[Result]:
        """Yield the results of jobs, in the order in which they end; those of workers that died run again.

        If a job cannot be completed because its workers end, `on_lost` gives a result in its place; without
        it, the error is raised.
        """
        if self.client is not None:
            yield from self._run_on_cluster(list(jobs), on_lost)
            return
        for job in jobs:
            self._control.check()
            yield job()

    def _run_on_cluster(
        self, jobs: Sequence[Job[Result]], on_lost: OnLost[Result] | None
    ) -> Iterator[Result]:
        distributed = load_extra("distributed")
        assert self.client is not None
        try:
            if jobs and not self.client.nthreads():
                self._control.report(Progress("waiting for workers"))
        except OSError as error:
            raise UserError(*_LOST_SCHEDULER) from error
        packed = [pickle.dumps((run_job, job, __version__)) for job in jobs]
        futures = dict(zip(self.client.map(_unpacker(), packed, pure=False), jobs, strict=True))
        del packed
        try:
            for future in distributed.as_completed(futures, loop=self.client.loop):
                self._control.check()
                yield _result(future, futures.pop(future), on_lost)
        finally:
            with contextlib.suppress(OSError):  # the scheduler may be gone
                self.client.cancel(list(futures), force=True)


def _result(future: Future, job: Job[Result], on_lost: OnLost[Result] | None) -> Result:
    distributed = load_extra("distributed")
    try:
        result: Result = future.result()
        return result
    except distributed.KilledWorker as error:
        lost = UserError(
            "A job has ended several workers, as one does that needs more memory than they have",
            "give workers more memory, or choose smaller blocks",
        )
        if on_lost is not None:
            return on_lost(job, lost)
        raise lost from error
    except (distributed.CancelledError, distributed.comm.CommClosedError) as error:
        raise UserError(*_LOST_SCHEDULER) from error
    except ImportError as error:
        raise UserError(f"A worker cannot load the program ({clause(error)})", _SAME_EVERYWHERE) from error
    finally:
        future.release()


def _unpacker() -> Callable[[bytes], Any]:
    """Return what workers call: a function that Dask sends as a whole, not by name.

    Dask waits forever for a worker that has no module of that name. This one fails there, in a sentence.
    """

    def unpack_and_run(packed: bytes) -> Any:  # noqa: ANN401
        import pickle as pickle_there  # noqa: PLC0415

        run, job, version = pickle_there.loads(packed)
        return run(job, version)

    return unpack_and_run


def run_job(job: Callable[[], Result], version: str) -> Result:
    """Run a job on a worker, which must have the version that the job comes from."""
    if version != __version__:
        raise UserError(f"A worker has dictsel {__version__}, not {version}", _SAME_EVERYWHERE)
    _keep_freed_memory()
    load_extra("zarr").config.set({"threading.max_workers": 1})
    return job()


@contextlib.contextmanager
def open_workers(scheduler: str | None, control: JobControl) -> Iterator[Workers]:
    """Connect with a cluster, or start one on this machine; None for this process.

    A scheduler is "tcp://HOST:PORT", "tls://HOST:PORT" (keys and certificates as Dask is configured), or
    "local:N" for N processes on this machine, which answer to this one alone. Raises `UserError` if there
    is no such scheduler.
    """
    if scheduler is None:
        yield Workers(control)
        return
    local = _LOCAL.fullmatch(scheduler)
    if local is None and _REMOTE.fullmatch(scheduler) is None:
        raise UserError(
            f"{scheduler!r} is not a scheduler",
            "give tcp://HOST:PORT, tls://HOST:PORT, or local:N for N processes",
        )
    control.report(Progress("connecting with the workers"))
    with contextlib.ExitStack() as stack:
        address: Any = scheduler if local is None else stack.enter_context(local_cluster(int(local[1])))
        distributed = load_extra("distributed")
        _check_keys(scheduler)
        stack.enter_context(_silenced("distributed.client"))
        try:
            client = stack.enter_context(
                distributed.Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
            )
        except (OSError, ValueError, TypeError) as error:
            raise UserError(
                f"The scheduler {scheduler} cannot be reached ({clause(error)[:80]})",
                "check that it is running, and its address",
            ) from error
        yield Workers(control, client)


def _check_keys(scheduler: str) -> None:
    """Refuse an encrypted connection for which Dask has no key: it would keep trying."""
    settings = load_extra("distributed").Security().get_connection_args("client")
    if scheduler.startswith("tls://") and settings.get("ssl_context") is None:
        raise UserError("Dask has no key and certificate for tls://", "configure them as docs/scale.md says")


@contextlib.contextmanager
def _silenced(name: str) -> Iterator[None]:
    """Keep a logger from printing what the user is told in a sentence."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextlib.contextmanager
def local_cluster(n_workers: int) -> Iterator[Any]:
    """Start a cluster of processes on this machine, which answer to nobody but this process.

    A scheduler runs what it is sent, and every user of the machine reaches the loopback address. So each
    connection needs a key that was made for this cluster, and is kept in memory: meanwhile Dask is configured
    to have it. There is no dashboard.
    """
    load_extra("cryptography")  # makes the key
    distributed, dask = load_extra("distributed"), load_extra("dask")
    security = distributed.Security.temporary()
    settings: dict[str, Any] = {
        f"distributed.comm.tls.client.{kind}": getattr(security, f"tls_client_{kind}")
        for kind in ("key", "cert")
    }
    settings["distributed.comm.tls.ca-file"] = security.tls_ca_file
    settings |= {f"distributed.{role}.http.routes": [] for role in ("scheduler", "worker")}
    with (
        dask.config.set(settings),  # also for workers that are started in place of others
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host=LOOPBACK,
            protocol="tls://",
            security=security,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": f"{LOOPBACK}:0"},  # of what would show it: any free port
            silence_logs=logging.CRITICAL,
            preload=[__name__],
        ) as cluster,
    ):
        yield cluster


def dask_setup(_worker: object) -> None:
    """Leave Ctrl-C to the command, which ends its workers itself; each would print a traceback.

    Dask calls this when a worker of a cluster on this machine has started.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@cache
def _keep_freed_memory() -> None:
    """Let this process keep some memory that it has freed.

    Dask has its workers give back every 64 KB at once, and the system clear them when they are wanted again:
    for a restoration, 30 times as many page faults and two thirds more processor time.
    """
    try:
        adjust = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # another C library has its own ways
        return
    adjust(_TRIM_THRESHOLD, _KEPT_BYTES)
    adjust(_MMAP_THRESHOLD, _MAPPED_BYTES)
