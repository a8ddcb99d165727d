"""The panel beside the pictures: missing pixels, parameters, and what to do with them."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.text import format_percent
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.actions import Actions
from inpaint_app.window.document.state import DocumentState
from inpaint_app.window.panels.damage_panel import DamagePanel
from inpaint_app.window.panels.missing_panel import MissingPanel
from inpaint_app.window.panels.parameter_panel import ParameterPanel
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.fields import action_button, choice, fill, labeled, paragraph
from inpaint_app.window.widgets.labels import SecondaryLabel


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


class SidePanel(QWidget):
    """Scrolls through the parameters; the buttons below stay in sight."""

    def __init__(self, session: Session, actions: Actions) -> None:
        super().__init__()
        self._session = session
        self.damage = DamagePanel(session, actions)
        self.missing, self.parameters = MissingPanel(session, actions), ParameterPanel(session)
        self._advice = QLabel()
        self._advice.setWordWrap(True)
        self._advice.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        inside = QWidget()
        repair = RepairPanel(actions)
        marks = _framed("By hand", MarksPanel(session, actions, self.parameters.fills))
        damage = _framed("Damage", self.damage)
        missing, parameters = _framed("Missing pixels", self.missing), _framed("Parameters", self.parameters)
        fill(
            QVBoxLayout(inside),
            repair,
            damage,
            marks,
            missing,
            parameters,
            1,
            margins=(12, 2, 12, 2),
            spacing=6,
        )
        scroll = _Column()
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inside)
        row, buttons = QWidget(), [action_button(actions["restore"], main=True)]
        buttons += [action_button(actions["tune"], "Auto"), action_button(actions["compare"], "Constraints")]
        fill(QHBoxLayout(row), *((button, 1) for button in buttons), margins=(12, 4, 12, 12))
        self._advice.setContentsMargins(12, 0, 12, 0)
        fill(QVBoxLayout(self), (scroll, 1), self._advice, row)
        self._for_retouching: tuple[QWidget, ...] = (repair, marks)
        self._for_study: tuple[QWidget, ...] = (missing, parameters, row)
        self.set_retouching(False)
        session.document.watch(self._show_advice, "advice")
        self._show_advice()

    def set_retouching(self, is_retouching: bool) -> None:
        """Show what mends a photograph, or what a method is studied with."""
        for widget in self._for_retouching:
            widget.setVisible(is_retouching)
        for widget in self._for_study:
            widget.setVisible(not is_retouching)

    def _show_advice(self) -> None:
        advice = self._session.state.advice
        self._advice.setText("" if advice is None else advice.sentence)
        self._advice.setVisible(advice is not None)


class _Column(QScrollArea):
    """Scrolls up and down, and is never narrower than what it holds."""

    def minimumSizeHint(self) -> QSize:
        """Return a size that holds the widest thing beside the scroll bar."""
        inside = self.widget()
        assert inside is not None
        width = inside.minimumSizeHint().width() + self.verticalScrollBar().sizeHint().width()
        return QSize(width, super().minimumSizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size of what it holds."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


def _framed(title: str, widget: QWidget) -> QGroupBox:
    box = QGroupBox(title)
    fill(QVBoxLayout(box), widget, margins=(0, 5, 0, 0))
    return box
