"""A partition matroid: at most three smooth waves and two edges in each patch.

Waves are the atoms of the cosine basis, edges those of the Haar basis. With a cap on each, a patch splits
into a smooth part and a part with edges.
"""

import argparse

import numpy as np
import skimage.data

from dictsel_core import MatroidSparsity, PartitionMatroid, replacement_omp, standard_ground_set

CAPS = {"dct": 3, "haar": 2}


def main() -> None:
    """Select under the matroid, and show what each part explains."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer patches")
    step = 32 if parser.parse_args().quick else 8
    picture = skimage.data.camera() / 255.0
    patches = np.lib.stride_tricks.sliding_window_view(picture, (8, 8))[::step, ::step]
    data = patches.reshape(-1, 64)
    data = data - data.mean(axis=1, keepdims=True)
    ground_set = standard_ground_set(bases=list(CAPS))
    kinds = np.array([list(CAPS).index(origin.basis) for origin in ground_set.origins])
    constraint = MatroidSparsity(PartitionMatroid(kinds, list(CAPS.values())))
    selection = replacement_omp(ground_set, data, constraint, n_atoms=40)
    for kind, (name, cap) in enumerate(CAPS.items()):
        selected = np.count_nonzero(kinds[selection.indices] == kind)
        codes = list(zip(selection.supports, selection.coefficients, strict=True))
        mine = [
            (support[kinds[support] == kind], weights[kinds[support] == kind]) for support, weights in codes
        ]
        part = np.array([ground_set.atoms[:, support] @ weights for support, weights in mine])
        print(
            f"{name:<5} at most {cap} per patch: {selected} atoms selected, "
            f"{np.mean([len(support) for support, _ in mine]):.2f} used by a patch, "
            f"energy of their part {np.square(part).sum() / np.square(data).sum():.0%} of the data"
        )
    print(f"all together explain {2 * selection.objective[-1] / np.square(data).sum():.1%}")


if __name__ == "__main__":
    main()
