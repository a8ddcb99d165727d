"""Kernels: functions that Numba compiles when they are first called; machine code is kept in files.

Numba is loaded by the first call, not when this package is imported. In kernels, arrays are one-dimensional
and indices unsigned where a loop should be vectorized: Numba looks for negative indices otherwise.

Numba's own files are unpickled and run unseen: one flipped bit ends a process, and whoever can write to their
folder runs code as the user. Here a file begins with the SHA-256 of the rest, and is used only if that is
right and nobody but the user and the superuser can have written it; any other is made again.
"""

import hashlib
import os
import pickle
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, update_wrapper
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

import numpy as np

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

#: Other threads go on while a kernel runs. Sums may be reordered, which vectors need: always in the same way,
#: so that results depend on the processor, but neither on threads nor on what else is computed.
_OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract": True, "reassoc": True, "nsz": True},
    "no_cfunc_wrapper": True,
}

_lock = threading.RLock()
_DIGEST_BYTES = 32
#: Global variables that are compiled into a kernel, wherever their value comes from.
_CONSTANTS = (bool, int, float, complex, str, tuple, np.generic)
#: Kernels that the first restoration of a color picture compiles, and seconds for each.
_USUAL, _SECONDS_EACH = 31, 0.3


class Kernel(Generic[Arguments, Result]):
    """A function that is compiled for the types of its arguments when it is first called with them.

    It may call other kernels of its own module. Machine code is kept for other processes, see
    `KernelCache`; where it cannot be, every process compiles again. Use as a decorator.
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
            compiling.abandon()
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
        made = import_module("numba").njit(**self._options)(same)
        made._cache = KernelCache(same, self._options)
        kernel: Callable[Arguments, Result] = made
        return kernel

    def _called(self) -> list[str]:
        names, known = self._function.__code__.co_names, self._function.__globals__
        return [name for name in names if isinstance(known.get(name), Kernel)]


class PartialKernel(Kernel[Arguments, Result]):
    """A part of other kernels, which Python cannot call: that saves compiling how it would."""

    _options: ClassVar[dict[str, object]] = {**_OPTIONS, "no_cpython_wrapper": True}


class KernelCache:
    """Loads and saves what a kernel is compiled to; takes the place of the cache of a Numba dispatcher."""

    def __init__(self, function: FunctionType, options: Mapping[str, object]) -> None:
        file = Path(function.__code__.co_filename)
        self._name = f"{file.stem}.{function.__qualname__}"
        code = function.__code__.co_code
        self._source = _digest_of_file(file), code, repr(options), _constants(function)
        self._folders = [folder for folder in (file.parent / "__pycache__", user_folder()) if folder]

    @property
    def cache_path(self) -> str:
        """The folder beside the module."""
        return str(self._folders[0])

    def enable(self) -> None:
        """Do nothing, as Numba may ask: it is always enabled, and files of other sources have other names."""

    disable = flush = enable

    def load_overload(self, signature: object, target: Any) -> Any:  # noqa: ANN401  (of Numba, without types)
        """Return what was compiled for a signature; None if it must be compiled now."""
        # All that machine code needs: how to compile is loaded, for a third of a second, if something is.
        import_module("numba.core.runtime").rtsys.initialize(target)
        key = self._key(signature, target.codegen())
        wanted, _ = import_module("numba.core.sigutils").normalize_signature(signature)
        for folder in self._folders:
            payload = read_checked(folder / self._file_name(key))
            stored = None if payload is None else _unpacked(payload)
            if stored is not None and stored[0] == key:
                compiled = import_module("numba.core.compiler").CompileResult._rebuild(target, *stored[1])
                # Types that are made in each process, such as vectors, are not those of another.
                if compiled.signature.args == wanted:
                    return compiled
        compiling.change(1)
        return None

    def save_overload(self, signature: object, compiled: Any) -> None:  # noqa: ANN401
        """Keep what was compiled for a signature, where that can be done."""
        compiling.change(-1)
        dumps = import_module("numba.core.serialize").dumps
        if compiled.library.has_dynamic_globals:
            return
        key = self._key(signature, compiled.codegen)
        payload = dumps((key, compiled._reduce()))
        for folder in self._folders:
            if write_checked(folder / self._file_name(key), payload):
                return

    def _key(self, signature: object, codegen: Any) -> str:  # noqa: ANN401
        versions = (import_module("numba").__version__, sys.version_info[:3])
        return repr((str(signature), codegen.magic_tuple(), versions, self._source))

    def _file_name(self, key: str) -> str:
        return f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.nbc"


def _unpacked(payload: bytes) -> Any:  # noqa: ANN401
    """Return what was pickled by this program; None if it names what is not there any more."""
    try:
        return pickle.loads(payload)
    except (ImportError, AttributeError):
        return None


def _constants(function: FunctionType) -> str:
    """Return the numbers and strings of other modules that are compiled into a function, by name."""
    names, known = function.__code__.co_names, function.__globals__
    return repr([(name, known[name]) for name in names if isinstance(known.get(name), _CONSTANTS)])


@cache
def _digest_of_file(file: Path) -> bytes:
    try:
        return hashlib.sha256(file.read_bytes()).digest()
    except OSError:  # inside an archive
        return b""


def user_folder() -> Path | None:
    """Return the folder for machine code in the user's cache folder; None if the user has none."""
    named = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(named) if named else Path.home() / ".cache") / "dictsel"
    except RuntimeError:  # no home
        return None


