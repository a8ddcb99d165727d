"""Missing and held-out values of all trials."""

import numpy as np
from pictures import photograph

from dictsel_core.evaluation import estimation
from dictsel_core.evaluation.estimation import Sample, Trial
from dictsel_core.restoration.image import as_image


def trial(mask, held_out, rows):
    image = as_image(photograph(64)[rows, :, None], mask[rows, :, None])
    return Trial(image, mask[rows, :, None], held_out[rows, :, None], (rows, slice(0, 64)))


def test_missing_values_of_overlapping_parts_count_once(monkeypatch):
    mask, held_out = np.zeros((2, 64, 64), bool)
    mask[20:40, 10:14], held_out[20:40, 30:34] = True, True
    seen = []
    estimate_error = estimation.estimate_error

    def spy(missing, *others, **options):
        seen.append((missing, others[-1]))
        return estimate_error(missing, *others, **options)

    monkeypatch.setattr(estimation, "estimate_error", spy)
    sample = Sample(255.0)
    for rows in (slice(0, 64), slice(16, 64), slice(0, 30)):  # the last cuts the hole
        part = trial(mask, held_out, rows)
        sample.add(0, part, np.full(part.held_out.sum(), 1e-4))
    sample.estimate(int(mask.sum()), 0)
    (missing, n_unseen) = seen[0]
    assert len(missing.distances) == mask.sum()
    assert n_unseen == 0
    assert missing.distances.max() == 2
