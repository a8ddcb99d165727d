"""Multispectral patches: intact patches of a scene bring back the bands that others have lost.

A scene of eight bands is made of a photograph: its brightness mixes four materials, each with a smooth
spectrum. In the right half of the scene every patch lacks three bands. Candidates are intact patches of the
left half, over space and wavelength at once.
"""

import argparse

import numpy as np
import skimage.data
from numpy.typing import NDArray

from dictsel_core import (
    IndividualSparsity,
    ground_set_from_array,
    omp,
    replacement_ols,
)

SIZE, BANDS, SPARSITY, N_ATOMS = 4, 8, 4, 40


def main() -> None:
    """Print what is left of the lost bands with selected patches, and with the mean of the other bands."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer patches")
    n_points = 300 if parser.parse_args().quick else 3000
    rng = np.random.default_rng(0)
    cube = scene(rng)
    half = cube.shape[1] // 2
    intact, data = patches(rng, cube[:, :half], 400), patches(rng, cube[:, half:], n_points)
    missing = np.zeros((n_points, SIZE * SIZE, BANDS), bool)
    for patch in missing:
        patch[:, rng.choice(BANDS, 3, replace=False)] = True
    missing = missing.reshape(n_points, -1)
    selection = replacement_ols(
        ground_set_from_array(intact.T), data, IndividualSparsity(SPARSITY), N_ATOMS, mask=missing
    )
    rebuilt = omp(selection.dictionary, data, SPARSITY, mask=missing).rebuilt
    seen = np.where(missing, np.nan, data).reshape(n_points, -1, BANDS)
    means = np.broadcast_to(np.nanmean(seen, axis=2, keepdims=True), seen.shape).reshape(data.shape)
    for name, found in {"mean of the other bands": means, "selected intact patches": rebuilt}.items():
        left = np.square((data - found)[missing]).sum() / np.square(data[missing]).sum()
        print(f"{name:<24} leaves {100 * left:.2f}% of the energy of the lost bands")


def scene(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return a scene of eight bands: the brightness of a photograph decides between four spectra."""
    brightness = skimage.data.camera()[::2, ::2] / 255.0
    centers = np.linspace(0, 1, 4)
    mixture = np.exp(-(((brightness[:, :, None] - centers) / 0.2) ** 2))
    mixture /= mixture.sum(axis=2, keepdims=True)
    wavelengths = np.linspace(0, 1, BANDS)
    peaks, widths = rng.uniform(0, 1, 4), rng.uniform(0.2, 0.5, 4)
    spectra = np.exp(-(((wavelengths - peaks[:, None]) / widths[:, None]) ** 2))
    return np.asarray((0.3 + brightness[:, :, None]) * (mixture @ spectra))


def patches(rng: np.random.Generator, cube: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return random patches as rows, all bands of a pixel side by side."""
    rows, columns = (rng.integers(0, length - SIZE, count) for length in cube.shape[:2])
    return np.array([cube[r : r + SIZE, c : c + SIZE].ravel() for r, c in zip(rows, columns, strict=True)])


if __name__ == "__main__":
    main()
