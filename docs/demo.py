"""Make the demonstration of the README with the window itself: ``python docs/demo.py OLD_PHOTOGRAPH``.

An old photograph is opened and repaired, an object is removed from another picture, and the result exported.
"""

import os
import sys
import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import skimage.data
from PIL import Image, ImageDraw, ImageFont
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QImage, QMouseEvent
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from inpaint_app.window.app import wait_until_settled
from inpaint_app.window.main_window import MainWindow
from inpaint_app.window.preferences import Preferences
from inpaint_app.window.theme.theme import Theme, ThemeSwitch

SIZE = 1120, 700
#: Width of the frames, and height of the line of text below each.
WIDTH, CAPTION = 960, 48
#: Where the rocket of scikit-image is: rows and columns of a line around it.
OUTLINE = ((64, 300), (64, 344), (426, 372), (426, 270), (64, 300))
OUT = Path(__file__).absolute().parent / "demo.webp"


class Recorder:
    """Takes pictures of a window, with a pointer and a line of text, each shown for some seconds."""

    def __init__(self, window: MainWindow) -> None:
        self.window, self.text = window, ""
        self.frames: list[Image.Image] = []
        self.seconds: list[float] = []

    def take(self, seconds: float, pointer: QPoint | None = None, over: QDialog | None = None) -> None:
        """Take a picture of the window, and of a dialog over it."""
        frame = as_pillow(self.window.grab().toImage())
        if over is not None:
            dialog = as_pillow(over.grab().toImage())
            frame = Image.blend(frame, Image.new("RGB", frame.size), 0.4)
            frame.paste(dialog, ((frame.width - dialog.width) // 2, (frame.height - dialog.height) // 3))
        if pointer is not None:
            draw_pointer(frame, pointer.x(), pointer.y())
        height = round(frame.height * WIDTH / frame.width)
        whole = Image.new("RGB", (WIDTH, height + CAPTION), "#1b1b1b")
        whole.paste(frame.resize((WIDTH, height), Image.Resampling.LANCZOS))
        draw = ImageDraw.Draw(whole)
        font = ImageFont.load_default(20)
        draw.text((WIDTH / 2, height + CAPTION / 2), self.text, fill="white", font=font, anchor="mm")
        self.frames.append(whole)
        self.seconds.append(seconds)

    def save(self, path: Path) -> None:
        """Write an animated picture that begins again at its end."""
        first, *rest = self.frames
        times = [round(1000 * each) for each in self.seconds]
        first.save(path, save_all=True, append_images=rest, duration=times, loop=0, quality=76, method=6)


def as_pillow(image: QImage) -> Image.Image:
    """Return a picture of Qt as one of Pillow."""
    rgb = image.convertToFormat(QImage.Format.Format_RGB888)
    lines = np.frombuffer(rgb.constBits(), np.uint8).reshape(rgb.height(), rgb.bytesPerLine())
    return Image.fromarray(lines[:, : 3 * rgb.width()].reshape(rgb.height(), rgb.width(), 3).copy())


def draw_pointer(frame: Image.Image, x: int, y: int) -> None:
    """Draw the arrow of a mouse."""
    corners = (0, 0), (0, 22), (5, 17), (9, 26), (13, 24), (9, 15), (16, 15)
    arrow = [(x + dx, y + dy) for dx, dy in corners]
    ImageDraw.Draw(frame).polygon(arrow, fill="white", outline="black", width=2)


def send(widget: QWidget, kind: QEvent.Type, at: QPointF) -> None:
    """Send an event of the left mouse button."""
    left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    held = none if kind == QEvent.Type.MouseButtonRelease else left
    button = none if kind == QEvent.Type.MouseMove else left
    where = QPointF(widget.mapToGlobal(at.toPoint()))
    QApplication.sendEvent(widget, QMouseEvent(kind, at, where, button, held, Qt.KeyboardModifier.NoModifier))


def center_of(window: MainWindow, action: str) -> QPoint:
    """Return where the button of an action is in a window."""
    buttons = [each for each in window.actions_[action].associatedObjects() if isinstance(each, QWidget)]
    shown = [each for each in buttons if each.isVisible() and hasattr(each, "widgetForAction")]
    button = shown[0].widgetForAction(window.actions_[action])
    return button.mapTo(window, button.rect().center())


def on_canvas(window: MainWindow, row: float, column: float) -> QPointF:
    """Return where a pixel of the picture is on the canvas that shows the result."""
    viewport, canvas = window.viewer.viewport, window.viewer.panes["result"].canvas
    left, top = viewport.origin((canvas.width(), canvas.height()))
    return QPointF(left + column * viewport.zoom, top + row * viewport.zoom)


def repair(recorder: Recorder, path: Path) -> None:
    """Open an old photograph, and repair it by one click."""
    window = recorder.window
    wait_until_settled(window)
    recorder.text = "Open an old photograph ..."
    recorder.take(2.0)
    window.files.open_file(path)
    wait_until_settled(window)
    recorder.take(2.5)
    recorder.text = "... and click Repair Photo: the damage is found and restored"
    button = center_of(window, "repair")
    recorder.take(1.5, button)
    window.actions_["repair"].trigger()
    QTimer.singleShot(400, lambda: recorder.take(1.0, button))
    wait_until_settled(window)
    recorder.take(3.0, button)
    for text, is_before, seconds in (("Before", True, 2.0), ("After", False, 2.5)) * 2:
        recorder.text = text
        document = window.session.document
        document.set_view(replace(document.state.view, is_before_held=is_before))
        wait_until_settled(window)
        recorder.take(seconds)


def remove(recorder: Recorder, path: Path) -> None:
    """Draw a line around an object with the healing brush."""
    window = recorder.window
    recorder.text = "To remove an object, draw a line around it"
    window.session.document.discard()
    window.files.open_file(path)
    wait_until_settled(window)
    recorder.take(2.5)
    canvas = window.viewer.panes["result"].canvas
    points = [np.linspace(a, b, 6, endpoint=False) for a, b in pairwise(OUTLINE)]
    line = [on_canvas(window, *point) for point in np.concatenate([*points, [OUTLINE[-1]]])]
    send(canvas, QEvent.Type.MouseButtonPress, line[0])
    for number, at in enumerate(line[1:]):
        send(canvas, QEvent.Type.MouseMove, at)
        QApplication.processEvents()
        if number % 2 == 0:
            recorder.take(0.2, canvas.mapTo(window, at.toPoint()))
    send(canvas, QEvent.Type.MouseButtonRelease, line[-1])
    wait_until_settled(window)
    recorder.text = "It is filled with what is around it"
    recorder.take(3.5)


def export(recorder: Recorder) -> None:
    """Open the dialog of the export."""
    window = recorder.window
    recorder.text = "Export the result; the source is never changed"
    recorder.take(1.5, center_of(window, "export"))

    def show() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QDialog)
        recorder.take(3.5, over=dialog)
        dialog.reject()

    QTimer.singleShot(500, show)
    window.actions_["export"].trigger()


def main() -> None:
    """Record all of it."""
    application = QApplication.instance() or QApplication(["demo"])
    assert isinstance(application, QApplication)
    folder = Path(tempfile.mkdtemp())
    photograph = Path(sys.argv[1]).absolute()
    os.chdir(folder)  # no path of this machine is to be seen
    window = MainWindow(Preferences(folder / "preferences.json"), ThemeSwitch(application))
    window.choices.set_theme(Theme.DARK)
    window.resize(*SIZE)
    window.show()
    recorder = Recorder(window)
    launch = Path("launch.png")
    Image.fromarray(skimage.data.rocket()).save(launch)
    repair(recorder, photograph)
    remove(recorder, launch)
    export(recorder)
    recorder.save(OUT)
    window.session.document.discard()
    window.close()


if __name__ == "__main__":
    main()
