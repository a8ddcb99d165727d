"""A folder of pictures, restored without a dialog."""

import pytest

from dictsel_core import RestoreSettings
from inpaint_app import work
from inpaint_app.marks import Marks
from inpaint_app.reading import read_picture
from inpaint_app.window import batching
from inpaint_app.window.batching import BatchRequest, run_batch
from inpaint_app.window.task import Task

FAST = RestoreSettings(n_atoms=8, coding_sparsity=3, bases=("dct",), rounds=0)


@pytest.fixture
def request_(files, tmp_path):
    """A folder with one damaged picture."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    files["damaged"].rename(folder / "damaged.png")
    return BatchRequest(folder, tmp_path / "restored", FAST, Marks())


def test_a_picture_is_restored_with_an_estimate(request_) -> None:
    (row,) = run_batch(Task(1, lambda *_news: None), request_)
    assert (row.status, row.is_restored, row.is_done) == ("restored", True, True)
    assert row.estimated_psnr > 10
    assert read_picture(request_.output / "damaged.png").alpha is None


@pytest.mark.parametrize("error", [ValueError("nothing to hold out"), MemoryError()])
def test_what_is_written_is_restored_even_if_nothing_can_be_estimated(request_, monkeypatch, error) -> None:
    def refuse(*_arguments: object, **_options: object) -> float:
        raise error

    for module in (work, batching):  # whichever of them asks for it
        monkeypatch.setattr(module, "estimate_psnr", refuse, raising=False)
    (row,) = run_batch(Task(1, lambda *_news: None), request_)
    assert (request_.output / "damaged.png").exists()
    assert (row.status, row.is_restored, row.estimated_psnr) == ("restored", True, None)
