"""Where jobs run: in this process, or on the workers of a Dask cluster."""

import contextlib
import itertools
import logging
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from dictsel_core import __version__
from inpaint_app.engine.blocks import worker_setup
from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.errors import UserError, clause
from inpaint_app.io.extra import load_extra

Result = TypeVar("Result")
Job = Callable[[], Result]
# Of distributed, which has no types.
Client = Any
Future = Any
AsCompleted = Any
OnLost = Callable[[Callable[[], Result], UserError], Result]

LOOPBACK = "127.0.0.1"
_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_REMOTE = re.compile(r"(tcp|tls)://\S+:\d+")
#: Jobs handed to the scheduler at a time: enough that no worker waits for the next one.
_JOBS_PER_WORKER = 4
_MIN_QUEUED = 16
_SECONDS_TO_CONNECT = 10
_LOST_SCHEDULER = "The connection with the scheduler was lost", "start it, then the same command again"
_SAME_EVERYWHERE = "install the same version of dictsel[cluster] on the scheduler and on all workers"


class Executor(Protocol):
    """Runs jobs, each a picklable function without arguments."""

    @property
    def threads(self) -> int | None:
        """Threads that a job may use; None where it has the machine for itself."""
        ...

    def run(
        self, jobs: Iterable[Job[Result] | None], on_lost: OnLost[Result] | None = None
    ) -> Iterator[Result]:
        """Yield the results of jobs, in the order in which they end.

        The next job is asked for when the caller has the result before it; None stands for one that cannot be
        run until another has ended.

        If a job cannot be completed because its workers end, `on_lost` gives a result in its place; without
        it, the error is raised.
        """
        ...


class ThisProcess:
    """Runs one job after the other, each with all threads."""

    threads = None

    def __init__(self, control: JobControl) -> None:
        self._control = control

    def run(
        self, jobs: Iterable[Job[Result] | None], on_lost: OnLost[Result] | None = None
    ) -> Iterator[Result]:
        """Yield the results of jobs; none is lost."""
        for job in jobs:
            assert job is not None, "all jobs before it have ended"
            self._control.check()
            yield job()


class Cluster:
    """Runs jobs on the workers of a Dask cluster, each with one thread."""

    threads = 1

    def __init__(self, client: Client, control: JobControl) -> None:
        self._client, self._control = client, control
        self._distributed = load_extra("distributed")

    def run(
        self, jobs: Iterable[Job[Result] | None], on_lost: OnLost[Result] | None = None
    ) -> Iterator[Result]:
        """Yield the results of jobs; those of workers that died run again elsewhere."""
        waiting = iter(jobs)
        completed = self._distributed.as_completed(loop=self._client.loop)
        running: dict[Future, Job[Result]] = {}
        try:
            self._submit(waiting, completed, running)
            while running:
                future = next(completed)
                self._control.check()
                yield self._result(future, running.pop(future), on_lost)
                self._submit(waiting, completed, running)
        finally:
            with contextlib.suppress(OSError):  # the scheduler may be gone
                self._client.cancel(list(running), force=True)
            completed.clear()

    def _submit(
        self,
        waiting: Iterator[Job[Result] | None],
        completed: AsCompleted,
        running: dict[Future, Job[Result]],
    ) -> None:
        try:
            n_workers = len(self._client.nthreads())
        except OSError as error:
            raise UserError(*_LOST_SCHEDULER) from error
        if not n_workers:
            self._control.report(Progress("waiting for workers"))
        room = max(_MIN_QUEUED, _JOBS_PER_WORKER * n_workers) - len(running)
        for job in itertools.islice(waiting, max(room, 0)):
            if job is None:
                break
            packed = pickle.dumps((run_job, job, __version__))
            future = self._client.submit(_unpacker(), packed, pure=False)
            running[future] = job
            completed.add(future)

    def _result(self, future: Future, job: Job[Result], on_lost: OnLost[Result] | None) -> Result:
        try:
            result: Result = future.result()
            return result
        except self._distributed.KilledWorker as error:
            lost = UserError(
                "A job has ended several workers, as one does that needs more memory than they have",
                "give workers more memory, or choose smaller blocks",
            )
            if on_lost is not None:
                return on_lost(job, lost)
            raise lost from error
        except (self._distributed.CancelledError, self._distributed.comm.CommClosedError) as error:
            raise UserError(*_LOST_SCHEDULER) from error
        except ImportError as error:
            raise UserError(
                f"A worker cannot load the program ({clause(error)})", _SAME_EVERYWHERE
            ) from error
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
    worker_setup.keep_freed_memory()
    load_extra("zarr").config.set({"threading.max_workers": 1})
    return job()


@contextlib.contextmanager
def open_executor(scheduler: str | None, control: JobControl) -> Iterator[Executor]:
    """Connect with a cluster, or start one on this machine; None for this process.

    A scheduler is "tcp://HOST:PORT", "tls://HOST:PORT" (keys and certificates as Dask is configured), or
    "local:N" for N processes on this machine, which answer to this one alone. Raises `UserError` if there
    is no such scheduler.
    """
    if scheduler is None:
        yield ThisProcess(control)
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
        yield Cluster(client, control)


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
            preload=[worker_setup.__name__],
        ) as cluster,
    ):
        yield cluster
