"""Long work: in threads, with results that do not depend on how many, and in steps that can be followed."""

import inspect
import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, wraps
from importlib import import_module
from itertools import islice
from typing import Any, Generic, ParamSpec, TypeVar, get_args

from threadpoolctl import ThreadpoolController

from dictsel_core._util.validation import as_count

Result = TypeVar("Result")

#: Chunks per thread that are begun before their results are asked for.
_AHEAD = 4


def as_thread_count(threads: int | None) -> int:
    """Return the number of threads to use; None means all cores available to this process."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return as_count(threads, "threads")


def map_chunks(
    function: Callable[[int, int], Result], n_items: int, chunk: int, threads: int
) -> Generator[Result, None, None]:
    """Yield ``function(start, stop)`` for consecutive chunks of ``range(n_items)``, in their order.

    Chunk boundaries depend on `n_items` and `chunk` only, so the results do not depend on `threads`. Only a
    few results wait for whoever takes them, however slowly. Closing the generator cancels the chunks that
    have not started.
    """
    bounds = [(start, min(start + chunk, n_items)) for start in range(0, n_items, chunk)]
    with single_threaded_blas:
        if threads == 1 or len(bounds) <= 1:
            for start, stop in bounds:
                yield function(start, stop)
            return
        pool = ThreadPoolExecutor(min(threads, len(bounds)))
        try:
            following = iter(bounds)
            waiting = deque(pool.submit(function, *each) for each in islice(following, _AHEAD * threads))
            while waiting:
                result = waiting.popleft().result()
                waiting.extend(pool.submit(function, *each) for each in islice(following, 1))
                yield result
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class _SharedLimit:
    """Limits BLAS to one thread while there are users; the setting belongs to the whole process.

    The first of concurrent users sets it, and the last one restores the previous number.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_users = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._n_users == 0:
                # OpenBLAS only obeys the first thread that sets the number: let it always be the same.
                self._limit = _setter().submit(_blas().limit, limits=1).result()
            self._n_users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                _setter().submit(self._limit.restore_original_limits).result()


@cache
def _blas() -> ThreadpoolController:
    import_module("scipy.linalg.cython_blas")  # what Numba calls for np.dot is SciPy's, not NumPy's
    return ThreadpoolController().select(user_api="blas")


@cache
def _setter() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="dictsel-blas")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_setter.cache_clear)  # its thread does not exist in the child


#: Use as ``with single_threaded_blas:``. We run threads of our own, and sums keep their order.
single_threaded_blas = _SharedLimit()


Step = TypeVar("Step")
Parameters = ParamSpec("Parameters")
AnyRun = TypeVar("AnyRun", bound="Run[Any, Any]")


class Run(Iterator[Step], ABC, Generic[Step, Result]):
    """An iterator over the steps of some long work, with a result.

    To cancel, stop asking for steps; `close` releases what the work holds. What the steps are, and whether
    there is a result before the last one, depends on the work: see the function that started it.
    """

    @abstractmethod
    def __next__(self) -> Step:
        """Work until the next step."""

    @property
    @abstractmethod
    def result(self) -> Result:
        """The result of the steps taken; RuntimeError if there is none yet."""

    def finish(self) -> Result:
        """Take all remaining steps and return the result."""
        for _ in self:
            pass
        return self.result

    def close(self) -> None:
        """Abandon the work and release what it holds."""


class GeneratorRun(Run[Step, Result]):
    """A run made from a generator, which yields the steps and returns the result."""

    def __init__(self, steps: Generator[Step, None, Result]) -> None:
        self._steps = steps
        self._result: list[Result] = []

    def __next__(self) -> Step:
        try:
            return next(self._steps)
        except StopIteration as stop:
            if stop.value is not None:
                self._result.append(stop.value)
            raise

    @property
    def result(self) -> Result:
        """The result; RuntimeError before the last step."""
        if not self._result:
            raise RuntimeError("There is no result yet: take the remaining steps first.")
        return self._result[0]

    def close(self) -> None:
        """Abandon the work and release what it holds."""
        self._steps.close()


class SteppedRun(Run[Step, Result]):
    """A run that has a result after every step, and keeps the steps; `_advance` takes one."""

    def __init__(self) -> None:
        self._steps: list[Step] = []

    def __next__(self) -> Step:
        if self._is_finished():
            raise StopIteration
        with single_threaded_blas:
            self._steps.append(self._advance())
        return self._steps[-1]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps taken."""
        return tuple(self._steps)

    def finish(self) -> Result:
        """Take all remaining steps and return the result."""
        with single_threaded_blas:  # once for all steps
            return super().finish()

    @abstractmethod
    def _is_finished(self) -> bool:
        """Return whether there are no more steps."""

    @abstractmethod
    def _advance(self) -> Step:
        """Take one step."""


def part_of_work(
    work: Generator[float, None, Result], start: float, stop: float
) -> Generator[float, None, Result]:
    """Do work that yields the fraction that is done, from the fraction `start` of other work to `stop`."""
    run = GeneratorRun(work)
    for fraction in run:
        yield start + (stop - start) * fraction
    return run.result


def finished(start: Callable[Parameters, Run[Any, Result]]) -> Callable[Parameters, Result]:
    """Make a function that does some work at once of the one that starts its run. Use as a decorator."""

    @wraps(start)
    def work(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return start(*args, **kwargs).finish()

    signature = inspect.signature(start)
    run = signature.return_annotation
    result = get_args(run if get_args(run) else run.__orig_bases__[0])[-1]
    work.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]
    return work


def step_by_step(
    function: Callable[Parameters, Any], run: type[AnyRun], steps: str
) -> Callable[Parameters, AnyRun]:
    """Return what starts the run of a `finished` function, as iter_ and its name; `steps` is for its text."""
    start, name = inspect.unwrap(function), function.__name__

    @wraps(start)
    def iterate(*args: Parameters.args, **kwargs: Parameters.kwargs) -> AnyRun:
        begun: AnyRun = start(*args, **kwargs)
        return begun

    iterate.__name__ = iterate.__qualname__ = f"iter_{name}"
    iterate.__doc__ = (
        f"Start `{name}`, and return its run, {steps}.\n\n"
        f"The parameters are those of `{name}`, checked at the call."
    )
    return iterate
