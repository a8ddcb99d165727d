"""Volumes and films: planes by themselves against planes with the help of their neighbors."""

from collections.abc import Callable
from functools import partial

import numpy as np
import skimage.color
import skimage.data
from numpy.typing import NDArray
from scipy import ndimage

from benchmarks import science
from benchmarks.measure import print_table
from benchmarks.pictures import Mask
from dictsel_core import restore

Volume = NDArray[np.float64]

#: Planes of a volume, and their height and width.
_N_PLANES, _SIZE = 8, 128
_REACHES = (0, 1, 2, 3, None)
_UNRELATED = ("camera", "coins", "astronaut", "brick", "moon", "gravel", "page", "chelsea")
_UNRELATED_TOO = (
    *("coffee", "grass", "rocket", "clock", "text", "retina", "hubble_deep_field", "immunohistochemistry"),
)


def main() -> None:
    """Print the PSNR of the missing pixels without neighbors, and what neighbors gain."""
    rows = []
    for name, make in volumes().items():
        volume = make()
        for damage, mask in damages(volume.shape).items():
            hollow = np.where(mask, np.nan, volume)
            alone, *others = (
                _quality(volume, restore(hollow, axes=(1, 2), neighbor_planes=reach).image, mask)
                for reach in _REACHES
            )
            rows.append([f"{name}, {damage}", f"{alone:.2f}", *(f"{each - alone:+.2f}" for each in others)])
    print_table(
        f"Volumes of up to {_N_PLANES} planes: PSNR in dB of missing pixels, and the gain with neighbors",
        ["volume, damage", "alone", "1", "2", "3", "default"],
        rows,
    )


def volumes() -> dict[str, Callable[[], Volume]]:
    """Return what makes volumes of about unit range, by name."""
    return {
        "photograph, moving by 2 px": partial(_moving, "camera", (150, 150), (1.3, 1.5)),
        "head, deformed by 1 px": lambda: _deformed(_head(), (60, 60), 1, 1),
        "head, deformed by 3 px": lambda: _deformed(_head(), (60, 60), 3, 9),
        "blobs, correlated over 2 planes": partial(_blobs, 2, 3),
        "blobs, correlated over 1 plane": partial(_blobs, 1, 2),
        "unrelated photographs": partial(_unrelated, _UNRELATED),
        "photograph, magnified and turned": partial(_moving, "coffee", (150, 200), (0, 0.4), 1.02, 0.01),
        "photograph, moving by 8 px": partial(_moving, "chelsea", (100, 100), (0.5, 8.3)),
        "spheres": _spheres,
        "sky, noise only": _sky,
        "retina, deformed by 4 px": lambda: _deformed(_gray("retina"), (600, 500), 4, 11),
        "stereo pair": _stereo,
        "other unrelated photographs": partial(_unrelated, _UNRELATED_TOO),
        "texture, moving by 3 px": partial(_moving, "brick", (100, 100), (0.4, 3.2)),
    }


