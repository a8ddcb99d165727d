"""What several tests of the program need."""

import pytest

from dictsel_core import tuning


@pytest.fixture
def few_trials(monkeypatch):
    """What is tuned among does not matter here, the time does."""
    monkeypatch.setattr(tuning, "N_ATOMS", (8, 12))
    monkeypatch.setattr(tuning, "CODING_SPARSITIES", (4,))
