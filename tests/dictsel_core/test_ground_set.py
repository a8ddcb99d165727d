import itertools

import numpy as np
import pytest
import pywt
from hypothesis import given
from hypothesis import strategies as st

from dictsel_core import GroundSet, ground_set_from_array, standard_ground_set
from dictsel_core.atoms import STANDARD_BASES

ORTHONORMAL = [
    name for name in pywt.wavelist(kind="discrete") if pywt.Wavelet(name).orthogonal and name != "dmey"
]


@pytest.mark.parametrize("name", ["dct", *ORTHONORMAL])
def test_every_basis_is_orthonormal(name):
    atoms = standard_ground_set(bases=[name]).atoms
    assert atoms.shape == (64, 64)
    np.testing.assert_allclose(atoms.T @ atoms, np.eye(64), atol=1e-6)


@pytest.mark.parametrize("shape", [(2, 2), (4, 8), (16, 16), (6, 10), (12, 2)])
@pytest.mark.parametrize("name", STANDARD_BASES)
def test_any_even_patch_shape_gives_an_orthonormal_basis(name, shape):
    atoms = standard_ground_set(shape, [name]).atoms
    np.testing.assert_allclose(atoms.T @ atoms, np.eye(shape[0] * shape[1]), atol=1e-10)


def test_dct_takes_odd_patches_too():
    assert standard_ground_set((5, 7), ["dct"]).atoms.shape == (35, 35)


def test_standard_ground_set_is_the_papers():
    ground_set = standard_ground_set()
    assert ground_set.atoms.shape == (64, 256)
    assert len(ground_set) == len(ground_set.origins) == 256
    np.testing.assert_allclose(np.linalg.norm(ground_set.atoms, axis=0), 1)
    constant = np.abs(ground_set.atoms.sum(axis=0)) > 8 - 1e-9
    assert constant.sum() == 4  # once per basis
    assert ground_set.coherence == pytest.approx(1)
    assert ground_set.smoothness == pytest.approx(2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["haar", "db4", "coif1"])
def test_wavelet_atoms_are_those_of_pywavelets(name):
    ground_set = standard_ground_set((32, 32), [name])
    for origin, atom in zip(ground_set.origins, ground_set.atoms.T, strict=True):
        if origin.level > 2:
            continue  # PyWavelets warns about levels as deep as ours
        bands = pywt.wavedec2(np.zeros((32, 32)), name, mode="periodization", level=2)
        band = {"horizontal": 0, "vertical": 1, "diagonal": 2}[origin.orientation]
        bands[-origin.level][band][origin.row, origin.column] = 1
        expected = pywt.waverec2(bands, name, mode="periodization")
        np.testing.assert_allclose(atom.reshape(32, 32), expected, atol=1e-12)


def test_dct_origins_are_frequencies():
    ground_set = standard_ground_set(bases=["dct"])
    for origin, atom in zip(ground_set.origins, ground_set.atoms.T, strict=True):
        rows = np.cos(np.pi * (np.arange(8) + 0.5) * origin.row / 8)
        columns = np.cos(np.pi * (np.arange(8) + 0.5) * origin.column / 8)
        picture = np.outer(rows, columns)
        assert atom @ picture.ravel() == pytest.approx(np.linalg.norm(picture))


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 7), d=st.integers(1, 5))
def test_smoothness_is_sigma_max_of_pairs_by_brute_force(seed, n, d):
    rng = np.random.default_rng(seed)
    ground_set = ground_set_from_array(rng.normal(size=(d, n)))
    pairs = itertools.combinations(range(n), min(2, n))
    largest = max(np.linalg.norm(ground_set.atoms[:, pair], 2) ** 2 for pair in map(list, pairs))
    assert ground_set.smoothness == pytest.approx(largest)
    assert ground_set.smoothness == 1 + ground_set.coherence
    masked = ground_set.atoms * (rng.random(d) < 0.5)[:, None]  # rows that a mask removes
    for pair in itertools.combinations(range(n), min(2, n)):
        assert np.linalg.norm(masked[:, list(pair)], 2) ** 2 <= ground_set.smoothness + 1e-12


def test_own_atoms_are_normalized_and_named():
    given_atoms = np.array([[3.0, 0.0], [4.0, 1e-200]])
    ground_set = ground_set_from_array(given_atoms, names=["slope", "tiny"])
    np.testing.assert_allclose(ground_set.atoms, [[0.6, 0], [0.8, 1]])
    assert [str(origin) for origin in ground_set.origins] == ["slope", "tiny"]
    np.testing.assert_array_equal(given_atoms, [[3, 0], [4, 1e-200]])


def test_coherence_of_a_large_ground_set_goes_in_blocks():
    rng = np.random.default_rng(0)
    ground_set = ground_set_from_array(rng.normal(size=(3, 4100)))
    gram = np.abs(ground_set.atoms.T @ ground_set.atoms)
    np.fill_diagonal(gram, 0)
    assert ground_set.coherence == pytest.approx(gram.max())


def test_atoms_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        standard_ground_set().atoms[0, 0] = 1


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"bases": ["dct", "nope"]}, ValueError, "Unknown basis 'nope'"),
        ({"bases": ["bior2.2"]}, ValueError, "not orthonormal"),
        ({"bases": ["dmey"]}, ValueError, "not orthonormal"),
        ({"bases": ["gaus1"]}, ValueError, "Unknown basis"),
        ({"bases": []}, ValueError, "at least one"),
        ({"bases": ["dct", "dct"]}, ValueError, "twice"),
        ({"bases": "dct"}, TypeError, "sequence of names"),
        ({"patch_shape": (7, 8)}, ValueError, "even patch height"),
        ({"patch_shape": (0, 8)}, ValueError, "patch height must be at least 1"),
        ({"patch_shape": 8}, TypeError, "pair"),
        ({"patch_shape": (8.0, 8)}, TypeError, "whole number"),
    ],
)
def test_bad_bases_and_shapes_are_refused_with_a_sentence(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        standard_ground_set(**arguments)


@pytest.mark.parametrize(
    ("atoms", "options", "sentence"),
    [
        ([[1.0, 0.0], [1.0, 0.0]], {}, "'atom 1' .column 1. is zero"),
        ([[1.0, np.nan], [1.0, 0.0]], {"names": ["good", "bad"]}, "'bad' .column 1. contains NaN"),
        ([[np.inf], [1.0]], {}, "infinity"),
        ([1.0, 2.0], {}, "two-dimensional"),
        (np.zeros((3, 0)), {}, "not be empty"),
        ([[1.0], [1.0]], {"names": ["a", "b"]}, "one entry per column"),
        ([[1.0], [1.0]], {"patch_shape": (2, 2)}, "does not fit"),
    ],
)
def test_bad_atoms_are_refused_by_name(atoms, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        ground_set_from_array(atoms, **options)


@pytest.mark.parametrize("names", ["ab", 5])
def test_names_are_a_sequence(names):
    with pytest.raises(TypeError, match="names must be a sequence"):
        ground_set_from_array(np.eye(2), names=names)


def test_text_is_not_an_atom():
    with pytest.raises(TypeError, match="real numbers"):
        ground_set_from_array([["a"], ["b"]])


@pytest.mark.parametrize(
    ("atoms", "origins"),
    [([1, 2], ()), (None, ()), (np.eye(2), ()), (np.eye(2), (1, 2)), (np.eye(2), 2), (np.eye(2), None)],
)
def test_a_ground_set_of_something_else_is_refused(atoms, origins) -> None:
    with pytest.raises((TypeError, ValueError), match=r"^(atoms|origins) must"):
        GroundSet(atoms, origins)
