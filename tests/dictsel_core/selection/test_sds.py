"""SDS_MA and SDS_OMP against their definitions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import least_squares, planted, random_ground_set

from dictsel_core import (
    AverageSparsity,
    BlockSparsity,
    IndividualSparsity,
    MatroidSparsity,
    ground_set_from_array,
    omp,
    standard_ground_set,
)
from dictsel_core.constraints import UniformMatroid
from dictsel_core.selection import sds_ma, sds_omp


def single_utilities(ground_set, data, mask):
    """f_t({a}) for all t and a."""
    return np.array(
        [
            [least_squares(ground_set, y, missing, [a])[1] for a in range(len(ground_set))]
            for y, missing in zip(data, mask, strict=True)
        ]
    )


def modular_optimum(values, atoms, constraint):
    """Best sum over all supports within `atoms`, by trying all of them."""
    n_points = len(values)
    subsets = [c for size in range(len(atoms) + 1) for c in combinations(atoms, size)]

    def best(t, chosen):
        if t == n_points:
            supports = [np.array(z, int) for z in chosen]
            allowed = constraint.is_feasible(supports)
            return sum(values[t, list(z)].sum() for t, z in enumerate(chosen)) if allowed else -np.inf
        return max(best(t + 1, [*chosen, z]) for z in subsets)

    return best(0, [])


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    constraint=st.sampled_from(
        [
            IndividualSparsity(2),
            IndividualSparsity([1, 2, 3]),
            AverageSparsity(2, 3),
            AverageSparsity([1, 2, 3], 4),
            AverageSparsity(None, 4),
        ]
    ),
)
def test_sds_ma_is_greedy_on_the_modular_objective(seed, constraint):
    rng = np.random.default_rng(seed)
    ground_set = random_ground_set(rng, 4, 5)
    data = rng.normal(size=(3, 4))
    mask = rng.random(data.shape) < 0.2
    values = single_utilities(ground_set, data, mask)
    selection = sds_ma(ground_set, data, constraint, 3, mask=mask)
    chosen: list[int] = []
    for step, atom in enumerate(selection.indices.tolist()):
        others = [a for a in range(5) if a not in chosen]
        totals = {a: modular_optimum(values, [*chosen, a], constraint) for a in others}
        assert totals[atom] == pytest.approx(max(totals.values()))
        assert selection.objective[step] == pytest.approx(totals[atom])
        chosen.append(atom)
    assert constraint.is_feasible(selection.supports)
    kept = sum(values[t, z].sum() for t, z in enumerate(selection.supports))
    assert kept == pytest.approx(selection.objective[-1])
    for y, missing, z, w in zip(data, mask, selection.supports, selection.coefficients, strict=True):
        refit = ground_set.atoms[:, z] @ w
        _, utility = least_squares(ground_set, y, missing, z)
        residual = np.where(missing, 0, y - refit)
        energy = np.where(missing, 0, y) @ np.where(missing, 0, y)
        assert (energy - residual @ residual) / 2 == pytest.approx(utility, abs=1e-6)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    caps=st.sampled_from([1, 2, 3, [1, 3, 2, 2]]),
    masked=st.booleans(),
)
def test_sds_omp_is_greedy_on_the_value_that_omp_reaches(seed, caps, masked):
    rng = np.random.default_rng(seed)
    ground_set = random_ground_set(rng, 5, 8)
    data = rng.normal(size=(4, 5))
    mask = (rng.random(data.shape) < 0.2) & masked
    observed = np.where(mask, 0, data)
    selection = sds_omp(ground_set, data, IndividualSparsity(caps), 5, mask=mask)

    def value(atoms):
        codes = omp(ground_set.atoms[:, atoms], data, caps, mask=mask)
        return ((observed**2).sum() - codes.residual_energy.sum()) / 2

    chosen: list[int] = []
    for step, atom in enumerate(selection.indices.tolist()):
        totals = {a: value([*chosen, a]) for a in range(8) if a not in chosen}
        assert totals[atom] == pytest.approx(max(totals.values()), abs=1e-9)
        chosen.append(atom)
        assert selection.objective[step] == pytest.approx(value(chosen), abs=1e-9)
    codes = omp(selection.dictionary, data, caps, mask=mask)
    for support, row in zip(selection.supports, codes.supports, strict=True):
        assert set(support.tolist()) == set(selection.indices[row[row >= 0]].tolist())


@pytest.mark.parametrize("selector", [sds_ma, sds_omp])
def test_planted_dictionaries_are_recovered(selector):
    rng = np.random.default_rng(1)
    ground_set = standard_ground_set(bases=["dct"])
    data, atoms = planted(rng, ground_set, 200, 10, 3)
    selection = selector(ground_set, data, IndividualSparsity(3), 10)
    assert np.sort(selection.indices).tolist() == atoms.tolist()


@pytest.mark.parametrize("selector", [sds_ma, sds_omp])
def test_duplicate_atoms_hidden_patches_one_patch_and_float32(selector):
    rng = np.random.default_rng(2)
    atoms = rng.normal(size=(9, 5))
    ground_set = ground_set_from_array(np.hstack([atoms, atoms]))
    data = rng.normal(size=(6, 9))
    mask = rng.random(data.shape) < 0.3
    mask[2] = True
    for points in (data, data.astype(np.float32), data[:1]):
        selection = selector(ground_set, points, IndividualSparsity(4), 10, mask=mask[: len(points)])
        assert sorted(selection.indices.tolist()) == list(range(10))
        weights = np.concatenate(selection.coefficients)
        assert np.isfinite(weights).all()
        assert np.abs(weights).max() < 1e3


@pytest.mark.parametrize(
    ("selector", "constraint"),
    [
        (sds_ma, BlockSparsity([[0], [1]], 2)),
        (sds_ma, MatroidSparsity(UniformMatroid(2))),
        (sds_omp, AverageSparsity(2, 3)),
        (sds_omp, BlockSparsity([[0], [1]], 2)),
    ],
)
def test_wrong_pairs_are_refused_at_once(selector, constraint):
    with pytest.raises(TypeError, match=f"not {type(constraint).__name__}; use replacement_omp"):
        selector(standard_ground_set(), np.ones((2, 64)), constraint, 3)
