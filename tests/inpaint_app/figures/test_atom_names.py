"""Bases and atoms in words."""

import pytest

from dictsel_core import standard_ground_set
from dictsel_core.atoms import AtomOrigin
from inpaint_app.figures import format_basis, format_origin


@pytest.mark.parametrize(
    ("basis", "words"),
    [
        ("dct", "Cosines (dct)"),
        ("haar", "Haar wavelets (haar)"),
        ("db4", "Daubechies wavelets (db4)"),
        ("coif1", "Coiflets (coif1)"),
        ("sym3", "Symlets (sym3)"),
        ("mine", "mine"),
    ],
)
def test_names_of_bases(basis, words):
    assert format_basis(basis) == words


def test_origins():
    assert format_origin(AtomOrigin("dct", 0, "frequency", 1, 2)) == "Cosine, frequency 1 down and 2 across"
    wavelet = AtomOrigin("haar", 2, "vertical", 0, 1)
    assert format_origin(wavelet) == "Haar wavelet (haar), level 2, vertical, at row 0, column 1"
    assert format_origin(AtomOrigin("db", 0, "custom", 0, 3)) == "db"


def test_atoms_of_the_standard_ground_set_are_told_apart():
    origins = standard_ground_set((8, 8)).origins
    words = {(origin.basis, format_origin(origin)) for origin in origins}
    assert len(words) == len(origins)
