"""Which holes are completed by example."""

import numpy as np
import pytest

from dictsel_core.restoration.wide import completion_reach, pixels_to_complete


@pytest.mark.parametrize(
    ("fill", "dtype", "is_completed"),
    [("auto", "uint8", True), ("auto", "f8", False), ("smooth", "uint8", False), ("texture", "f8", True)],
)
def test_floats_are_completed_only_on_request(fill, dtype, is_completed):
    missing = np.zeros((80, 120, 1), bool)
    missing[20:50, 10:40] = True
    assert pixels_to_complete(missing, completion_reach(fill, dtype)).any() == is_completed
