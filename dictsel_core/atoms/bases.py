"""Orthonormal bases of image patches: the two-dimensional cosine transform and wavelets."""

from dataclasses import dataclass

import numpy as np
import pywt

from dictsel_core._util.validation import Doubles


@dataclass(frozen=True)
class AtomOrigin:
    """Origin of an atom of a ground set.

    The basis is "dct", a PyWavelets name, or the name of a custom atom. Wavelets have a decomposition level,
    1 being the finest, others 0. The orientation is "frequency" (dct), "approximation", "horizontal",
    "vertical" or "diagonal" (wavelets; "horizontal" atoms respond to horizontal edges), or "custom". Row and
    column are frequencies (dct), the place in a sub-band (wavelets), or 0 and the column of a user's array.
    """

    basis: str
    level: int
    orientation: str
    row: int
    column: int

    def __str__(self) -> str:
        if self.orientation == "custom":
            return self.basis
        level = f" level {self.level}" if self.level else ""
        return f"{self.basis}{level} {self.orientation} ({self.row}, {self.column})"


#: Atoms as columns (d, d), and the origin of each.
Basis = tuple[Doubles, list[AtomOrigin]]


def orthonormal_basis(name: str, patch_shape: tuple[int, int]) -> Basis:
    """Return the basis "dct", or that of an orthonormal PyWavelets wavelet, whose sides must be even."""
    if name == "dct":
        return _cosine_basis(patch_shape)
    return _wavelet_basis(name, patch_shape)


def _cosine_basis(patch_shape: tuple[int, int]) -> Basis:
    vertical, horizontal = (_cosines(size) for size in patch_shape)
    origins = [AtomOrigin("dct", 0, "frequency", row, column) for row, column in np.ndindex(*patch_shape)]
    return np.kron(vertical, horizontal).T.astype(np.float64), origins


def _cosines(size: int) -> Doubles:
    """Return the orthonormal cosine transform (type II) as a matrix: one frequency per row."""
    frequencies, positions = np.arange(size), np.arange(size)
    rows: Doubles = np.cos(np.pi / size * np.outer(frequencies, positions + 0.5)) * np.sqrt(2 / size)
    rows[0] = np.sqrt(1 / size)
    return rows


def _wavelet_basis(name: str, patch_shape: tuple[int, int]) -> Basis:
    wavelet = _orthonormal_wavelet(name)
    if any(size % 2 for size in patch_shape):
        raise ValueError(
            f"The wavelet basis {name!r} needs an even patch height and width, "
            f"but patch_shape is {patch_shape}."
        )
    left, level = np.eye(int(np.prod(patch_shape))).reshape(-1, *patch_shape), 0
    bands: list[tuple[int, str, Doubles]] = []  # coarse to fine
    while all(size % 2 == 0 for size in left.shape[1:]):
        level += 1
        # Periodic, which keeps every wavelet orthonormal even if its filter is longer than the patch.
        left, details = pywt.dwt2(left, wavelet, "periodization", axes=(1, 2))
        names = ("horizontal", "vertical", "diagonal")
        bands[:0] = [(level, *band) for band in zip(names, details, strict=True)]
    bands.insert(0, (level, "approximation", left))
    # The coefficients of unit pixels: each of them, by pixels, is an atom.
    atoms = np.concatenate([values.reshape(len(values), -1) for *_, values in bands], axis=1)
    origins = [
        AtomOrigin(name, level, orientation, row, column)
        for level, orientation, values in bands
        for row, column in np.ndindex(values.shape[1:])
    ]
    # The tables of some wavelets are not accurate enough (dmey: three digits).
    if not np.allclose(atoms.T @ atoms, np.eye(atoms.shape[1]), atol=1e-6):
        raise ValueError(
            f"The wavelet {name!r} is not orthonormal to working precision; choose another basis."
        )
    return atoms, origins


def _orthonormal_wavelet(name: str) -> pywt.Wavelet:
    try:
        wavelet = pywt.Wavelet(name)
    except (ValueError, TypeError):
        raise ValueError(
            f"Unknown basis {name!r}: expected 'dct' or a discrete PyWavelets wavelet such as "
            "'haar', 'db4' or 'coif1'."
        ) from None
    if not wavelet.orthogonal:
        raise ValueError(
            f"The wavelet {name!r} is not orthonormal; choose one of the haar, db, sym or coif families."
        )
    return wavelet
