"""Audio frames: lost samples of a melody are filled in by a few selected waves.

Every frame of 128 samples has gaps. Waves are selected from cosines and sines of many frequencies and decays,
on the samples that are there, and each frame is coded by six of them.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from dictsel_core import GroundSet, IndividualSparsity, ground_set_from_array, omp, replacement_ols

RATE, FRAME, SPARSITY, N_ATOMS = 8000, 128, 6, 60


def main() -> None:
    """Print the signal-to-noise ratio of the lost samples, beside that of straight lines over the gaps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer notes")
    n_notes = 4 if parser.parse_args().quick else 16
    rng = np.random.default_rng(0)
    sound = np.concatenate([note(rng, rng.choice([262, 294, 330, 392, 440, 523])) for _ in range(n_notes)])
    frames = sound.reshape(-1, FRAME)
    missing = lost(rng, frames.shape)
    selection = replacement_ols(waves(), frames, IndividualSparsity(SPARSITY), N_ATOMS, mask=missing)
    rebuilt = omp(selection.dictionary, frames, SPARSITY, mask=missing).rebuilt
    known = ~missing.ravel()
    places = np.arange(frames.size)
    lines = np.interp(places, places[known], frames.ravel()[known]).reshape(frames.shape)
    print(f"straight lines  {ratio(frames, lines, missing):5.1f} dB")
    print(f"selected waves  {ratio(frames, rebuilt, missing):5.1f} dB")


def note(rng: np.random.Generator, pitch: float) -> NDArray[np.float64]:
    """Return a quarter of a second of a struck bar: three partials, of which the higher ones fade first."""
    time = np.arange(RATE // 4 // FRAME * FRAME) / RATE
    partials = (
        np.exp(-6 * each * time) * np.sin(2 * np.pi * pitch * each * time + rng.uniform(0, 6)) / each
        for each in (1, 2, 4)
    )
    return np.asarray(sum(partials)) + 0.003 * rng.normal(size=len(time))


def waves() -> GroundSet:
    """Return cosines and sines, up to half of the samples, steady and fading."""
    time, columns = np.arange(FRAME) / FRAME, []
    for frequency in np.arange(1, 40, 0.5):
        for wave in (np.cos, np.sin):
            for decay in (0.0, 1.0):
                columns.append(np.exp(-decay * time) * wave(2 * np.pi * frequency * time))
    return ground_set_from_array(np.column_stack(columns))


def lost(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return gaps of eight samples, about a quarter of all; True = missing."""
    starts = rng.random(shape) < 0.035
    return np.array([np.convolve(row, np.ones(8))[: shape[1]] > 0 for row in starts])


def ratio(true: NDArray[np.float64], found: NDArray[np.float64], missing: NDArray[np.bool_]) -> float:
    """Return the signal-to-noise ratio over the lost samples, in decibels."""
    return float(10 * np.log10(np.square(true[missing]).sum() / np.square((true - found)[missing]).sum()))


if __name__ == "__main__":
    main()
