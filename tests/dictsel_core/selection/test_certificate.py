"""Certificates against optima found by enumeration: an upper bound is never below the truth."""

import numpy as np
import pytest
from constraints import KINDS, make_constraint
from synthetic import optimum, planted

from dictsel_core import (
    AverageSparsity,
    BlockSparsity,
    IndividualSparsity,
    ground_set_from_array,
    replacement_ols,
    replacement_omp,
    standard_ground_set,
)
from dictsel_core.constraints import LocalConstraint
from dictsel_core.selection import Certificate, iter_replacement_omp, replacement_greedy, sds_ma, sds_omp


def orthonormal(rng):
    return np.linalg.qr(rng.normal(size=(5, 5)))[0]


#: Ground sets of six atoms in five dimensions, from the easiest to the hardest for a bound.
ATOMS = {
    "orthonormal": orthonormal,
    "nearly orthonormal": lambda rng: orthonormal(rng) + 0.1 * rng.normal(size=(5, 5)),
    "with a copy": lambda rng: orthonormal(rng)[:, [0, 1, 2, 3, 4, 1]],
    "random": lambda rng: rng.normal(size=(5, 6)),
}


def selectors(constraint):
    yield replacement_omp
    yield replacement_ols
    yield lambda *problem, **options: replacement_omp(*problem, **options, decay=True)
    if isinstance(constraint, LocalConstraint):
        yield replacement_greedy
    if isinstance(constraint, IndividualSparsity | AverageSparsity):
        yield sds_ma
    if isinstance(constraint, IndividualSparsity):
        yield sds_omp


