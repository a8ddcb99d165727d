"""Data in chunks: the same selection as from all data at once."""

import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from synthetic import planted, random_ground_set

from dictsel_core import (
    AverageSparsity,
    BlockSparsity,
    IndividualSparsity,
    MatroidSparsity,
    PartitionMatroid,
    replacement_omp,
    standard_ground_set,
)
from dictsel_core.constraints import UniformMatroid
from dictsel_core.selection import chunked_replacement_omp, iter_chunked_replacement_omp
from dictsel_core.utility import HuberUtility

CONSTRAINTS = {
    "individual": lambda n: IndividualSparsity(3),
    "caps": lambda n: IndividualSparsity(np.arange(60) % 3 + 1),
    "matroid": lambda n: MatroidSparsity(PartitionMatroid(np.arange(n) % 3, [1, 2, 1])),
    "matroids": lambda n: MatroidSparsity(
        [PartitionMatroid(np.arange(n) % 3, [1, 2, 1]), UniformMatroid(3)] * 30
    ),
    "average": lambda n: AverageSparsity(4, 110),
    "average with caps": lambda n: AverageSparsity(np.arange(60) % 3 + 1, 80),
    "average without cap": lambda n: AverageSparsity(None, 75),
}


@pytest.mark.parametrize("keep", [True, False], ids=["kept", "recomputed"])
@pytest.mark.parametrize("masked", [False, True], ids=["complete", "masked"])
@pytest.mark.parametrize("kind", CONSTRAINTS)
@pytest.mark.parametrize("seed", range(3))
def test_chunks_select_what_the_whole_selects(kind, masked, keep, seed):
    rng = np.random.default_rng(seed)
    ground_set = random_ground_set(rng, 10, 24)
    data = rng.normal(size=(60, 10))
    mask = rng.random(data.shape) < 0.2 if masked else None
    constraint = CONSTRAINTS[kind](24)
    weights = rng.choice([0.5, 1.0, 2.0], size=60) if masked else None
    cuts = [7, 40, 41]
    whole = replacement_omp(ground_set, data, constraint, 10, mask=mask, weights=weights)
    chunked = chunked_replacement_omp(
        ground_set,
        np.split(data, cuts),
        constraint,
        10,
        mask=None if mask is None else np.split(mask, cuts),
        weights=None if weights is None else np.split(weights, cuts),
        keep=keep,
    )
    np.testing.assert_array_equal(chunked.indices, whole.indices)
    np.testing.assert_allclose(chunked.gains, whole.gains, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(chunked.objective, whole.objective)
    for ours, theirs in zip(chunked.supports, whole.supports, strict=True):
        assert sorted(ours.tolist()) == sorted(theirs.tolist())
    assert chunked.certificate.upper_bound >= whole.certificate.upper_bound * (1 - 1e-9)


@pytest.mark.parametrize(
    "constraint", [IndividualSparsity(5), AverageSparsity(8, 600)], ids=["own", "shared"]
)
def test_repeats_and_zero_gains_are_those_of_the_whole(constraint):
    """Gains reach zero, and atoms win again."""
    ground_set = standard_ground_set()
    data, _ = planted(np.random.default_rng(0), ground_set, 120, 20, 5)
    whole = replacement_omp(ground_set, data, constraint, 70)
    chunked = chunked_replacement_omp(ground_set, np.array_split(data, 5), constraint, 70)
    np.testing.assert_array_equal(chunked.indices, whole.indices)
    assert whole.gains[-1] == chunked.gains[-1] == 0


@pytest.mark.parametrize(
    "constraint", [IndividualSparsity(3), AverageSparsity(4, 500)], ids=["own", "shared"]
)
@pytest.mark.parametrize("keep", [True, False])
def test_threads_do_not_change_the_result(keep, constraint):
    ground_set = standard_ground_set((4, 4))
    chunks = np.array_split(np.random.default_rng(2).normal(size=(200, 16)), 7)
    results = [
        chunked_replacement_omp(ground_set, chunks, constraint, 8, keep=keep, threads=threads)
        for threads in (1, 4)
    ]
    np.testing.assert_array_equal(results[0].indices, results[1].indices)
    np.testing.assert_array_equal(results[0].objective, results[1].objective)


class Stored:
    """A chunk that is made where it is worked on."""

    def __init__(self, seed):
        self.seed = seed

    def __array__(self, dtype=None, copy=None):
        return np.random.default_rng(self.seed).normal(size=(20, 16))


def elsewhere(function, tasks):
    """Work as on another machine: nothing but pickles goes there and back."""

    def call(pickled):
        return pickle.dumps(pickle.loads(pickled)(pickle.loads(sent)))

    results = []
    for task in tasks:
        sent = pickle.dumps(task)
        results.append(pickle.loads(call(pickle.dumps(function))))
    return results


@pytest.mark.parametrize(
    "constraint", [IndividualSparsity(3), AverageSparsity(4, 100)], ids=["own", "shared"]
)
@pytest.mark.parametrize("keep", [True, False], ids=["kept", "recomputed"])
@pytest.mark.parametrize("utility", [None, HuberUtility(0.5)], ids=["squared", "huber"])
def test_workers_elsewhere_select_what_one_machine_selects(constraint, keep, utility):
    ground_set, chunks = standard_ground_set((4, 4)), [Stored(seed) for seed in range(3)]
    options = {"keep": keep, "utility": utility}
    spread = chunked_replacement_omp(ground_set, chunks, constraint, 8, workers=elsewhere, **options)
    whole = replacement_omp(ground_set, np.concatenate(chunks), constraint, 8, utility=utility)
    np.testing.assert_array_equal(spread.indices, whole.indices)
    np.testing.assert_allclose(spread.gains, whole.gains, rtol=1e-7)
    np.testing.assert_allclose(spread.objective, whole.objective)
    for ours, theirs in zip(spread.supports, whole.supports, strict=True):
        assert sorted(ours.tolist()) == sorted(theirs.tolist())
    assert spread.certificate.upper_bound == pytest.approx(whole.certificate.upper_bound, rel=1e-4)
    threaded = chunked_replacement_omp(ground_set, chunks, constraint, 8, threads=1, **options)
    np.testing.assert_allclose(spread.objective, threaded.objective, rtol=1e-12)


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_workers_may_be_an_executor(kind):
    ground_set, chunks = standard_ground_set((4, 4)), np.split(np.eye(16)[np.arange(24) % 16] * 3.0, 3)
    constraint = AverageSparsity(2, 40)
    pool = ThreadPoolExecutor(2) if kind == "threads" else ProcessPoolExecutor(1, get_context("spawn"))
    with pool:
        spread = chunked_replacement_omp(ground_set, chunks, constraint, 4, workers=pool.map)
    alone = chunked_replacement_omp(ground_set, chunks, constraint, 4)
    np.testing.assert_array_equal(spread.indices, alone.indices)
    np.testing.assert_allclose(spread.objective, alone.objective)


def test_workers_that_are_not_like_map_are_refused():
    problem = standard_ground_set((4, 4)), [np.ones((2, 16)), np.ones((3, 16))], IndividualSparsity(2), 3
    with pytest.raises(TypeError, match="a function such as map, not int"):
        chunked_replacement_omp(*problem, workers=4)
    with pytest.raises(ValueError, match="in the order of the tasks"):
        chunked_replacement_omp(*problem, workers=lambda function, tasks: map(function, tasks[::-1]))
    with pytest.raises(ValueError, match="2 results, as map does, not 1"):
        chunked_replacement_omp(*problem, workers=lambda function, tasks: map(function, tasks[:1]))


def test_chunks_may_be_memory_mapped_files(tmp_path):
    rng = np.random.default_rng(1)
    ground_set = standard_ground_set((4, 4))
    data = rng.normal(size=(300, 16)).astype(np.float32)
    np.save(tmp_path / "data.npy", data)
    mapped = np.load(tmp_path / "data.npy", mmap_mode="r")
    chunks = [mapped[start : start + 100] for start in range(0, 300, 100)]
    run = iter_chunked_replacement_omp(ground_set, chunks, IndividualSparsity(2), 6, keep=False)
    steps = list(run)
    assert len(steps) == 6
    whole = replacement_omp(ground_set, data, IndividualSparsity(2), 6)
    np.testing.assert_array_equal(run.result.indices, whole.indices)
    assert run.result.certificate.upper_bound == pytest.approx(whole.certificate.upper_bound, rel=1e-5)


def test_what_does_not_fit_the_chunks_is_refused():
    ground_set = standard_ground_set((4, 4))
    chunks = [np.ones((2, 16)), np.ones((3, 16))]
    with pytest.raises(TypeError, match="chunked_replacement_omp needs a sparsity constraint"):
        chunked_replacement_omp(ground_set, chunks, 2, 3)
    with pytest.raises(ValueError, match="blocks cover 4 patches, but there are 5"):
        chunked_replacement_omp(ground_set, chunks, BlockSparsity([range(4)], 2), 3)
    with pytest.raises(ValueError, match="one per patch, 5"):
        chunked_replacement_omp(ground_set, chunks, AverageSparsity([1, 2], 5), 3)
    with pytest.raises(ValueError, match="at least one array"):
        chunked_replacement_omp(ground_set, [], IndividualSparsity(2), 3)
    with pytest.raises(ValueError, match="one per chunk, 2"):
        chunked_replacement_omp(ground_set, chunks, IndividualSparsity(2), 3, mask=[None])
    with pytest.raises(ValueError, match="as many columns"):
        chunked_replacement_omp(ground_set, [chunks[0], np.ones((2, 5))], IndividualSparsity(2), 3)
