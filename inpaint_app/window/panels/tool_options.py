"""The options of the tool that is chosen, in a bar below the toolbar."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QLabel,
    QPushButton,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QToolBar,
    QWidget,
)

from inpaint_app.window.action_table import TOOL_SPECS, key_hint
from inpaint_app.window.document.view_state import MAX_BRUSH, MIN_BRUSH, ViewState
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.fields import buddy, check, described, number, strip

_BRUSH = ("size",)
_HEALING = ("size", "hardness", "opacity", "fade", "aligned", "source")
#: Which options a tool has; others have none.
_OPTIONS = {
    "heal": _HEALING,
    "clone": _HEALING,
    "brush": _BRUSH,
    "eraser": _BRUSH,
    "wand": ("tolerance",),
}
_SLIDER_WIDTH = 110


class ToolOptions(QToolBar):
    """Size, hardness and opacity of brushes, the opacity of the last stroke, the tolerance of the wand."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__("Tool Options", parent)
        self.setObjectName("tool_options")
        self.setMovable(False)
        self._session, self._actions = session, dict[str, QAction]()
        tip = f"Width of the brush{key_hint('smaller', 'larger')}."
        self.size_ = number("Brush size", MIN_BRUSH, MAX_BRUSH, tip, " px")
        tip = f"Part of the brush that paints fully; the rest fades out{key_hint('softer', 'harder')}."
        self.hardness = number("Brush hardness", 0, 100, tip, " %")
        self.opacity = number("Brush opacity", 1, 100, "How much of the next strokes is seen.", " %")
        slider = QSlider(Qt.Orientation.Horizontal)
        self.fade = described(slider, "Opacity of the last stroke", "Fade the last stroke.")
        tip = "Let all strokes copy from the same distance; otherwise each begins at the source again."
        self.aligned = check("Aligned", tip, "Aligned strokes")
        tip = "Let the healing brush find its own pixels again."
        self._source = described(QPushButton(), "", tip)
        tip = "How much the colors of connected pixels may differ, in levels of 255."
        self.tolerance = number("Wand tolerance", 0, 255, tip)
        self._name, self._fade_value = QLabel(), QLabel()
        self._lay_out()
        self.setMinimumHeight(self.sizeHint().height())  # no tool moves the picture
        self._connect()
        self._show()

    def _lay_out(self) -> None:
        self.fade.setRange(0, 100)
        self.fade.setFixedWidth(_SLIDER_WIDTH)
        self._fade_value.setMinimumWidth(self._fade_value.fontMetrics().horizontalAdvance("100 %"))
        self._add("name", "", self._name)
        self._add("size", "Size", self.size_)
        self._add("hardness", "Hardness", self.hardness)
        self._add("opacity", "Opacity", self.opacity)
        self._add("fade", "Last stroke", self.fade, self._fade_value)
        self._add("aligned", "", self.aligned)
        self._add("source", "", self._source)
        self._add("tolerance", "Tolerance", self.tolerance)

    def _add(self, option: str, label: str, field: QWidget, *more: QWidget) -> None:
        """Add a field with its label to the bar."""
        title = buddy(label, field)
        title.setToolTip(field.toolTip())
        title.setVisible(bool(label))
        part = strip(title, field, *more, margins=(6, 2, 6, 2), spacing=6)
        part.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._actions[option] = self.addWidget(part)

    def _connect(self) -> None:
        change = self._change
        self.size_.valueChanged.connect(lambda px: change(lambda view: view.with_brush(px)))
        self.hardness.valueChanged.connect(lambda part: change(lambda view: view.with_hardness(part)))
        self.opacity.valueChanged.connect(lambda part: change(lambda view: replace(view, opacity=part)))
        self.tolerance.valueChanged.connect(lambda most: change(lambda view: replace(view, tolerance=most)))
        self.aligned.toggled.connect(lambda on: change(lambda view: replace(view, is_aligned=on)))
        self.fade.valueChanged.connect(lambda percent: self._session.healing.fade(percent / 100))
        self._source.clicked.connect(self._session.healing.forget_source)
        self._session.document.watch(self._show, "view", "source", "copy_source")
        self._session.document.watch(self._show_fade, "runs")
        self._session.history.stroke_changed.connect(self._show_fade)

    def _change(self, change: Callable[[ViewState], ViewState]) -> None:
        self._session.document.set_view(change(self._session.state.view))

    def _show(self) -> None:
        state = self._session.state
        view, chosen = state.view, state.copy_source
        values: dict[QSpinBox, int] = {
            self.size_: view.brush_diameter,
            self.hardness: view.hardness,
            self.opacity: view.opacity,
            self.tolerance: view.tolerance,
        }
        for box, value in values.items():
            with QSignalBlocker(box):
                box.setValue(value)
        with QSignalBlocker(self.aligned):
            self.aligned.setChecked(view.is_aligned)
        self.setEnabled(state.source is not None)
        self._name.setText(TOOL_SPECS[view.tool].text.replace("&", ""))
        is_clone = view.tool == "clone"
        self._source.setText("Automatic source" if not is_clone else "Forget source")
        shown = {"name", *_OPTIONS.get(view.tool, ())}
        shown -= set() if chosen is not None else {"source"} if is_clone else {"source", "aligned"}
        for option, action in self._actions.items():
            action.setVisible(option in shown)
        self._show_fade()

    def _show_fade(self) -> None:
        """Show the opacity of the last stroke, if it can be changed."""
        strength = self._session.healing.last_strength
        self.fade.setEnabled(strength is not None)
        percent = 100 if strength is None else round(100 * strength)
        if not self.fade.isSliderDown():
            with QSignalBlocker(self.fade):
                self.fade.setValue(percent)
        self._fade_value.setText("" if strength is None else f"{percent} %")
