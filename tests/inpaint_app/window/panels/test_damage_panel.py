"""The panel that asks for damage to be found."""

import numpy as np
from PySide6.QtWidgets import QCheckBox, QPushButton, QSlider
from windows import find, settle, texts

from inpaint_app.model.picture import Picture
from inpaint_app.window.panels.damage_panel import DamagePanel


def test_the_mask_follows_ticks_and_slider(session, actions, qtbot) -> None:
    pixels = np.random.default_rng(0).normal(110, 3, (96, 128))
    pixels[40, 10:80] += 90
    panel = DamagePanel(session, actions)
    qtbot.addWidget(panel)
    assert not find(panel, QPushButton, "Find damage").isEnabled()
    session.opening.open_picture(lambda: Picture(pixels.astype(np.uint8)), "scratched")
    settle(session, qtbot)
    assert find(panel, QPushButton, "Find damage").isEnabled()
    find(panel, QCheckBox, "Dust, hairs").click()
    assert panel.kinds == ("scratches",)
    session.find_damage(panel.kinds)
    settle(session, qtbot)
    assert "Pick (K) removes one" in texts(panel)
    assert session.document.mask[40, 20:70].all()
    session.history.undo()
    assert not find(panel, QSlider, "Sensitivity").isVisibleTo(panel)
    session.history.redo()
    assert find(panel, QSlider, "Sensitivity").isVisibleTo(panel)
    find(panel, QSlider, "Sensitivity").setValue(0)
    settle(session, qtbot)
    assert session.state.choice.sensitivity == 0
    find(panel, QCheckBox, "Cracks, scratches").click()
    settle(session, qtbot)
    assert not session.document.mask.any()
    assert "Nothing found" in texts(panel)
