"""What mends a photograph: repair, what is marked, and how wide holes are filled."""

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from inpaint_app.text.formatting import format_percent
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.actions import Actions
from inpaint_app.window.document.state import DocumentState
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.fields import action_button, choice, paragraph
from inpaint_app.window.widgets.labels import SecondaryLabel
from inpaint_app.window.widgets.layouts import fill, labeled


class RepairPanel(QWidget):
    """Repairs everything at once."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        words = paragraph("Finds cracks, scratches and dust, and restores them.", made=SecondaryLabel)
        fill(QVBoxLayout(self), action_button(actions["repair"], "Repair photo", main=True), words, spacing=8)


class MarksPanel(QWidget):
    """Says what is marked, restores or clears it, and mirrors how wide holes are filled."""

    def __init__(self, session: Session, actions: Actions, fills: QComboBox) -> None:
        super().__init__()
        self._session = session
        self._words = paragraph(made=SecondaryLabel)
        mirror = choice("Wide holes", tip=fills.accessibleDescription())
        mirror.setModel(fills.model())
        mirror.activated.connect(fills.activated)
        fills.currentIndexChanged.connect(mirror.setCurrentIndex)
        mirror.setCurrentIndex(fills.currentIndex())
        buttons = (
            action_button(actions["restore"], "Restore marks"),
            action_button(actions["clear"], "Clear marks"),
        )
        row = fill(QHBoxLayout(), *((button, 1) for button in buttons), spacing=8)
        another = action_button(actions["another_fill"], "Try another fill")
        fill(QVBoxLayout(self), self._words, row, labeled("Wide holes", mirror), another, spacing=8)
        session.document.watch(self._show, "source", "mask", "runs")
        self._show()

    def _show(self) -> None:
        self._words.setText(_described(self._session.state))


def _described(state: DocumentState) -> str:
    """Return what is marked and what to do, in a sentence or two."""
    if state.source is None:
        return "Nothing is open."
    current = state.runs.current
    if current is not None and state.has_mask_of(current):
        return "All that is marked is restored. Hold B to see the picture before."
    if state.missing_fraction:
        part = format_percent(state.missing_fraction)
        return f"{part} of the picture is marked. Restore{key_hint('restore')} mends it."
    return f"Paint over damage, or once around it{key_hint('heal')}: it is restored when you let go."
