"""The values of the pixel under the pointer, as drawn."""

from dataclasses import replace

import numpy as np
import pytest

from dictsel_core import Restoration, RestoreSettings
from inpaint_app.engine.restore import Preview
from inpaint_app.engine.source import Source
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.missing import collect_missing
from inpaint_app.model.picture import Picture, Rect
from inpaint_app.window.document.runs import RunHistory, RunRecord
from inpaint_app.window.document.state import DocumentState
from inpaint_app.window.document.view_state import ViewState
from inpaint_app.window.viewer.display import readout, resolve

MASK = np.zeros((6, 8), bool)
MASK[2, 3] = True
GONE, SEEN = (2, 3), (4, 5)


@pytest.fixture
def scene() -> DocumentState:
    damaged, restored = np.full((6, 8), 10, np.uint8), np.full((6, 8), 20, np.uint8)
    restoration = Restoration(
        restored, RestoreSettings(), 0.5, None, np.zeros((0, 2), np.intp), np.zeros(0, np.intp), 0, 0, {}
    )
    record = RunRecord(1, RestoreSettings(), PackedMask.pack(MASK), 1.0, restored, restoration)
    shown = Picture(damaged)
    reference = Picture(np.full((6, 8), 30, np.uint8))
    source = Source(shown, collect_missing(shown), "damaged.png", reference=reference)
    return DocumentState(source, PackedMask.pack(MASK), runs=RunHistory((record,), 1))


def read(scene: DocumentState, name: str, pixel: tuple[int, int], **view) -> str:
    display = resolve(replace(scene, view=ViewState(**view)))
    return readout(display, display.panes[name], MASK, pixel)


def test_values_are_those_of_the_picture_in_the_pane(scene) -> None:
    assert [read(scene, name, SEEN) for name in ("damaged", "restored", "original")] == ["10", "20", "30"]
    assert read(scene, "damaged", GONE) == "missing"
    assert read(scene, "restored", GONE) == "20"
    assert read(scene, "error", SEEN) == "", "shades of errors are no values"
    assert read(scene, "compared_2", SEEN) == "", "there is no picture"


def test_the_split_pane_has_both_values(scene) -> None:
    assert read(scene, "split", SEEN) == "10 → 20"
    assert read(scene, "split", GONE) == "missing → 20"
    assert read(scene, "split", GONE, is_before_held=True) == "missing"
    assert read(replace(scene, runs=RunHistory()), "split", SEEN) == "10"


def test_a_held_key_reads_the_damaged_picture(scene) -> None:
    assert read(scene, "restored", GONE, is_before_held=True) == "missing"


def test_inside_the_preview_its_own_values_are_read(scene) -> None:
    preview = Preview(Rect(2, 3, 2, 3), np.arange(6, dtype=np.uint8).reshape(2, 3))
    scene = replace(scene, preview=preview)
    assert read(scene, "restored", (3, 4)) == "4"
    assert read(scene, "restored", (4, 5)) == "20", "beside it"
    bare = replace(scene, runs=RunHistory())
    assert read(bare, "restored", (0, 0)) == "10"
    assert read(bare, "damaged", GONE) == "missing"
