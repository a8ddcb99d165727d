"""Make the pictures of the manual with the window itself: ``python docs/manual_pictures.py``."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from dictsel_core import RestoreSettings
from inpaint_app.io.assets import ORIGINAL, read_sample
from inpaint_app.model.damage import SAMPLES
from inpaint_app.model.picture import Picture
from inpaint_app.window.app import wait_until_settled
from inpaint_app.window.canvas.tools.brushes import HealingBrush
from inpaint_app.window.canvas.tools.tool import Place
from inpaint_app.window.document.view_state import RETOUCH, STUDY
from inpaint_app.window.main_window import MainWindow
from inpaint_app.window.preferences import Preferences
from inpaint_app.window.theme.theme import Theme, ThemeSwitch

FOLDER = Path(__file__).parents[1] / "assets" / "manual"
SIZE, WINDOW, WIDTH, QUALITY = (540, 320), (1280, 760), 800, 82


def scratched() -> Picture:
    """Return the sample with bright scratches and specks drawn on it; nothing of it is marked."""
    pixels, rng = read_sample(ORIGINAL).pixels.copy(), np.random.default_rng(4)
    height, width = pixels.shape[:2]
    for start in (40, 130, 245):
        rows = np.arange(height)
        columns = (start + 12 * np.sin(rows / 60 + start)).astype(int) % (width - 1)
        for offset in (0, 1):
            pixels[rows, columns + offset] = 235
    for row, column in rng.integers(10, height - 10, (25, 2)):
        pixels[row - 1 : row + 2, column - 1 : column + 2] = 245
    return Picture(pixels)


def save(window: MainWindow, name: str) -> None:
    """Write the panes as they are shown now."""
    wait_until_settled(window)
    window.viewer.setFixedSize(*SIZE)
    wait_until_settled(window)
    window.viewer.grab().save(str(FOLDER / f"{name}.jpg"), quality=QUALITY)


def save_retouch(window: MainWindow) -> None:
    """Write the whole window as a retoucher sees it."""
    window.viewer.setMaximumSize(16_777_215, 16_777_215)
    window.viewer.setMinimumSize(0, 0)
    window.session.set_workspace(RETOUCH)
    window.actions_.tools["heal"].trigger()
    window.resize(*WINDOW)
    wait_until_settled(window)
    smooth = Qt.TransformationMode.SmoothTransformation
    window.grab().scaledToWidth(WIDTH, smooth).save(str(FOLDER / "retouch.jpg"), quality=QUALITY)


def main() -> None:
    """Write one picture for each part of the manual."""
    application = QApplication.instance() or QApplication(["manual"])
    assert isinstance(application, QApplication)
    switch = ThemeSwitch(application)
    window = MainWindow(Preferences(Path(tempfile.mkdtemp()) / "preferences.json"), switch)
    window.choices.set_theme(Theme.LIGHT)
    window.show()
    session = window.session
    session.opening.open_picture(scratched, "scan")
    wait_until_settled(window)
    session.find_damage(("scratches", "dust"))
    wait_until_settled(window)
    session.finding.choose(replace(session.state.choice, sensitivity=0.8))
    wait_until_settled(window)
    session.running.restore()
    session.set_workspace(STUDY)
    save(window, "find")
    save_retouch(window)

    session.opening.open_picture(scratched, "scan")
    wait_until_settled(window)
    session.document.set_view(session.state.view.with_brush(14))
    brush = HealingBrush(session)
    brush.press(Place(0, 32))
    for row in range(10, 300, 10):
        brush.move(Place(row, 41 + 12 * np.sin(row / 60 + 40)))
    brush.release()
    wait_until_settled(window)
    session.set_workspace(STUDY)
    save(window, "heal")

    session.opening.open_sample(SAMPLES[0])
    wait_until_settled(window)
    for preset in ("fast", "balanced"):
        session.set_settings(RestoreSettings.preset(preset))
        session.running.restore()
        wait_until_settled(window)
    session.compare_runs((1, 2))
    save(window, "compare")
    session.document.discard()
    window.close()


if __name__ == "__main__":
    main()
