"""A framed picture: words around it, also for screen readers."""

from inpaint_app.window.canvas.canvas import Canvas
from inpaint_app.window.canvas.viewport import Viewport
from inpaint_app.window.viewer.panes import PicturePane


def test_words_around_the_picture_are_also_there_for_screen_readers(qtbot) -> None:
    pane = PicturePane(Canvas(Viewport()))
    qtbot.addWidget(pane)
    pane.set_labels("Restored", "preview", ("PSNR 31.2 dB", "31.2 dB", ""))
    assert (pane.title.text(), pane.badge.text(), pane.caption.text()) == (
        "Restored",
        "preview",
        "PSNR 31.2 dB",
    )
    assert pane.badge.isVisibleTo(pane)
    assert pane.canvas.accessibleName() == "Restored"
    assert pane.canvas.accessibleDescription() == "PSNR 31.2 dB"
    pane.set_labels("Restored", "", ("", "", ""))
    assert not pane.badge.isVisibleTo(pane)
