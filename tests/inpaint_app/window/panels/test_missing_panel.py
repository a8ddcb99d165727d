"""The panel of missing pixels: what is missing, how that is known, and how to say otherwise."""

import numpy as np
import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QColorDialog, QPushButton, QSpinBox
from recipes import save_recipe
from windows import FAST, find, is_unsaved, opened, settle, texts

from inpaint_app.io.write import write_picture
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Picture, Rect
from inpaint_app.window.panels.missing_panel import MissingPanel

TOLERANCE = "Tolerance of the color"


@pytest.fixture
def panel(session, actions, qtbot):
    made = MissingPanel(session, actions)
    qtbot.addWidget(made)
    made.show()
    return made


def test_without_a_picture_nothing_can_be_marked(panel) -> None:
    assert "Nothing is open." in texts(panel)
    assert not any(button.isEnabled() for button in panel.findChildren(QPushButton))


def test_a_mask_from_a_file_is_not_taken_for_painted(panel, session, qtbot, files) -> None:
    opened(session, qtbot, files["whole"])
    assert "No pixels are missing." in texts(panel)
    steps = [
        lambda: session.opening.set_mask_spec(MaskSpec(mask=files["mask"])),
        find(panel, QPushButton, "Invert").click,
        session.history.undo,
    ]
    seen = []
    for step in steps:
        step()
        settle(session, qtbot)
        assert "painted by hand" not in texts(panel)
        seen.append(("mask file, inverted." in texts(panel), is_unsaved(session)))
    assert seen == [(False, False), (True, True), (False, False)]


def test_a_mask_that_leaves_next_to_nothing_may_be_inverted(panel, session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    assert "wrong way round" not in texts(panel)
    session.masking.fill(Rect(0, 0, 70, 96))
    assert "wrong way round" in texts(panel)
    session.cancel()


def test_words_follow_the_edits(panel, session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    assert "missing: transparent." in texts(panel)
    find(panel, QPushButton, "Clear").click()
    session.masking.begin_stroke(30, 40, diameter=9)
    session.masking.end_stroke()
    assert "missing: painted by hand." in texts(panel), "nothing transparent is left"
    for _ in range(2):
        session.history.undo()
    assert "missing: transparent." in texts(panel)
    settle(session, qtbot)


def test_the_tolerance_is_that_of_the_picture(panel, session, qtbot, files) -> None:
    tolerance = find(panel, QSpinBox, TOLERANCE)
    opened(session, qtbot, files["whole"], mask_spec=MaskSpec(key="120", tolerance=5))
    assert (tolerance.isVisible(), tolerance.value()) == (True, 5)
    source = session.state.source
    settle(session, qtbot)
    assert session.state.source is source, "showing it is no change"
    tolerance.setValue(9)
    settle(session, qtbot)
    assert session.state.source.mask_spec.tolerance == tolerance.value() == 9
    opened(session, qtbot, files["damaged"])
    assert (tolerance.isVisible(), tolerance.value()) == (False, 0)


def test_a_color_is_asked_for(panel, session, qtbot, files, monkeypatch) -> None:
    opened(session, qtbot, files["whole"])
    monkeypatch.setattr(QColorDialog, "getColor", lambda *_args: QColor(120, 120, 120))
    find(panel, QPushButton, "Color …").click()
    settle(session, qtbot)
    assert session.state.source.mask_spec.key == "#787878"
    assert "of the chosen color" in texts(panel)


def test_a_recipe_that_detects_damage_says_so(panel, session, qtbot, tmp_path) -> None:
    pixels = np.full((64, 64), 90, np.uint8)
    pixels[5:60, 30:32] = 250
    write_picture(Picture(pixels), tmp_path / "scratched.png")
    save_recipe(tmp_path / "recipe.json", FAST, MaskSpec(detect=("scratches",)), ("detected",))
    opened(session, qtbot, tmp_path / "scratched.png")
    session.opening.open_recipe(tmp_path / "recipe.json")
    settle(session, qtbot)
    assert session.document.mask[30, 30]
    assert "missing: detected as damage." in texts(panel)


def test_growth_of_marks_is_told_and_can_be_changed(panel, session, qtbot, tmp_path) -> None:
    mask = np.zeros((60, 80), np.uint8)
    mask[30, 10:70] = 255
    write_picture(Picture(mask), tmp_path / "mask.png")
    write_picture(Picture(np.arange(4800, dtype=np.uint16).reshape(60, 80) % 250), tmp_path / "photo.png")
    opened(session, qtbot, tmp_path / "photo.png", mask_spec=MaskSpec(mask=tmp_path / "mask.png"))
    growth = find(panel, QSpinBox, "Pixels that marks grow by")
    assert (growth.isVisible(), growth.value()) == (True, 1)
    assert "in the mask file (1.2 % marked, grown by 1 px)." in texts(panel)
    growth.setValue(0)
    settle(session, qtbot)
    assert np.array_equal(session.document.mask, mask > 0)
    assert "1.2 % of the pixels are missing: in the mask file." in texts(panel)
    opened(session, qtbot, tmp_path / "photo.png")
    assert not growth.isVisible()


def test_the_mask_grows_and_shrinks_by_a_number_of_pixels(panel, session, qtbot, files) -> None:
    opened(session, qtbot, files["whole"])
    session.masking.fill(Rect(20, 20, 10, 10))
    find(panel, QSpinBox, "Pixels to grow or shrink by").setValue(3)
    for button, side in (("Grow", 16), ("Shrink", 10)):
        find(panel, QPushButton, button).click()
        settle(session, qtbot)
        assert np.count_nonzero(session.document.mask.any(axis=0)) == side
