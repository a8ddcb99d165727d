"""The style of the controls: edges and a focus that can be seen on light and dark ground."""

from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import (
    QProxyStyle,
    QStyle,
    QStyleOption,
    QStyleOptionButton,
    QStyleOptionComplex,
    QStyleOptionFocusRect,
    QWidget,
)

from inpaint_app.window.theme.colors import colors_of

_Primitive = QStyle.PrimitiveElement
_Complex = QStyle.ComplexControl
_State = QStyle.StateFlag
_ROUND = 2.0
_RING = 2


class OutlinedStyle(QProxyStyle):
    """Fusion, whose edges and focus are too faint, with both drawn over at 3:1 and more (WCAG 1.4.11)."""

    def __init__(self) -> None:
        super().__init__("Fusion")

    def drawPrimitive(
        self, element: _Primitive, option: QStyleOption, painter: QPainter, widget: QWidget | None = None
    ) -> None:
        """Draw a part of a control, and its edge."""
        if element == _Primitive.PE_FrameFocusRect:
            if option.state & _State.State_KeyboardFocusChange:
                _draw_edge(painter, option.rect, _color(option, focused=True), _RING, _ROUND)
            return
        super().drawPrimitive(element, option, painter, widget)
        if not option.state & _State.State_Enabled:
            return
        if element == _Primitive.PE_PanelButtonCommand:
            _draw_button_edge(painter, option)
        elif element == _Primitive.PE_FrameLineEdit:
            _draw_box_edge(painter, option)
        elif element == _Primitive.PE_IndicatorCheckBox:
            _draw_edge(painter, option.rect, _color(option, focused=False), 1, 0)
        elif element == _Primitive.PE_IndicatorRadioButton:
            _draw_edge(painter, option.rect, _color(option, focused=False), 1, option.rect.width() / 2)

    def drawControl(
        self,
        element: QStyle.ControlElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        """Draw a control; a tab shows the focus."""
        super().drawControl(element, option, painter, widget)
        if element == QStyle.ControlElement.CE_TabBarTabLabel and _has_key_focus(option):
            _draw_edge(
                painter, option.rect.adjusted(3, 3, -3, -1), _color(option, focused=True), _RING, _ROUND
            )

    def drawComplexControl(
        self,
        control: _Complex,
        option: QStyleOptionComplex,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        """Draw a control of several parts, and its edge."""
        super().drawComplexControl(control, option, painter, widget)
        if not option.state & _State.State_Enabled:
            return
        if control in (_Complex.CC_ComboBox, _Complex.CC_SpinBox):
            _draw_box_edge(painter, option)
        elif control == _Complex.CC_Slider and widget is not None:
            handle = self.subControlRect(control, option, QStyle.SubControl.SC_SliderHandle, widget)
            is_focused = _has_key_focus(option)
            color = _color(option, focused=is_focused)
            _draw_edge(painter, handle, color, _RING if is_focused else 1, _ROUND)


def _draw_button_edge(painter: QPainter, option: QStyleOption) -> None:
    is_focused = _has_key_focus(option)
    is_default = isinstance(option, QStyleOptionButton) and bool(
        option.features & QStyleOptionButton.ButtonFeature.DefaultButton
    )
    color = _color(option, focused=is_focused or is_default)
    _draw_edge(painter, option.rect, color, _RING if is_focused else 1, _ROUND)


def _draw_box_edge(painter: QPainter, option: QStyleOption) -> None:
    """Draw the edge of something to be typed into or chosen from, which shows the focus in any case."""
    is_focused = bool(option.state & _State.State_HasFocus)
    _draw_edge(painter, option.rect, _color(option, focused=is_focused), _RING if is_focused else 1, _ROUND)


def _has_key_focus(option: QStyleOption) -> bool:
    """Return whether a control has the focus and the keys are in use, as Fusion has it."""
    return bool(option.state & _State.State_HasFocus and option.state & _State.State_KeyboardFocusChange)


def _color(option: QStyleOption, *, focused: bool) -> QColor:
    colors = colors_of(option.palette)
    if not focused:
        return colors.edge
    is_selected = bool(option.state & _State.State_Selected) and isinstance(option, QStyleOptionFocusRect)
    return option.palette.highlightedText().color() if is_selected else colors.focus


def _draw_edge(painter: QPainter, rect: QRect, color: QColor, width: int, radius: float) -> None:
    inner = QRectF(rect).adjusted(width / 2, width / 2, -width / 2, -width / 2)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(QColor(0, 0, 0, 0))
    painter.setPen(QPen(color, width))
    painter.drawRoundedRect(inner, radius, radius)
    painter.restore()
