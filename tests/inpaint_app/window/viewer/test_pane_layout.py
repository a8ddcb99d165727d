"""Panes beside or above each other, whichever shows their picture larger."""

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from inpaint_app.window.canvas.canvas import Canvas
from inpaint_app.window.canvas.viewport import Viewport
from inpaint_app.window.viewer.panes import PaneLayout, PicturePane


@pytest.mark.parametrize("n_panes", [2, 3])
@pytest.mark.parametrize(("shape", "is_stack"), [((40, 900), True), ((900, 40), False), ((90, 100), False)])
def test_panes_lie_so_that_the_picture_is_largest(qtbot, shape, is_stack, n_panes) -> None:
    room = QWidget()
    qtbot.addWidget(room)
    layout, panes = PaneLayout(room), [PicturePane(Canvas(Viewport())) for _ in range(4)]
    for place, pane in enumerate(panes):
        layout.add_pane(pane)
        pane.setVisible(place < n_panes)
    layout.set_picture_shape(shape)
    room.resize(900, 560)
    room.show()
    QApplication.processEvents()
    places = [pane.pos() for pane in panes if pane.isVisible()]
    assert len(places) == n_panes
    assert (len({place.x() for place in places}) == 1) is is_stack
    assert (len({place.y() for place in places}) == 1) is not is_stack
