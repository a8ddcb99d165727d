"""The panel beside the pictures: missing pixels, parameters, and what to do with them."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFrame,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.window.actions import Actions
from inpaint_app.window.panels.damage_panel import DamagePanel
from inpaint_app.window.panels.missing_panel import MissingPanel
from inpaint_app.window.panels.parameter_panel import ParameterPanel
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.layouts import fill


class SidePanel(QWidget):
    """Scrolls through the parameters; the buttons below stay in sight."""

    def __init__(self, session: Session, actions: Actions) -> None:
        super().__init__()
        self._session = session
        self.damage = DamagePanel(session)
        self.missing, self.parameters = MissingPanel(session), ParameterPanel(session)
        self._advice = QLabel()
        self._advice.setWordWrap(True)
        self._advice.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        inside = QWidget()
        panels = {"Damage": self.damage, "Missing pixels": self.missing, "Parameters": self.parameters}
        framed = (_framed(title, panel) for title, panel in panels.items())
        fill(QVBoxLayout(inside), *framed, 1, margins=(8, 2, 8, 2), spacing=4)
        scroll = _Column()
        scroll.setWidgetResizable(True)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inside)
        buttons = (
            _button(actions["restore"], main=True),
            _button(actions["tune"], "Auto"),
            _button(actions["compare"], "Constraints"),
        )
        row = fill(QHBoxLayout(), *((button, 1) for button in buttons), margins=(8, 0, 8, 8))
        self._advice.setContentsMargins(10, 0, 10, 0)
        fill(QVBoxLayout(self), (scroll, 1), self._advice, row)
        session.document.watch(self._show_advice, "advice")
        self._show_advice()

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
    fill(QVBoxLayout(box), widget, margins=(4, 2, 4, 2))
    return box


def _button(action: QAction, text: str = "", *, main: bool = False) -> QPushButton:
    """Return a button that does what an action does, and is enabled when it is.

    The letters belong to the menus: it has none.
    """
    button = QPushButton(text or action.iconText())
    button.setToolTip(action.toolTip())
    button.setAccessibleDescription(action.statusTip())
    if main:
        font = button.font()
        font.setBold(True)
        button.setFont(font)
    button.clicked.connect(action.trigger)
    action.enabledChanged.connect(button.setEnabled)
    button.setEnabled(action.isEnabled())
    return button