def damages(shape: tuple[int, ...]) -> dict[str, Mask]:
    """Return masks by name, True = missing: random pixels of each plane, and the same lines in all planes."""
    lines = np.zeros(shape, bool)
    lines[:, :, np.random.default_rng(7).choice(shape[2], shape[2] // 12, replace=False)] = True
    random = {f"{100 * part:.0f} %": np.random.default_rng(7).random(shape) < part for part in (0.8, 0.5)}
    return {**random, "dead lines": lines}


def _quality(volume: Volume, restored: Volume, mask: Mask) -> float:
    error = np.mean(np.square(volume - restored)[mask])
    return float(10 * np.log10(np.ptp(volume) ** 2 / error))


def _gray(name: str) -> Volume:
    picture = getattr(skimage.data, name)()
    gray = picture if picture.ndim == 2 else skimage.color.rgb2gray(picture)
    return np.asarray(gray / (255 if gray.max() > 1.5 else 1), dtype=np.float64)


def _head() -> Volume:
    head = science.pictures()["head (MRI)"]
    return np.asarray(head / head.max())


def _noisy(planes: Volume | list[Volume]) -> Volume:
    noise = np.random.default_rng(5).normal(0, 0.01, np.shape(planes))
    return np.clip(np.clip(planes, 0, 1) + noise, 0, 1)


def _moving(
    name: str, corner: tuple[int, int], step: tuple[float, float], zoom: float = 1, angle: float = 0
) -> Volume:
    """Return parts of a picture, each of which is elsewhere, and may be larger and turned."""
    gray = _gray(name)
    rows, columns = np.mgrid[:_SIZE, :_SIZE] - _SIZE / 2
    planes = []
    for z in range(_N_PLANES):
        cosine, sine = np.cos(angle * z) / zoom**z, np.sin(angle * z) / zoom**z
        turned = cosine * rows - sine * columns, sine * rows + cosine * columns
        places = [
            each + start + _SIZE / 2 + z * far for each, start, far in zip(turned, corner, step, strict=True)
        ]
        planes.append(ndimage.map_coordinates(gray, places, order=3, mode="reflect"))
    return _noisy(planes)


def _deformed(gray: Volume, corner: tuple[int, int], pixels: float, seed: int) -> Volume:
    """Return parts of a picture, each of which is deformed by up to some pixels more than the one before."""
    noise = np.random.default_rng(seed).normal(size=(2, _N_PLANES + 12, _SIZE, _SIZE))
    fields = ndimage.gaussian_filter(noise, (0, 2, 20, 20))[:, 6 : 6 + _N_PLANES]
    fields *= pixels / np.abs(np.diff(fields, axis=1)).max()
    rows, columns = np.mgrid[:_SIZE, :_SIZE].astype(float)
    places = [
        (rows + corner[0] + down, columns + corner[1] + right) for down, right in zip(*fields, strict=True)
    ]
    return _noisy([ndimage.map_coordinates(gray, each, order=3, mode="reflect") for each in places])


def _blobs(across_planes: float, across_pixels: float) -> Volume:
    noise = np.random.default_rng(2).normal(size=(_N_PLANES + 8, _SIZE, _SIZE))
    smooth = ndimage.gaussian_filter(noise, (across_planes, across_pixels, across_pixels))[4:-4]
    return _noisy(1 / (1 + np.exp(-4 * smooth / smooth.std())))


def _spheres() -> Volume:
    """Return textured spheres with the noise of photons."""
    rng = np.random.default_rng(3)
    depth, rows, columns = np.mgrid[:_N_PLANES, :_SIZE, :_SIZE]
    volume = np.zeros(depth.shape)
    for _ in range(160):
        z, y, x = rng.uniform([-3, 0, 0], [_N_PLANES + 3, _SIZE, _SIZE])
        radius, brightness = rng.uniform(3, 11), rng.uniform(0.2, 1)
        distance = np.sqrt((2 * (depth - z)) ** 2 + (rows - y) ** 2 + (columns - x) ** 2)
        sphere = brightness * (distance < radius) * (0.6 + 0.4 * np.cos(1.3 * distance) ** 2)
        volume = np.maximum(volume, sphere)
    volume = ndimage.gaussian_filter(volume, (0.7, 1, 1))
    return np.asarray(np.random.default_rng(4).poisson(200 * volume / volume.max() + 4) / 230)


def _sky() -> Volume:
    sky = _gray("hubble_deep_field")[300 : 300 + _SIZE, 400 : 400 + _SIZE]
    return np.clip(sky + np.random.default_rng(7).normal(0, 0.04, (_N_PLANES, _SIZE, _SIZE)), 0, 1)


def _stereo() -> Volume:
    pair = [skimage.color.rgb2gray(each) for each in skimage.data.stereo_motorcycle()[:2]]
    return np.stack([each[200:392, 250:442] for each in pair])


def _unrelated(names: tuple[str, ...]) -> Volume:
    planes = []
    for gray in map(_gray, names):
        top, left = ((length - _SIZE) // 2 for length in gray.shape)
        planes.append(gray[top : top + _SIZE, left : left + _SIZE])
    return np.stack(planes)
