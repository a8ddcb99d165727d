"""What tests of several layers use."""

import numpy as np
import pytest

from dictsel_core.evaluation import tuning
from inpaint_app.io.write import write_picture
from inpaint_app.model.picture import Picture


@pytest.fixture
def picture() -> Picture:
    """A small picture with structure: 72 x 96, gray."""
    rows, columns = np.mgrid[:72, :96]
    waves = 120 + 60 * np.sin(rows / 5) * np.cos(columns / 7) + 40 * (rows + columns > 90)
    return Picture(waves.astype(np.uint8))


@pytest.fixture
def files(tmp_path, picture):
    """The picture, a damaged copy (alpha), and its mask, as files."""
    mask = np.random.default_rng(3).random(picture.pixels.shape) < 0.5
    alpha = np.where(mask, 0, 255).astype(np.uint8)
    paths = {name: tmp_path / f"{name}.png" for name in ("whole", "damaged", "mask")}
    write_picture(picture, paths["whole"])
    write_picture(Picture(np.where(mask, 0, picture.pixels).astype(np.uint8), alpha), paths["damaged"])
    write_picture(Picture(np.where(mask, 255, 0).astype(np.uint8)), paths["mask"])
    return paths


@pytest.fixture
def few_trials(monkeypatch):
    """What is tuned among does not matter here, the time does."""
    monkeypatch.setattr(tuning, "N_ATOMS", (8, 12))
    monkeypatch.setattr(tuning, "CODING_SPARSITIES", (4,))
