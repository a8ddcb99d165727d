"""Differences between average and individual sparsity, by how parameters are chosen."""

import numpy as np
import pytest

from experiments.masks import INDIVIDUAL, differences


def row(mask, kind, k, psnr):
    return {"picture": "camera", "mask": mask, "kind": kind, "k": k, "s": 5, "average": 3.0, "psnr": psnr}


ROWS = [
    row(0, INDIVIDUAL, 12, 26.0),
    row(0, INDIVIDUAL, 20, 26.5),
    row(0, "average", 12, 26.2),
    row(0, "average", 20, 25.0),
    row(1, INDIVIDUAL, 12, 27.0),
    row(1, INDIVIDUAL, 20, 26.0),
    row(1, "average", 12, 26.0),
    row(1, "average", 20, 27.3),
]


@pytest.mark.parametrize(
    ("kinds", "choice", "expected"),
    [
        (("average",), "this mask", [-0.3, 0.3]),
        (("average", INDIVIDUAL), "this mask", [0.0, 0.3]),
        # Mask 1 prefers k = 20 for average and k = 12 for individual sparsity, mask 0 the reverse.
        (("average",), "other masks", [25.0 - 26.0, 26.0 - 26.0]),
    ],
)
def test_parameters_are_chosen_by_this_mask_or_by_the_others(kinds, choice, expected):
    np.testing.assert_allclose(differences(ROWS, kinds, choice), expected, atol=1e-9)
