"""One history for mask, parameters and what was found, on Qt's undo stack."""

from dataclasses import replace

import numpy as np
import pytest

from dictsel_core import RestoreSettings
from inpaint_app.engine.detect import DamageChoice
from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.engine.source import Source
from inpaint_app.model.masks import MaskOrigin, MaskPainter, PackedMask
from inpaint_app.model.missing import MissingPixels
from inpaint_app.model.picture import Picture, Rect
from inpaint_app.window import undo
from inpaint_app.window.document.document import Document
from inpaint_app.window.document.state import MarkedDamage
from inpaint_app.window.undo import (
    MERGE_SECONDS,
    ChangeSettings,
    ChooseDamage,
    EditMask,
    FillHoles,
    PaintMask,
    ReplaceMask,
    UndoHistory,
)

SHAPE = (64, 64)
NOTHING = np.zeros(SHAPE, np.bool_)


@pytest.fixture
def clock(monkeypatch):
    """The time at which steps are made."""
    now = [0.0]
    monkeypatch.setattr(undo, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def document(qapp, clock):
    made = Document()
    source = Source(Picture(np.zeros(SHAPE, np.uint8)), MissingPixels(NOTHING, ()), "picture")
    made.open(source, MaskPainter(NOTHING), PackedMask.pack(NOTHING))
    return made


@pytest.fixture
def history(document):
    return UndoHistory(document)


def paint(document, history, rect: Rect) -> None:
    history.push(PaintMask(document, document.painter.fill(rect)))


def change(document, history, **changes) -> None:
    history.push(ChangeSettings(document, settings=replace(document.state.settings, **changes)))


def random_mask(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(SHAPE) < 0.4


def test_steps_are_undone_and_redone_in_their_order(document, history) -> None:
    paint(document, history, Rect(0, 0, 9, 9))
    change(document, history, n_atoms=9)
    assert (history.undo_text, history.redo_text) == ("Parameter Change", "")
    history.undo()
    assert document.state.settings == RestoreSettings()
    assert (history.undo_text, history.redo_text) == ("Mask Edit", "Parameter Change")
    history.undo()
    assert not document.mask.any()
    assert not history.can_undo
    history.redo()
    history.redo()
    assert (document.state.settings.n_atoms, document.mask.sum()) == (9, 81)
    assert not history.can_redo


def test_a_slider_that_is_dragged_is_one_step(document, history, clock) -> None:
    for n_atoms in range(10, 40):
        clock[0] += MERGE_SECONDS / 4
        change(document, history, n_atoms=n_atoms)
    history.undo()
    assert document.state.settings == RestoreSettings()
    assert not history.can_undo
    history.redo()
    assert document.state.settings.n_atoms == 39


def test_another_parameter_or_a_pause_begins_another_step(document, history, clock) -> None:
    change(document, history, n_atoms=10)
    clock[0] = 0.1
    change(document, history, sparsity=3)
    history.undo()
    assert document.state.settings == RestoreSettings(n_atoms=10)
    clock[0] = 2 * MERGE_SECONDS
    change(document, history, n_atoms=11)
    assert not history.can_redo, "what was undone is forgotten"
    history.undo()
    assert document.state.settings.n_atoms == 10


def test_what_follows_an_undo_is_a_step_of_its_own(document, history) -> None:
    change(document, history, n_atoms=10)
    change(document, history, sparsity=3)
    history.undo()
    change(document, history, n_atoms=11)
    history.undo()
    assert document.state.settings.n_atoms == 10


def test_a_slider_that_comes_back_leaves_no_step(document, history) -> None:
    for n_atoms in (10, 11, RestoreSettings().n_atoms):
        change(document, history, n_atoms=n_atoms)
    assert not history.can_undo


def test_strokes_are_steps_of_their_own_however_fast(document, history) -> None:
    for row in (0, 20):
        paint(document, history, Rect(row, 0, 9, 9))
    history.undo()
    assert document.mask.sum() == 81


def test_nothing_new_is_no_step(document, history) -> None:
    change(document, history)
    history.push(ReplaceMask(document, NOTHING))
    assert not history.can_undo


def test_memory_is_bounded_and_the_last_step_is_kept(document, history, monkeypatch) -> None:
    monkeypatch.setattr(undo, "MAX_BYTES", 1200)
    for _ in range(5):
        history.push(EditMask(document, document.painter.invert(), MaskOrigin()))  # 512 bytes each
    for _ in range(2):
        assert history.can_undo
        history.undo()
    assert not history.can_undo
    assert document.mask.all(), "three are left"
    history.clear()
    monkeypatch.setattr(undo, "MAX_BYTES", 1)
    history.push(EditMask(document, document.painter.invert(), MaskOrigin()))
    assert history.can_undo


def test_the_mask_is_the_state_wherever_undoing_leads(document, history) -> None:
    masks = [document.mask.copy()]
    for seed in range(3):
        history.push(ReplaceMask(document, random_mask(seed)))
        masks.append(random_mask(seed))
        paint(document, history, Rect(seed, 5, 9, 30))
        masks.append(document.mask.copy())
    for expected in reversed(masks[:-1]):
        history.undo()
        assert np.array_equal(document.mask, expected)
        assert np.array_equal(document.state.mask.unpack(), expected)
    for expected in masks[1:]:
        history.redo()
        assert np.array_equal(document.mask, expected)
        assert np.array_equal(document.state.mask.unpack(), expected)


def test_a_given_mask_is_neither_painted_nor_unsaved_wherever_undoing_leads(document, history) -> None:
    given, painted, inverted = MaskOrigin(), MaskOrigin(is_painted=True), MaskOrigin(is_inverted=True)

    def seen() -> tuple[MaskOrigin, bool]:
        return document.state.mask.origin, document.state.has_unsaved_mask

    assert seen() == (given, False)
    history.push(EditMask(document, document.painter.invert(), inverted))
    assert seen() == (inverted, True)
    history.push(ReplaceMask(document, random_mask(3)))
    assert seen() == (given, False)
    paint(document, history, Rect(0, 0, 9, 9))
    assert seen() == (painted, True)
    document.mark_mask_saved(document.state.mask)
    assert seen() == (painted, False)
    history.push(EditMask(document, document.painter.invert(), inverted))
    assert seen() == (inverted, True)
    for expected in ((painted, False), (given, False), (inverted, True), (given, False)):
        history.undo()
        assert seen() == expected
    history.redo()
    assert seen() == (inverted, True)
    history.push(ReplaceMask(document, document.mask.copy()))
    assert seen() == (given, False), "another source holds the same mask"


def test_choices_of_damage_that_follow_each_other_are_one_step(document, history) -> None:
    for seed in (1, 2, 3):
        marked = MarkedDamage(DamageChoice(sensitivity=seed / 10), PackedMask.pack(random_mask(seed)))
        history.push(ChooseDamage(document, random_mask(seed), marked))
    assert np.array_equal(document.mask, random_mask(3))
    assert document.state.mask.origin.is_detected
    history.undo()
    assert not document.mask.any()
    assert document.state.marked is None
    assert not history.can_undo
    history.redo()
    assert np.array_equal(document.mask, random_mask(3))
    assert document.state.marked.choice.sensitivity == 0.3


def test_a_choice_that_found_nothing_at_first_leaves_no_trace(document, history) -> None:
    before = document.state.mask
    for mask in (before.unpack(), random_mask(1)):
        marked = MarkedDamage(DamageChoice(), PackedMask.pack(mask))
        history.push(ChooseDamage(document, mask, marked))
    assert document.state.mask.origin.is_detected
    history.undo()
    assert not history.can_undo
    assert document.state.mask.origin == before.origin


def test_another_fill_is_undone(document, history) -> None:
    fill = HoleFill()
    history.push(FillHoles(document, hole_fill=fill))
    assert (document.state.hole_fill, history.undo_text) == (fill, "Fill of Holes")
    history.undo()
    assert document.state.hole_fill is None


def test_undo_within_a_stroke_takes_back_the_stroke_alone(document, history) -> None:
    paint(document, history, Rect(0, 0, 9, 9))
    document.painter.begin_stroke(30, 30, diameter=9)
    history.redo()
    history.undo()
    assert document.mask.sum() == 81
    assert history.can_undo


def test_what_is_to_follow_a_step_is_told_once(document, history) -> None:
    told = []
    history.stepped.connect(lambda step, is_back: told.append((type(step).__name__, is_back)))
    paint(document, history, Rect(0, 0, 9, 9))
    change(document, history, n_atoms=9)
    change(document, history, n_atoms=8)
    history.undo()
    history.push(FillHoles(document, hole_fill=HoleFill()), follows=False)
    assert told == [
        ("PaintMask", False),
        ("ChangeSettings", False),
        ("NoneType", False),
        ("ChangeSettings", True),
    ]
