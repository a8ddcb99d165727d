"""Data sets of the paper's experiments (section 6, "Datasets")."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import synthetic
from dictsel_core import standard_ground_set

Array = NDArray[np.float64]

#: DCT, Haar, Daubechies 4 and coiflet on 8 x 8 patches: d = 64, n = 256.
GROUND_SET = standard_ground_set()
PATCH = 8

#: Photographs that come with scikit-image; without diagrams, texts and microscopy.
_BUNDLED = ("astronaut", "camera", "chelsea", "coffee", "coins", "rocket", "brick", "grass", "gravel", "moon")


class ImagesError(Exception):
    """A folder without any usable photograph."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Training and test points, as rows."""

    train: Array
    test: Array


def seed(*numbers: int) -> int:
    """Return the seed of a trial, given by some numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])


def synthetic_sample(n_points: int, n_atoms: int, sparsity: int, trial: int) -> Sample:
    """Sparse Gaussian combinations of a random dictionary of `n_atoms` atoms of the ground set."""
    return Sample(*synthetic(GROUND_SET, n_points, n_atoms, sparsity, seed(n_points, n_atoms, trial)))


class Photographs:
    """A pool of photographs, from which every trial draws one.

    Parameters
    ----------
    folder : Path or None
        Any folder of pictures, such as that of VOC2006; None for those inside scikit-image and scikit-learn.
    """

    def __init__(self, folder: Path | None) -> None:
        self._paths = [] if folder is None else _pictures_in(folder)
        self._bundled = bundled_photographs() if folder is None else []

    def sample(self, n_points: int, trial: int) -> Sample:
        """Draw a photograph that has enough patches, then different patches for training and test."""
        rng = np.random.default_rng(seed(n_points, trial))
        for number in rng.permutation(len(self._paths) or len(self._bundled)):
            picture = _read(self._paths[number]) if self._paths else self._bundled[number]
            patches = normalized_patches(picture)
            if len(patches) >= 2 * n_points:
                drawn = patches[rng.choice(len(patches), 2 * n_points, replace=False)]
                return Sample(drawn[:n_points], drawn[n_points:])
        raise ImagesError(f"No photograph has {2 * n_points} patches of {PATCH} x {PATCH} pixels.")


def normalized_patches(picture: Array) -> Array:
    """Cut an image into adjacent patches of zero mean and unit variance, without constant ones."""
    height, width = (length - length % PATCH for length in picture.shape)
    tiles = picture[:height, :width].reshape(height // PATCH, PATCH, width // PATCH, PATCH).swapaxes(1, 2)
    patches = tiles.reshape(-1, PATCH**2)
    patches = patches - patches.mean(axis=1, keepdims=True)
    deviations = patches.std(axis=1, keepdims=True)
    usable = deviations[:, 0] > 1e-3
    return np.asarray(patches[usable] / deviations[usable])


def bundled_photographs() -> list[Array]:
    """Return the photographs inside scikit-image and scikit-learn in gray, from 0 to 1."""
    import skimage.data
    from skimage.color import rgb2gray
    from sklearn.datasets import load_sample_images

    pictures = [getattr(skimage.data, name)() for name in _BUNDLED] + load_sample_images().images
    return [rgb2gray(each) if each.ndim == 3 else each / 255.0 for each in pictures]


def _pictures_in(folder: Path) -> list[Path]:
    kinds = {".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff"}
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in kinds)
    if not found:
        raise ImagesError(f"There is no picture in {folder}.")
    return found


def _read(path: Path) -> Array:
    from PIL import Image

    with Image.open(path) as picture:
        return np.asarray(picture.convert("L"), dtype=np.float64) / 255.0
