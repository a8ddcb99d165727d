"""Average sparsity without a cap: flat patches leave their atoms to busy ones.

All patches of a photograph share one budget. The same number of atoms in all explains more than it does where
each patch gets an equal share.
"""

import argparse

import numpy as np
import skimage.data

from dictsel_core import AverageSparsity, Constraint, IndividualSparsity, replacement_omp, standard_ground_set

AVERAGE, N_ATOMS = 3, 60


def main() -> None:
    """Compare a shared budget with equal shares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer patches")
    step = 32 if parser.parse_args().quick else 8
    patches = np.lib.stride_tricks.sliding_window_view(skimage.data.camera() / 255.0, (8, 8))[::step, ::step]
    data = patches.reshape(-1, 64)
    constraints: dict[str, Constraint] = {
        "equal shares": IndividualSparsity(AVERAGE),
        "shared budget": AverageSparsity(None, AVERAGE * len(data)),
    }
    energy = np.square(data - data.mean(axis=1, keepdims=True)).sum()
    for name, constraint in constraints.items():
        selection = replacement_omp(standard_ground_set(), data, constraint, N_ATOMS)
        sizes = np.array([len(support) for support in selection.supports])
        left = np.square(data).sum() - 2 * selection.objective[-1]
        print(
            f"{name}: {sizes.sum()} atoms for {len(data)} patches, from {sizes.min()} to {sizes.max()} each; "
            f"{left / energy:.1%} of the variance within patches is left"
        )


if __name__ == "__main__":
    main()
