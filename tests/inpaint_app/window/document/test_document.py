"""The one object that changes the state: who is told of what, and in which order."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from dictsel_core import RestoreSettings
from inpaint_app.engine.source import Source
from inpaint_app.model.masks import MaskPainter, PackedMask
from inpaint_app.model.missing import MissingPixels
from inpaint_app.model.picture import Picture
from inpaint_app.window.document.document import Document
from inpaint_app.window.document.state import TuningOutcome
from inpaint_app.window.document.view_state import SPLIT

OTHER = RestoreSettings(n_atoms=9)


@pytest.fixture
def document(qapp):
    return Document()


def show(document: Document, pixels: np.ndarray, **more) -> None:
    mask = np.zeros(pixels.shape, np.bool_)
    source = Source(Picture(pixels), MissingPixels(mask, ()), "picture", **more)
    document.open(source, MaskPainter(mask), PackedMask.pack(mask))


def test_a_change_says_what_differs_and_leaves_the_old_state_alone(document) -> None:
    before = document.state
    assert document.apply(settings=OTHER, is_automatic=False) == {"settings"}
    assert (before.settings, document.state.settings) == (RestoreSettings(), OTHER)
    assert document.apply(settings=replace(OTHER)) == frozenset(), "it is equal"
    with pytest.raises(FrozenInstanceError):
        document.state.settings = OTHER


def test_only_who_watches_a_field_is_told(document) -> None:
    told = []
    document.watch(lambda: told.append("settings"), "settings", "mask")
    document.watch(lambda: told.append("view"), "view")
    document.watch(lambda: told.append("anything"))
    document.apply(settings=OTHER)
    document.apply(settings=OTHER)
    assert told == ["settings", "anything"]


def test_everyone_is_told_of_one_change_before_the_next(document) -> None:
    told = []

    def change(old, new) -> None:
        told.append(("first", old.is_automatic, new.is_automatic))
        document.apply(settings=OTHER)

    document.watch(change, "is_automatic")
    document.watch(
        lambda old, new: told.append(("second", old.is_automatic, new.is_automatic)), "is_automatic"
    )
    document.watch(lambda old, new: told.append(("settings", old.settings, new.settings)), "settings")
    document.apply(is_automatic=True)
    expected = [("first", False, True), ("second", False, True), ("settings", RestoreSettings(), OTHER)]
    assert told == expected


def test_another_picture_keeps_the_view_and_begins_with_the_default_settings(document) -> None:
    document.defaults = replace(OTHER, sparsity=3)
    show(document, np.zeros((8, 9), np.uint8))
    document.set_view(document.state.view.with_mode(SPLIT))
    document.apply(settings=OTHER, mark=3)
    show(document, np.ones((7, 9), np.uint8))
    state = document.state
    expected = document.defaults, SPLIT, None, 2
    assert (state.settings, state.view.mode, state.mark, state.n_opened) == expected
    document.close_picture()
    assert (document.state.source, document.state.mask, document.painter) == (None, None, None)
    assert document.state.settings == document.defaults


def test_what_auto_chose_holds_for_its_picture(document) -> None:
    show(document, np.zeros((8, 9), np.uint8))
    document.apply(settings=OTHER, advice=TuningOutcome(OTHER, "Auto chose k = 9.", RestoreSettings()))
    damaged = np.full((8, 9), 3, np.uint8)
    show(document, damaged, reference=document.state.source.picture)
    assert document.state.settings == OTHER, "the same picture, damaged"
    show(document, np.ones((8, 9), np.uint8))
    assert (document.state.settings, document.state.advice) == (RestoreSettings(), None)