@pytest.mark.parametrize("atoms", ATOMS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("masked", [False, True], ids=["complete", "masked"])
def test_no_dictionary_beats_the_upper_bound(kind, atoms, masked):
    rng = np.random.default_rng(sum(map(ord, kind + atoms)))
    ground_set = ground_set_from_array(ATOMS[atoms](rng))
    data = rng.normal(size=(3, 5))
    missing = rng.random(data.shape) < 0.2 if masked else None
    constraint = make_constraint(kind, rng, 3, len(ground_set))
    best = optimum(ground_set, data, constraint, 2, missing)
    for select in selectors(constraint):
        selection = select(ground_set, data, constraint, 2, mask=missing)
        certificate = selection.certificate
        assert certificate.achieved <= best * (1 + 1e-9) + 1e-12
        assert certificate.upper_bound >= best * (1 - 1e-9)
        assert 0 <= certificate.ratio <= 1


@pytest.mark.parametrize("seed", range(8))
def test_single_atoms_are_bounded_well_though_atoms_are_nearly_dependent(seed):
    """With one atom per patch the objective is submodular, whatever the ground set and the mask."""
    rng = np.random.default_rng(seed)
    ground_set = ground_set_from_array(rng.normal(size=(4, 1)) + 0.3 * rng.normal(size=(4, 7)))
    data, missing = rng.normal(size=(4, 4)), rng.random((4, 4)) < 0.2
    best = optimum(ground_set, data, IndividualSparsity(1), 2, missing)
    certificate = replacement_greedy(ground_set, data, IndividualSparsity(1), 2, mask=missing).certificate
    assert best * (1 - 1e-9) <= certificate.upper_bound
    assert certificate.upper_bound < np.square(data[~missing]).sum() / 2


def test_an_orthonormal_basis_is_certified_nearly_optimal():
    basis = standard_ground_set(bases=["dct"])
    data = np.random.default_rng(0).normal(size=(200, 64)) * np.linspace(2, 0.1, 64) @ basis.atoms.T
    certificate = replacement_omp(basis, data, IndividualSparsity(5), 20).certificate
    assert certificate.reason == "gains"
    assert certificate.ratio > 0.9


def test_the_standard_ground_set_is_certified_though_it_has_no_guarantee():
    ground_set = standard_ground_set()
    data, _ = planted(np.random.default_rng(1), ground_set, 300, 10, 3)
    certificate = replacement_omp(ground_set, data, IndividualSparsity(3), 10).certificate
    assert certificate.ratio > 0.8
    assert str(certificate).startswith("at least 0.")
    assert str(certificate).endswith("of the best possible")


def test_a_dictionary_is_bounded_by_the_spectrum_and_a_block_by_its_own():
    rng = np.random.default_rng(2)
    ground_set = standard_ground_set((4, 4))
    data = rng.normal(size=(60, 16)) * np.geomspace(1, 0.01, 16)
    spectrum = np.square(np.linalg.svd(data, compute_uv=False))
    certificate = replacement_omp(ground_set, data, IndividualSparsity(4), 4).certificate
    assert certificate.reason == "spectrum"
    assert certificate.upper_bound == pytest.approx(spectrum[:4].sum() / 2)
    blocks = BlockSparsity([range(30), range(30, 60)], 2)
    halves = [np.square(np.linalg.svd(half, compute_uv=False)) for half in (data[:30], data[30:])]
    certificate = replacement_omp(ground_set, data, blocks, 8).certificate
    assert certificate.reason == "blocks"
    assert certificate.upper_bound == pytest.approx(sum(half[:2].sum() for half in halves) / 2)


def test_a_budget_below_the_number_of_patches_reaches_the_largest_only():
    ground_set = ground_set_from_array(np.eye(3)[:, :2] + 0.5)
    data = np.diag([3.0, 2.0, 1.0])
    certificate = replacement_omp(ground_set, data, AverageSparsity(None, 2), 2).certificate
    assert certificate.upper_bound <= (9 + 4) / 2 * (1 + 1e-6)


def test_every_step_of_a_run_has_its_certificate():
    ground_set = standard_ground_set((4, 4))
    data = np.random.default_rng(3).normal(size=(50, 16))
    run = iter_replacement_omp(ground_set, data, IndividualSparsity(2), 5)
    assert run.result.certificate.ratio in (0.0, 1.0)  # no atoms yet
    for step in run:
        certificate = run.result.certificate
        assert certificate.achieved == pytest.approx(step.objective)
    assert certificate == replacement_omp(ground_set, data, IndividualSparsity(2), 5).certificate


@pytest.mark.parametrize("sparsity", [1, 2])
@pytest.mark.parametrize("seed", range(10))
def test_bounds_hold_in_single_precision(sparsity, seed):
    """Where they are tight: the optimum is reached, and rounding must not put the bound below it."""
    rng = np.random.default_rng(seed)
    ground_set = ground_set_from_array(orthonormal(rng))
    data = rng.normal(size=(3, 5)).astype(np.float32)
    best = optimum(ground_set, data.astype(float), IndividualSparsity(sparsity), 2)
    certificate = replacement_greedy(ground_set, data, IndividualSparsity(sparsity), 2).certificate
    assert certificate.upper_bound >= best


def test_bounds_hold_where_single_precision_explains_next_to_nothing():
    rng = np.random.default_rng(0)
    ground_set = ground_set_from_array(rng.normal(size=(4, 1)))
    data = rng.normal(size=(40, 4))
    data -= 0.99 * data @ ground_set.atoms @ ground_set.atoms.T
    for y in data.astype(np.float32):
        certificate = sds_omp(ground_set, y[None], IndividualSparsity(1), 1).certificate
        assert certificate.upper_bound >= (y.astype(np.float64) @ ground_set.atoms).item() ** 2 / 2


def test_data_of_zeros_are_represented_as_well_as_possible():
    assert (
        replacement_omp(
            standard_ground_set((4, 4)), np.zeros((3, 16)), IndividualSparsity(2), 2
        ).certificate.ratio
        == 1
    )


def test_words_are_rounded_down():
    assert str(Certificate(7999.9, 10000.0, "energy")) == "at least 0.799 of the best possible"
