"""Tests with a viewer need napari, which has an environment of its own: `make test-napari`."""

from importlib.util import find_spec

import numpy as np
import pytest

collect_ignore = [] if find_spec("napari") else ["test_viewer.py"]


@pytest.fixture
def waves():
    """A smooth image (32, 40) of floats from 0 to 1."""
    rows, columns = np.mgrid[:32, :40]
    return 0.5 + 0.25 * np.sin(rows / 5) + 0.25 * np.cos(columns / 6)


@pytest.fixture
def hole():
    """A few missing pixels of it."""
    hole = np.zeros((32, 40), bool)
    hole[10:14, 8:20] = True
    return hole
