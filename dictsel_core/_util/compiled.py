"""Kernels: functions that Numba compiles when they are first called.

Numba is loaded by the first call, not when this package is imported. In kernels, arrays are one-dimensional
and indices unsigned where a loop should be vectorized: Numba looks for negative indices otherwise.
"""

import importlib
import threading
from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import ClassVar, Generic, ParamSpec, TypeVar

from dictsel_core._util.kernel_cache import KernelCache, abandon_kernels

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

#: Other threads go on while a kernel runs. Sums may be reordered, which vectors need: always in the same way,
#: so that results depend on the processor, but neither on threads nor on what else is computed.
_OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz"},
    "no_cfunc_wrapper": True,
}

_lock = threading.RLock()


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
        made = importlib.import_module("numba").njit(**self._options)(same)
        made._cache = KernelCache(same, self._options)
        kernel: Callable[Arguments, Result] = made
        return kernel

    def _called(self) -> list[str]:
        """Return the names of the kernels that the function calls."""
        names, known = self._function.__code__.co_names, self._function.__globals__
        return [name for name in names if isinstance(known.get(name), Kernel)]


class PartialKernel(Kernel[Arguments, Result]):
    """A part of other kernels, which Python cannot call: that saves compiling how it would."""

    _options: ClassVar[dict[str, object]] = {**_OPTIONS, "no_cpython_wrapper": True}
