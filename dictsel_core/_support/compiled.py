"""Kernels that Numba compiles when they are first called, where it is installed.

A kernel does what NumPy code beside it does, faster. Callers ask `is_enabled` which of the two to use::

    return _kernel(values) if is_enabled() else _with_numpy(values)

Numba is loaded by the first call of `is_enabled`, not when this package is imported.
"""

import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from types import FunctionType
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

from dictsel_core._support.compilation import abandon_kernels
from dictsel_core._support.kernel_cache import KernelCache

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

#: Other threads go on while a kernel runs. A product and a sum may become one instruction, but no sum is
#: reordered, so that results do not depend on how many numbers a processor adds at once.
_OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}

_n_disabled = 0
_lock = threading.RLock()


@cache
def _numba() -> Any:  # noqa: ANN401  (a module without types)
    """Return Numba, or None if it is not installed, does not fit this NumPy, or is told not to compile."""
    try:
        numba = importlib.import_module("numba")
    except ImportError:
        return None
    return None if numba.config.DISABLE_JIT else numba


def is_enabled() -> bool:
    """Return whether kernels are compiled; otherwise NumPy does their work."""
    return not _n_disabled and _numba() is not None


@contextmanager
def disabled() -> Iterator[None]:
    """Leave the work of kernels to NumPy meanwhile, in all threads: for tests and measurements."""
    global _n_disabled  # noqa: PLW0603  (a setting of the process)
    _n_disabled += 1
    try:
        yield
    finally:
        _n_disabled -= 1


class Kernel(Generic[Arguments, Result]):
    """A function that is compiled for the types of its arguments when it is first called with them.

    It may call other kernels of its own module. Machine code is kept for other processes, see
    `kernel_cache`; where it cannot be, every process compiles again. Use as a decorator.
    """

    _options: ClassVar[dict[str, object]] = _OPTIONS

    def __init__(self, function: Callable[Arguments, Result]) -> None:
        self._function = function
        self._compiled: Callable[Arguments, Result] | None = None
        update_wrapper(self, function)

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        """Call the compiled function."""
        try:
            return self.compiled()(*args, **kwargs)
        except BaseException:
            abandon_kernels()
            raise

    def compiled(self) -> Callable[Arguments, Result]:
        """Return Numba's version of the function; nothing is compiled before it is called."""
        if self._compiled is None:
            with _lock:
                if self._compiled is None:
                    self._compiled = self._made()
        return self._compiled

    def _made(self) -> Callable[Arguments, Result]:
        """Return Numba's version of the function, in which those of other kernels have their names."""
        function = self._function
        names = dict(function.__globals__)
        for name in self._called():
            names[name] = names[name].compiled()
        same = FunctionType(function.__code__, names, function.__name__)
        same.__qualname__, same.__module__ = function.__qualname__, function.__module__
        made = _numba().njit(**self._options)(same)
        made._cache = KernelCache(same, self._options)
        kernel: Callable[Arguments, Result] = made
        return kernel

    def _called(self) -> list[str]:
        """Return the names of the kernels that the function calls."""
        names, known = self._function.__code__.co_names, self._function.__globals__
        return [name for name in names if isinstance(known.get(name), Kernel)]


class InlinedKernel(Kernel[Arguments, Result]):
    """A kernel that becomes a part of each one that calls it.

    For a few lines that get slices of arrays: otherwise every call counts references to them, which takes as
    long as a loop over some hundred numbers.
    """

    _options: ClassVar[dict[str, object]] = {**_OPTIONS, "forceinline": True}
