"""A folder of pictures, restored one after the other; no window is needed."""

from dataclasses import replace

import pytest

from dictsel_core import RestoreSettings
from inpaint_app.engine import measure
from inpaint_app.engine.batch import BatchRequest, run_batch
from inpaint_app.engine.control import JobControl
from inpaint_app.engine.restore_file import FileOptions
from inpaint_app.errors import UserError
from inpaint_app.io.write import Output, write_picture
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Picture

LONG = "x" * 300
FAST = FileOptions(RestoreSettings(n_atoms=8, coding_sparsity=3, bases=("dct", "haar"), rounds=0))


@pytest.fixture
def control():
    return JobControl()


@pytest.fixture
def folder(tmp_path, files):
    """Two damaged pictures, and between them one that cannot be looked at."""
    (tmp_path / "in").mkdir()
    for name in ("a.png", "c.png"):
        (tmp_path / "in" / name).write_bytes(files["damaged"].read_bytes())
    (tmp_path / "in" / "b.png").symlink_to(LONG)
    return tmp_path / "in"


def test_a_batch_goes_on(control, folder, tmp_path) -> None:
    rows = run_batch(BatchRequest((folder,), Output(tmp_path / "out"), FAST), control)
    assert [row.error is None for row in rows] == [True, False, True]
    assert "too long" in str(rows[1].error)


def test_a_batch_into_a_folder_that_cannot_be(control, folder, tmp_path) -> None:
    with pytest.raises(UserError, match="too long"):
        run_batch(BatchRequest((folder,), Output(tmp_path / LONG), FAST), control)


def test_a_batch_refuses_what_its_format_cannot_keep_before_the_work(
    control, tmp_path, picture, monkeypatch
) -> None:
    (tmp_path / "in").mkdir()
    alpha = picture.pixels // 2
    write_picture(Picture(picture.pixels, alpha), tmp_path / "in" / "a.png")
    (tmp_path / "in" / "a.png").rename(tmp_path / "in" / "a.jpg")
    monkeypatch.setattr("inpaint_app.engine.restore.iter_restore", lambda *_: pytest.fail("it has begun"))
    request = BatchRequest(
        (tmp_path / "in",), Output(tmp_path / "out"), replace(FAST, mask_spec=MaskSpec(key="60"))
    )
    (row,) = run_batch(request, control)
    assert "transparent" in str(row.error)


@pytest.mark.parametrize("error", [ValueError, MemoryError])
def test_a_picture_is_restored_even_if_its_quality_cannot_be_estimated(
    control, folder, tmp_path, monkeypatch, error
) -> None:
    def fail(*_: object, **__: object) -> float:
        raise error

    monkeypatch.setattr(measure, "estimate_psnr", fail)
    rows = run_batch(BatchRequest((folder,), Output(tmp_path / "out"), FAST), control)
    assert [row.error is None for row in rows] == [True, False, True]
    assert rows[0].result.quality.estimated_psnr is None
