"""Values that the window knows."""

from pathlib import Path

import numpy as np
import pytest

from dictsel_core import Restoration, RestoreSettings
from inpaint_app.engine.control import Progress
from inpaint_app.engine.source import Source
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.missing import MaskSpec, collect_missing
from inpaint_app.window.background.work import Activity
from inpaint_app.window.document.runs import RunRecord


def test_a_record_without_its_image_takes_no_memory_and_keeps_the_rest() -> None:
    image = np.zeros((9, 9), np.uint8)
    restoration = Restoration(
        image, RestoreSettings(), 0.5, None, np.zeros((0, 2), np.intp), np.zeros(0, np.intp), 0, 0, {}
    )
    record = RunRecord(3, RestoreSettings(), PackedMask.pack(image > 0), 1.5, image, restoration)
    assert record.n_bytes == 81
    slim = record.without_image()
    assert (slim.image, slim.n_bytes, slim.restoration.image.size) == (None, 0, 1)
    assert (slim.number, slim.seconds, slim.settings) == (3, 1.5, record.settings)


@pytest.mark.parametrize(("kind", "kept"), [("restore", True), ("compare", True), ("tune", False)])
def test_only_restorations_leave_something_when_stopped(kind, kept) -> None:
    assert Activity(kind, Progress("starting")).can_keep is kept


def test_all_files_of_a_document_are_known(picture) -> None:
    paths = [Path("a.png"), Path("b.png"), Path("c.png")]
    spec = MaskSpec(mask=paths[2])
    source = Source(
        picture, collect_missing(picture), "a.png", paths[0], spec, picture, paths[1], damage="text"
    )
    assert source.files == tuple(paths)
    assert source.title == "a.png (text)"
    assert source.shape == (72, 96)
