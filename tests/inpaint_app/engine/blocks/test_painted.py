"""What was painted on a reduced picture, restored in full size and in blocks."""

import numpy as np
import tifffile

from dictsel_core import RestoreSettings
from inpaint_app.engine import overview, restore_file
from inpaint_app.engine.control import JobControl
from inpaint_app.engine.overview import open_overview
from inpaint_app.engine.restore_file import FileOptions, FileRequest, restore_painted
from inpaint_app.io.write import Output
from inpaint_app.model.masks import PackedMask

FAST = RestoreSettings(n_atoms=8, coding_sparsity=3, bases=("dct", "haar"), rounds=0)


def test_marks_are_enlarged_and_join_those_of_the_file(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(overview, "MAX_VALUES", 4_000)
    monkeypatch.setattr(restore_file, "BYTES_PER_VALUE", 10**12)
    rows, columns = np.mgrid[:120, :150]
    values = (0.5 + 0.3 * np.sin(rows / 9) * np.cos(columns / 11)).astype(np.float32)
    values[40:44, 30:60] = np.nan
    path = tmp_path / "large.tif"
    tifffile.imwrite(path, values, tile=(64, 64), photometric="minisblack")
    found = open_overview(path)
    small = np.zeros((40, 50), bool)
    small[30:33, 30:35] = True
    request = FileRequest(path, Output(tmp_path / "restored.tif"), FileOptions(FAST, estimates=False))
    restore_painted(request, found, {0: PackedMask.pack(small)}, JobControl())
    written = tifffile.imread(tmp_path / "restored.tif")
    painted = np.repeat(np.repeat(small, 3, axis=0), 3, axis=1)
    known = np.isfinite(values) & ~painted
    assert np.isfinite(written).all()
    assert np.array_equal(written[known], values[known])
    assert (written[painted] != values[painted]).mean() > 0.9
