"""Tests that run with compiled kernels and without, where Numba is installed."""

from collections.abc import Callable
from typing import TypeVar

import pytest

from dictsel_core._support import compiled

Result = TypeVar("Result")

needs_numba = pytest.mark.skipif(not compiled.is_enabled(), reason="Numba is not installed")


def with_numpy(function: Callable[[], Result]) -> Result:
    """Return what a function returns when NumPy does the work of all kernels."""
    with compiled.disabled():
        return function()
