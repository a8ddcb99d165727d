"""Media summarization: a few pictures that stand for all the others.

The candidate atoms are the pictures themselves, so a dictionary is a choice of pictures, and every picture
is told as a mixture of at most three of them.
"""

import argparse

import numpy as np
import skimage.data

from dictsel_core import IndividualSparsity, ground_set_from_array, replacement_omp

SPARSITY = 3


def main() -> None:
    """Choose pictures of faces by Replacement OMP, and compare with choices at random."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer pictures")
    n_pictures, size = (40, 5) if parser.parse_args().quick else (100, 10)
    faces = skimage.data.lfw_subset()[:n_pictures].reshape(n_pictures, -1)  # the first hundred are faces
    data = faces - faces.mean(axis=0)
    constraint = IndividualSparsity(SPARSITY)
    summary = replacement_omp(ground_set_from_array(data.T), data, constraint, size)
    numbers = ", ".join(map(str, sorted(summary.indices.tolist())))
    print(f"{size} of {n_pictures} faces: {numbers}")
    print(f"they explain {2 * summary.objective[-1] / np.square(data).sum():.1%} of what tells faces apart")
    rng = np.random.default_rng(0)
    lucky = []
    for _ in range(20):
        few = ground_set_from_array(data[rng.choice(n_pictures, size, replace=False)].T)
        lucky.append(replacement_omp(few, data, constraint, size).objective[-1])
    print(f"as many at random: {2 * np.mean(lucky) / np.square(data).sum():.1%} on average of 20 choices")


if __name__ == "__main__":
    main()
