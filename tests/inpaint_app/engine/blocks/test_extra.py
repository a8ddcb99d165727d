"""What a user without the extra is told."""

import sys

import numpy as np
import pytest

from inpaint_app.errors import UserError
from inpaint_app.io.chunked.opening import open_store
from inpaint_app.io.extra import load_extra


@pytest.mark.parametrize("module", ["zarr", "distributed"])
def test_without_the_extra_one_sentence_names_it(monkeypatch, module) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError, match=r"not installed; install them with pip install 'dictsel\[cluster\]'"):
        load_extra(module)


def test_numpy_files_need_no_extra(monkeypatch, tmp_path) -> None:
    monkeypatch.setitem(sys.modules, "zarr", None)
    np.save(tmp_path / "a.npy", np.zeros((4, 5)))
    assert open_store(tmp_path / "a.npy").shape == (4, 5)
