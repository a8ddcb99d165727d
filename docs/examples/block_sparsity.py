"""Block sparsity: noisy photographs of one scene share their atoms, and are cleaner for it.

Five exposures of every patch form a block. Noise differs between them, what is in the picture does not: atoms
that must serve a whole block are chosen for the picture.
"""

import argparse

import numpy as np
import skimage.data

from dictsel_core import BlockSparsity, Constraint, IndividualSparsity, replacement_omp, standard_ground_set

EXPOSURES, SPARSITY, N_ATOMS = 5, 4, 40


def main() -> None:
    """Compare block sparsity with individual sparsity, at equal s."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer patches")
    n_scenes = 60 if parser.parse_args().quick else 400
    rng = np.random.default_rng(0)
    patches = np.lib.stride_tricks.sliding_window_view(skimage.data.camera() / 255.0, (8, 8))
    rows, columns = (rng.integers(0, length, n_scenes) for length in patches.shape[:2])
    clean = np.repeat(patches[rows, columns].reshape(n_scenes, 64), EXPOSURES, axis=0)
    noisy = clean + 0.1 * rng.normal(size=clean.shape)
    scenes = np.repeat(np.arange(n_scenes), EXPOSURES)
    constraints: dict[str, Constraint] = {
        "individual": IndividualSparsity(SPARSITY),
        "block": BlockSparsity.from_labels(scenes, SPARSITY),
    }
    print(f"noisy      error {np.sqrt(np.mean((noisy - clean) ** 2)):.4f}")
    for name, constraint in constraints.items():
        selection = replacement_omp(standard_ground_set(), noisy, constraint, N_ATOMS)
        atoms = selection.ground_set.atoms
        pairs = zip(selection.supports, selection.coefficients, strict=True)
        rebuilt = np.array([atoms[:, support] @ weights for support, weights in pairs])
        print(f"{name:<10} error {np.sqrt(np.mean((rebuilt - clean) ** 2)):.4f}")


if __name__ == "__main__":
    main()