def is_ours(status: os.stat_result) -> bool:
    """Return whether nobody but this user and the superuser can have written a file, or into a folder."""
    if not hasattr(os, "geteuid"):  # Windows: folders of users are theirs
        return True
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def read_checked(path: Path) -> bytes | None:
    """Return the contents of a file that `write_checked` has written; None if it is any other."""
    try:
        if not is_ours(path.parent.lstat()):
            return None
        # Neither a link is followed nor a pipe waited for.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with os.fdopen(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
            status = os.fstat(file.fileno())
            if not (stat.S_ISREG(status.st_mode) and is_ours(status)):
                return None
            digest, payload = file.read(_DIGEST_BYTES), file.read()
    except OSError:
        return None
    return payload if hashlib.sha256(payload).digest() == digest else None


def write_checked(path: Path, payload: bytes) -> bool:
    """Write a file with its checksum, at once and as a whole; return whether that could be done."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_ours(path.parent.lstat()):
            return False
        descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(hashlib.sha256(payload).digest() + payload)
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError:
        return False
    return True


@dataclass(frozen=True)
class Compilation:
    """The compilation of kernels in this process, which happens once: the machine code is kept."""

    n_compiled: int  #: Number of kernels that were compiled.
    seconds: float  #: How long that took, and takes so far.
    is_running: bool  #: Whether one is being compiled now.

    @property
    def fraction(self) -> float:
        """About how much of what a restoration needs is compiled, 0 to 1."""
        return min(self.n_compiled / _USUAL, 1.0)

    @property
    def seconds_left(self) -> float:
        """About how long the rest takes."""
        each = self.seconds / self.n_compiled if self.n_compiled else _SECONDS_EACH
        return max(_USUAL - self.n_compiled, 1) * each


class _Compiling:
    """The kernels in compilation: by one thread at a time, as Numba has it, one while another waits."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.n_compiled, self.seconds, self.began = 0, 0.0, 0.0
        self.n_begun, self.thread = 0, 0
        self.listeners: list[Callable[[Compilation], None]] = []

    def change(self, step: int) -> None:
        """Note that a kernel begins to be compiled (1), which may need others first, or is (-1)."""
        with self.lock:
            self.n_compiled += step < 0
            self._set_begun(self.n_begun + step)
        now = compilation()
        for listener in list(self.listeners):
            listener(now)

    def abandon(self) -> None:
        """Note that what this thread was compiling has failed."""
        with self.lock:
            if self.n_begun and self.thread == threading.get_ident():
                self._set_begun(0)

    def _set_begun(self, n_begun: int) -> None:
        """Note how many kernels this thread has begun to compile."""
        now = time.perf_counter()
        if self.n_begun == 0:
            self.began = now
        elif n_begun == 0:
            self.seconds += now - self.began
        self.n_begun, self.thread = n_begun, threading.get_ident()


compiling = _Compiling()


def compilation() -> Compilation:
    """Return how far the compilation of kernels is in this process."""
    with compiling.lock:
        is_running = compiling.n_begun > 0
        so_far = time.perf_counter() - compiling.began if is_running else 0.0
        return Compilation(compiling.n_compiled, compiling.seconds + so_far, is_running)


@contextmanager
def follow_compilation(listener: Callable[[Compilation], None]) -> Iterator[None]:
    """Have a function called meanwhile whenever a kernel begins to be compiled, and when it is.

    It is called in the thread that compiles, which waits for it.
    """
    with compiling.lock:
        compiling.listeners.append(listener)
    try:
        yield
    finally:
        with compiling.lock:
            compiling.listeners.remove(listener)
