"""Marks in one color, or a mask beside the picture, are offered to be restored when a picture is opened."""

import numpy as np
import pytest
from PIL import Image
from windows import FAST, opened, settle

from inpaint_app.io.assets import ORIGINAL, read_sample
from inpaint_app.io.read import read_picture
from inpaint_app.model.picture import Picture, Rect


@pytest.fixture
def marked(session, qtbot):
    pixels = read_sample(ORIGINAL).pixels[:120, :120].copy()
    pixels[60:63, 20:100] = (255, 0, 0)
    session.set_settings(FAST)
    session.opening.open_picture(lambda: Picture(pixels), "marked")
    settle(session, qtbot)
    return session


def test_marks_are_restored_in_one_action_and_undone(marked, qtbot) -> None:
    offer = marked.offers[0]
    assert "red marks" in offer.sentence
    offer.accept()
    settle(marked, qtbot)
    assert offer.sentence == ""
    assert marked.document.mask[60:63, 20:100].all()
    restored = marked.state.runs.current.image[60:63, 20:100].astype(int)
    assert (restored[..., 0] - restored[..., 1]).max() < 120
    marked.history.undo()
    settle(marked, qtbot)
    assert "red marks" in offer.sentence


def test_painting_or_dismissing_ends_the_offer(marked, qtbot) -> None:
    offer = marked.offers[0]
    marked.masking.fill(Rect(0, 0, 2, 2))
    assert offer.sentence == ""
    marked.history.undo()
    assert offer.sentence != ""
    offer.dismiss()
    assert offer.sentence == ""
    settle(marked, qtbot)


def test_other_pictures_have_no_offer(marked, qtbot, files) -> None:
    opened(marked, qtbot, files["whole"])
    assert marked.offers[0].sentence == ""
    marked.opening.open_picture(lambda: Picture(np.full((9, 9, 3), 200, np.uint8)), "plain")
    settle(marked, qtbot)
    assert marked.offers[0].sentence == ""
    marked.close_picture()
    assert marked.offers[0].sentence == ""


def test_a_mask_beside_the_picture_is_offered_if_there_is_just_one(session, qtbot, files, tmp_path) -> None:
    offer = session.offers[0]
    mask = np.zeros(read_picture(files["whole"]).pixels.shape[:2], np.uint8)
    mask[5:9, 5:9] = 255
    Image.fromarray(mask).save(tmp_path / "whole_mask.png")
    session.set_settings(FAST)
    opened(session, qtbot, files["whole"])
    assert (
        offer.sentence == f"{files['whole'].stem}_mask.png, beside the picture, may mark its missing pixels."
    )
    offer.accept()
    settle(session, qtbot)
    assert session.document.mask[5:9, 5:9].all()
    assert session.state.runs.current is not None
    Image.fromarray(mask).save(tmp_path / "whole_mask.tif")
    opened(session, qtbot, files["whole"])
    assert offer.sentence == ""


def test_a_mask_of_another_size_is_a_problem_and_changes_nothing(session, qtbot, files, tmp_path) -> None:
    problems: list[str] = []
    session.document.problem.connect(problems.append)
    Image.new("L", (3, 3), 255).save(tmp_path / "whole_mask.png")
    opened(session, qtbot, files["whole"])
    session.offers[0].accept()
    settle(session, qtbot)
    assert len(problems) == 1
    assert not session.document.mask.any()
