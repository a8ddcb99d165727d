"""Work on chunks in a thread pool, with results that do not depend on the number of threads."""

import os
import threading
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from itertools import islice
from typing import TypeVar

from threadpoolctl import LibController, ThreadpoolController

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


@cache
def _blas_libraries() -> list[LibController]:
    import_module("scipy.linalg.cython_blas")  # what Numba calls for np.dot is SciPy's, not NumPy's
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


class _SharedLimit:
    """Limits BLAS to one thread while there are users; the setting belongs to the whole process.

    The first of concurrent users sets it, and the last one restores the previous number.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_users = 0
        self._before: list[int] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._n_users == 0:
                self._before = [library.get_num_threads() for library in _blas_libraries()]
                self._set([1] * len(self._before))
            self._n_users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                self._set(self._before)

    @staticmethod
    def _set(counts: list[int]) -> None:
        # OpenBLAS only obeys the first thread that sets the number: let it always be the same.
        _setter().submit(_set_thread_counts, counts).result()


@cache
def _setter() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="dictsel-blas")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_setter.cache_clear)  # its thread does not exist in the child


def _set_thread_counts(counts: list[int]) -> None:
    for library, count in zip(_blas_libraries(), counts, strict=True):
        library.set_num_threads(count)


#: Use as ``with single_threaded_blas:``. We run threads of our own, and sums keep their order.
single_threaded_blas = _SharedLimit()
