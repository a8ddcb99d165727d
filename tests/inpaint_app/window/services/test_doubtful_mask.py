"""Nothing is restored with a mask that may be inverted, or is a photograph, before the user has answered."""

import numpy as np
import pytest
import skimage.data
from windows import FAST, settle

from inpaint_app.io.write import write_picture
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Picture


@pytest.fixture
def paths(tmp_path):
    pixels = skimage.data.camera()[100:228, 100:260]
    mask = np.full(pixels.shape, 255, np.uint8)
    mask[40:44] = 0
    write_picture(Picture(pixels), tmp_path / "photo.png")
    write_picture(Picture(mask), tmp_path / "inverted.png")
    return tmp_path / "photo.png", tmp_path / "inverted.png"


@pytest.fixture
def asked(session, qtbot, paths):
    session.set_settings(FAST)
    session.set_automatic(True)
    session.opening.open_file(paths[0], MaskSpec(mask=paths[1]))
    settle(session, qtbot)
    return session


def offer_of(session):
    return next(offer for offer in session.offers if offer.sentence)


def test_an_inverted_mask_is_shown_and_asked_about(asked, qtbot) -> None:
    assert asked.state.doubt is not None
    assert "seems to mark what is intact" in offer_of(asked).sentence
    assert asked.document.mask.mean() > 0.9
    assert not asked.state.runs.records, "although every change is followed by a run"
    offer_of(asked).accept()
    settle(asked, qtbot)
    assert asked.state.doubt is None
    assert asked.document.mask.mean() < 0.1
    assert asked.state.source.mask_spec.invert_mask
    assert len(asked.state.runs.records) == 1


def test_it_can_be_meant_as_it_is(asked, qtbot) -> None:
    offer_of(asked).dismiss()
    settle(asked, qtbot)
    assert asked.state.doubt is None
    assert asked.document.mask.mean() > 0.9
    assert len(asked.state.runs.records) == 1


def test_an_edit_of_the_mask_is_an_answer(asked, qtbot) -> None:
    asked.masking.invert()
    assert asked.state.doubt is None
    settle(asked, qtbot)
    assert len(asked.state.runs.records) == 1


def test_a_photograph_as_a_mask_is_asked_about(session, qtbot, paths) -> None:
    session.opening.open_file(paths[0])
    settle(session, qtbot)
    session.opening.set_mask_spec(MaskSpec(mask=paths[0]), then=session.running.restore)
    settle(session, qtbot)
    assert "looks like a photograph" in offer_of(session).sentence
    assert not session.state.runs.records
    offer_of(session).accept()
    settle(session, qtbot)
    assert not session.document.mask.any()
    assert session.state.doubt is None
