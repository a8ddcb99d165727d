"""How far the compilation of kernels is in this process, for those who wait for it."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

#: Kernels that the first restoration of a color picture compiles, and seconds for each.
_USUAL, _SECONDS_EACH = 45, 0.4


@dataclass(frozen=True)
class Compilation:
    """The compilation of kernels in this process, which happens once: the machine code is kept.

    Attributes
    ----------
    n_compiled : int
        Number of kernels that were compiled.
    seconds : float
        How long that took, and takes so far.
    is_running : bool
        Whether one is being compiled now.

    Examples
    --------
    >>> Compilation(45, 20.0, is_running=True).fraction
    1.0
    """

    n_compiled: int
    seconds: float
    is_running: bool

    @property
    def fraction(self) -> float:
        """About how much of what a restoration needs is compiled, 0 to 1."""
        return min(self.n_compiled / _USUAL, 1.0)

    @property
    def seconds_left(self) -> float:
        """About how long the rest takes."""
        each = self.seconds / self.n_compiled if self.n_compiled else _SECONDS_EACH
        return max(_USUAL - self.n_compiled, 1) * each


class _State:
    """What is being compiled, by all threads."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.n_compiled, self.seconds, self.began = 0, 0.0, 0.0
        #: How many kernels a thread has begun, one of which needs the next, by the thread.
        self.running: dict[int, int] = {}
        self.listeners: list[Callable[[Compilation], None]] = []


_state = _State()


def compilation() -> Compilation:
    """Return how far the compilation of kernels is in this process.

    Examples
    --------
    >>> compilation().is_running
    False
    """
    with _state.lock:
        is_running = bool(_state.running)
        so_far = time.perf_counter() - _state.began if is_running else 0.0
        return Compilation(_state.n_compiled, _state.seconds + so_far, is_running)


@contextmanager
def follow_compilation(listener: Callable[[Compilation], None]) -> Iterator[None]:
    """Have a function called meanwhile whenever a kernel begins to be compiled, and when it is.

    It is called in the thread that compiles, which waits for it.

    Examples
    --------
    >>> with follow_compilation(print):
    ...     pass
    """
    with _state.lock:
        _state.listeners.append(listener)
    try:
        yield
    finally:
        with _state.lock:
            _state.listeners.remove(listener)


def begin_kernel() -> None:
    """Note that a kernel begins to be compiled; it may need others first."""
    with _state.lock:
        if not _state.running:
            _state.began = time.perf_counter()
        _state.running[_thread()] = _state.running.get(_thread(), 0) + 1
    _tell()


def end_kernel() -> None:
    """Note that the kernel that was begun last is compiled."""
    with _state.lock:
        _state.n_compiled += 1
        _leave(_state.running.get(_thread(), 1) - 1)
    _tell()


def abandon_kernels() -> None:
    """Note that what this thread was compiling has failed."""
    with _state.lock:
        if _thread() in _state.running:
            _leave(0)


def _leave(n_left: int) -> None:
    """Note how many kernels this thread is still compiling."""
    _state.running[_thread()] = n_left
    if n_left == 0:
        del _state.running[_thread()]
    if not _state.running:
        _state.seconds += time.perf_counter() - _state.began


def _thread() -> int:
    return threading.get_ident()


def _tell() -> None:
    now = compilation()
    for listener in list(_state.listeners):
        listener(now)
