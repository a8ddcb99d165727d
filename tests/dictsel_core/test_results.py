"""What the functions return: read-only, safe to copy, short to print."""

import copy
import pickle

import numpy as np
import pytest

from dictsel_core import IndividualSparsity, ground_set_from_array, omp, replacement_omp, standard_ground_set

COPIES = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.fixture(scope="module")
def selection():
    data = np.random.default_rng(0).normal(size=(5000, 64))
    return replacement_omp(standard_ground_set(), data, IndividualSparsity(2), 3)


@pytest.fixture
def codes(selection):
    return omp(selection.dictionary, np.random.default_rng(1).normal(size=(5000, 64)), 2)


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("used", [False, True], ids=["fresh", "used"])
def test_a_copied_ground_set_is_the_same_and_read_only(duplicate, used):
    ground_set = standard_ground_set((4, 4))
    if used:
        assert ground_set.smoothness == pytest.approx(2)
    other = duplicate(ground_set)
    assert not other.atoms.flags.writeable
    np.testing.assert_array_equal(other.atoms, ground_set.atoms)
    assert other.origins == ground_set.origins
    assert other.patch_shape == (4, 4)
    assert other.smoothness == ground_set.smoothness


def test_a_ground_set_does_not_follow_the_array_it_came_from():
    atoms = np.eye(3)
    ground_set = ground_set_from_array(atoms)
    atoms[0, 0] = 5
    np.testing.assert_array_equal(ground_set.atoms, np.eye(3))


def test_selections_are_read_only(selection):
    arrays = [selection.indices, selection.gains, selection.objective]
    for array in (*arrays, *selection.supports, *selection.coefficients):
        assert not array.flags.writeable
    with pytest.raises(AttributeError):
        selection.indices = np.arange(3)


def test_codes_are_read_only(codes):
    arrays = (codes.dictionary, codes.supports, codes.coefficients, codes.residual_energy, codes.rebuilt)
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_omp_leaves_the_given_dictionary_to_its_owner(dtype):
    dictionary, data = np.eye(3, dtype=dtype), np.ones((2, 3), dtype)
    codes = omp(dictionary, data, 3)
    dictionary[...] = 0  # neither refused, nor seen by the codes
    np.testing.assert_array_equal(codes.rebuilt, data)


def test_reprs_are_one_short_line(selection, codes):
    named = ground_set_from_array(
        np.eye(500), names=[f"a name of some length, number {j}" for j in range(500)]
    )
    for thing in (selection, selection.ground_set, codes, named):
        text = repr(thing)
        assert text.startswith(type(thing).__name__ + "(")
        assert len(text) < 100
        assert "\n" not in text
    assert repr(selection.ground_set) == "GroundSet(256 atoms with 64 entries: dct+haar+db4+coif1)"
    assert repr(codes) == "SparseCodes(5000 patches in 3 atoms, using 2 each)"
    assert repr(selection).startswith("Selection(3 of 256 atoms, 5000 patches using ")
