"""Keys: their names, and those that act while they are held, or before the shortcuts of the window."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget


class HeldKey(QObject):
    """Follows a key wherever the focus is in a window, except where text is typed.

    A list with the focus would otherwise look for an entry that begins with that letter. With a modifier it
    is another key.
    """

    changed = Signal(bool)
    """Whether the key is held now."""

    def __init__(self, key: Qt.Key, window: QWidget) -> None:
        super().__init__(window)
        self._key, self._window, self._is_held = key, window, False
        window.installEventFilter(self)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._watch)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the key before the widget with the focus does; let it go when the window is left."""
        if isinstance(event, QKeyEvent) and event.type() in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            is_pressed = event.type() is QEvent.Type.KeyPress
            if event.key() == self._key and not (is_pressed and event.modifiers()):
                if not event.isAutoRepeat():
                    self._hold(is_pressed)
                return True
        elif watched is self._window and event.type() is QEvent.Type.ActivationChange:
            self._hold(False)
        return super().eventFilter(watched, event)

    def _hold(self, is_held: bool) -> None:
        if is_held != self._is_held:
            self._is_held = is_held
            self.changed.emit(is_held)

    def _watch(self, before: QWidget | None, now: QWidget | None) -> None:
        if before is not None and before is not self._window:
            before.removeEventFilter(self)
        if now is not None and now.window() is self._window and not isinstance(now, QLineEdit):
            now.installEventFilter(self)


def overrides_shortcut(event: QEvent, takes: Callable[[QKeyEvent], bool]) -> bool:
    """Accept the announcement of a key that a widget takes; return whether it was one."""
    is_announced = event.type() == QEvent.Type.ShortcutOverride
    if not (is_announced and isinstance(event, QKeyEvent) and takes(event)):
        return False
    event.accept()
    return True


def key_names(action: QAction) -> list[str]:
    """Return the keys of an action, each once, as they are called on this system."""
    names = (key.toString(QKeySequence.SequenceFormat.NativeText) for key in action.shortcuts())
    return list(dict.fromkeys(names))
