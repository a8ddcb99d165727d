"""What mends a photograph: repair, what is marked, and how wide holes are filled."""

from dataclasses import replace

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from inpaint_app.text.explanations import FILL_EXPLANATIONS, preset_title
from inpaint_app.text.formatting import format_percent
from inpaint_app.window.action_table import key_of
from inpaint_app.window.actions import Actions
from inpaint_app.window.document.state import DocumentState
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.action_button import action_button
from inpaint_app.window.widgets.labels import SecondaryLabel
from inpaint_app.window.widgets.layouts import fill, labeled, tooltip
from inpaint_app.window.widgets.no_wheel_boxes import NoWheelComboBox


class RepairPanel(QWidget):
    """Repairs everything at once."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        words = SecondaryLabel("Finds cracks, scratches and dust, and restores them.")
        words.setWordWrap(True)
        fill(QVBoxLayout(self), action_button(actions["repair"], "Repair photo", main=True), words, spacing=8)


class MarksPanel(QWidget):
    """Says what is marked, and restores or clears it."""

    def __init__(self, session: Session, actions: Actions) -> None:
        super().__init__()
        self._words = SecondaryLabel()
        self._words.setWordWrap(True)
        self._fills = NoWheelComboBox()
        self._fills.setAccessibleName("Fill wide holes, retouching")
        for place, (name, text) in enumerate(FILL_EXPLANATIONS.items()):
            self._fills.addItem(preset_title(name), name)
            self._fills.setItemData(place, tooltip(text), 3)
        self._session = session
        self._restore = action_button(actions["restore"], "Restore marks")
        self._clear = action_button(actions["clear"], "Clear marks")
        self._another = action_button(actions["another_fill"], "Try another fill")
        row = fill(QHBoxLayout(), (self._restore, 1), (self._clear, 1), spacing=8)
        fill(
            QVBoxLayout(self),
            self._words,
            row,
            labeled("Wide holes", self._fills),
            self._another,
            spacing=8,
        )
        self._fills.activated.connect(self._choose)
        session.document.watch(self._show, "source", "mask", "runs", "settings")
        self._show(session.state, session.state)

    def _choose(self, place: int) -> None:
        settings = self._session.state.settings
        self._session.set_settings(replace(settings, fill=self._fills.itemData(place)))

    def _show(self, _old: DocumentState, new: DocumentState) -> None:
        self._fills.setCurrentIndex(self._fills.findData(new.settings.fill))
        self._words.setText(_described(new))


def _described(state: DocumentState) -> str:
    """Return what is marked and what to do, in a sentence or two."""
    if state.source is None:
        return "Nothing is open."
    current = state.runs.current
    if current is not None and state.has_mask_of(current):
        return "All that is marked is restored. Hold B to see the picture before."
    if state.missing_fraction:
        part = format_percent(state.missing_fraction)
        return f"{part} of the picture is marked. Restore ({key_of('restore')}) mends it."
    return f"Paint over damage, or once around it ({key_of('heal')}): it is restored when you let go."
