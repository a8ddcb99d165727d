"""Vectors in kernels."""

import numpy as np
import pytest
from kernels import needs_numba

from dictsel_core._support.compiled import Kernel
from dictsel_core._support.validation import Floats
from dictsel_core._support.vectors import (
    WIDTH,
    Number,
    add,
    larger,
    load,
    multiply,
    multiply_add,
    smaller,
    splat,
    store,
    subtract,
    total,
    where_larger,
)

pytestmark = needs_numba

_FIRST, _SECOND = np.uintp(3), np.uintp(3 + WIDTH)


@Kernel
def _combine(values: Floats, number: Number, results: Floats) -> Number:
    one, other = load(values, _FIRST), load(values, _SECOND)
    store(results[0], _FIRST, add(one, other))
    store(results[1], _FIRST, subtract(one, other))
    store(results[2], _FIRST, multiply(one, splat(number)))
    store(results[3], _FIRST, multiply_add(one, other, splat(number)))
    store(results[4], _FIRST, where_larger(one, other, one, other))
    store(results[5], _FIRST, larger(one, other))
    store(results[6], _FIRST, smaller(one, other))
    return total(one)


@pytest.mark.parametrize(("dtype", "atol"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_operations_are_those_of_arrays(dtype: type[Number], atol: float) -> None:
    values = np.random.default_rng(0).normal(size=5 + 2 * WIDTH).astype(dtype)
    results, number = np.zeros((7, len(values)), dtype), dtype(1.7)
    found = _combine(values, number, results)
    one, other = values[3 : 3 + WIDTH], values[3 + WIDTH : 3 + 2 * WIDTH]
    largest = np.maximum(one, other)
    expected = np.stack(
        [
            one + other,
            one - other,
            one * number,
            one * other + number,
            largest,
            largest,
            np.minimum(one, other),
        ]
    )
    np.testing.assert_allclose(results[:, 3 : 3 + WIDTH], expected, rtol=0, atol=atol)
    assert not results[:, :3].any()
    assert not results[:, 3 + WIDTH :].any()
    assert found == pytest.approx(one.sum(), abs=10 * atol)


def test_only_kernels_call_operations() -> None:
    with pytest.raises(NotImplementedError):
        splat(np.float32(1))
