"""What several tests of the window do: open, wait, trigger, find, look."""

from pathlib import Path

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QWidget

from dictsel_core import RestoreSettings
from inpaint_app.io.assets import asset
from inpaint_app.window.canvas.canvas import Canvas
from inpaint_app.window.canvas.image_pyramid import as_uint32, build_pyramid
from inpaint_app.window.document.view_state import STUDY

FAST = RestoreSettings(n_atoms=8, coding_sparsity=3, bases=("dct", "haar"), rounds=0)
#: Long enough to be interrupted at any moment.
SLOW = RestoreSettings(n_atoms=40, rounds=100)


def settle(thing, qtbot) -> None:
    """Wait until nothing is in progress in a session, a viewer or a window."""
    qtbot.waitUntil(lambda: thing.is_settled, timeout=600_000)


def opened(thing, qtbot, path: Path, **more):
    """Open a file in a session or a window, with parameters that are quick, to be studied."""
    session = getattr(thing, "session", thing)
    session.document.defaults = FAST
    session.set_settings(FAST)
    session.opening.open_file(path, **more)
    settle(thing, qtbot)
    if session.state.view.is_retouching:
        session.set_workspace(STUDY)
        settle(thing, qtbot)
    return thing


def restored(thing, qtbot, path: Path, **more):
    """Open a file in a session or a window, and restore it."""
    opened(thing, qtbot, path, **more)
    getattr(thing, "session", thing).running.restore()
    settle(thing, qtbot)
    return thing


def is_unsaved(session) -> bool:
    """Return whether something would be lost if the picture were closed."""
    return session.state.has_unsaved_result or session.state.has_unsaved_mask


def watch(session, name: str, told) -> None:
    """Call something with the new value whenever a field of the document changes."""
    session.document.watch(lambda _old, new: told(getattr(new, name)), name)


def action_of(window, name: str):
    """Return an action, or that of a tool or view mode, by name."""
    named = {**window.actions_.tools, **{f"view {key}": each for key, each in window.actions_.modes.items()}}
    return named[name] if name in named else window.actions_[name]


def trigger(window, name: str) -> None:
    """Trigger an action that must be enabled."""
    assert action_of(window, name).isEnabled(), name
    action_of(window, name).trigger()


def find(parent: QWidget, kind: type, name: str):
    """Return the one widget that a user, or a screen reader, knows by this name."""

    def names(widget: QWidget) -> set[str]:
        text = widget.text().replace("&", "") if hasattr(widget, "text") else ""
        return {widget.accessibleName(), widget.objectName(), text}

    found = [widget for widget in parent.findChildren(kind) if name in names(widget)]
    assert len(found) == 1, (name, found)
    return found[0]


def can_export(dialog: QWidget) -> bool:
    """Return whether a dialog lets what was chosen be written."""
    return find(dialog, QPushButton, "Export").isEnabled()


def choose(combo: QComboBox, place: int) -> None:
    """Choose an entry as a user does."""
    combo.setCurrentIndex(place)
    combo.activated.emit(place)


def texts(parent: QWidget) -> str:
    """Return the words of all labels in sight, one per line."""
    return "\n".join(label.text() for label in parent.findChildren(QLabel) if label.isVisibleTo(parent))


def check_entry(entry) -> None:
    """Check what menu, toolbar and shortcuts need of a tool or a view mode."""
    assert entry.text.count("&") == 1
    assert entry.tip.endswith(".")
    assert len(entry.keys[0]) == 1 and entry.checkable
    assert asset("icons", f"{entry.icon}.svg").is_file()


def at(canvas: Canvas, row: float, column: float) -> QPointF:
    """Return the position in a canvas of a place in its picture."""
    picture, ratio = canvas.geometry_of_picture(), canvas.devicePixelRatioF()
    x, y = picture.left + column * picture.zoom, picture.top + row * picture.zoom
    return QPointF(x / ratio, y / ratio)


def shown_pixels(pane) -> np.ndarray:
    """Return the pixels that a pane draws, as 32-bit words."""
    return as_uint32(pane.canvas.content.pyramid.images[0]).copy()


def drawn(pixels: np.ndarray) -> np.ndarray:
    """Return pixels as a pane draws them."""
    image = build_pyramid(pixels).images[0]
    return as_uint32(image).copy()
