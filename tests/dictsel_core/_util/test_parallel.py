import multiprocessing
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dictsel_core._util.parallel import (
    _AHEAD,
    _blas,
    as_thread_count,
    map_chunks,
    single_threaded_blas,
)


def blas_threads():
    return [library["num_threads"] for library in _blas().info()]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_chunks_come_in_order_and_cover_everything(threads):
    def slow_when_early(start, stop):
        time.sleep(0.002 * (10 - start) if start < 10 else 0)
        return list(range(start, stop))

    chunks = list(map_chunks(slow_when_early, 23, 5, threads))
    assert [len(chunk) for chunk in chunks] == [5, 5, 5, 5, 3]
    assert [item for chunk in chunks for item in chunk] == list(range(23))


@pytest.mark.parametrize("threads", [1, 3])
def test_errors_come_through_and_no_thread_stays(threads):
    with single_threaded_blas:  # its one thread stays
        before = threading.active_count()

    def fail(start, stop):
        raise ZeroDivisionError(start)

    with pytest.raises(ZeroDivisionError):
        list(map_chunks(fail, 10, 2, threads))
    assert threading.active_count() == before


def test_few_results_wait_for_a_slow_consumer():
    begun = []
    chunks = map_chunks(lambda start, _: begun.append(start), 1000, 1, 2)
    for taken in range(1, 50):
        next(chunks)
        assert len(begun) <= taken + 2 * _AHEAD
    chunks.close()


def test_closing_drops_what_has_not_begun():
    begun = []

    def work(start, stop):
        begun.append(start)
        time.sleep(0.01)
        return start

    chunks = map_chunks(work, 1000, 1, 2)
    next(chunks)
    chunks.close()
    assert len(begun) < 20


def test_blas_is_limited_while_anybody_wants_it_and_restored_after_the_last():
    before = blas_threads()
    first, second = single_threaded_blas, single_threaded_blas
    with first:
        assert set(blas_threads()) <= {1}
        with second:
            pass
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before


def test_thread_counts_are_checked():
    assert as_thread_count(None) >= 1
    assert as_thread_count(3) == 3
    with pytest.raises(ValueError, match="threads"):
        as_thread_count(0)


def product():
    rng = np.random.default_rng(0)
    left, right = rng.random((2491, 64), np.float32), rng.random((64, 225), np.float32)
    with single_threaded_blas:
        return left @ right


def test_results_are_the_same_in_any_thread():
    here = product()
    with ThreadPoolExecutor(2) as pool:
        there = [pool.submit(product).result() for _ in range(3)]
    for each in there:
        np.testing.assert_array_equal(each, here)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Only POSIX systems fork.")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_work_goes_on_in_a_forked_process():
    product()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        np.testing.assert_allclose(pool.apply_async(product).get(timeout=60), product(), rtol=1e-4)
