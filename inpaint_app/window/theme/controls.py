"""How the controls are drawn: flat and quiet, with edges and a focus that can be seen on any ground."""

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import (
    QStyle,
    QStyleOption,
    QStyleOptionButton,
    QStyleOptionFocusRect,
    QStyleOptionGroupBox,
    QStyleOptionProgressBar,
    QStyleOptionSlider,
    QStyleOptionTab,
    QWidget,
)

from inpaint_app.window.theme.colors import colors_of

_Primitive = QStyle.PrimitiveElement
_Control = QStyle.ControlElement
_State = QStyle.StateFlag
_Role = QPalette.ColorRole
_ROUND, _RING = 4.0, 2
_GROOVE = 4
KNOB = 14

# Each function sets the pen and the brush that it draws with; the painter is smooth.

# Parts


def _draw_focus(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    if option.state & _State.State_KeyboardFocusChange:
        _draw_edge(painter, option.rect, _color(option, focused=True), _RING)


def _draw_button(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    palette, is_focused, counts = option.palette, _has_key_focus(option), is_main(widget)
    is_default = isinstance(option, QStyleOptionButton) and bool(
        option.features & QStyleOptionButton.ButtonFeature.DefaultButton
    )
    fill = palette.color(_Role.Highlight if counts else _Role.Button)
    _fill(painter, option.rect, _touched(fill, option))
    if is_focused and counts:  # on its own ground the ring would not be seen
        _draw_edge(painter, option.rect, palette.color(_Role.Window), 2 * _RING)
    if not counts or is_focused:
        color = _edge_color(option, focused=is_focused or is_default)
        _draw_edge(painter, option.rect, color, _RING if is_focused else 1)


def _draw_tool_button(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    is_on = bool(option.state & _State.State_On)
    is_touched = bool(option.state & (_State.State_MouseOver | _State.State_Sunken)) and is_enabled(option)
    if is_on or is_touched:
        _fill(painter, option.rect, option.palette.color(_Role.Midlight))
    if is_on:
        _draw_edge(painter, option.rect, _edge_color(option))


def _draw_frame(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    draw_box(painter, option, None)


def _draw_field(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    # Inside of a box for numbers, the frame is that of the box.
    if widget is None or widget.objectName() != "qt_spinbox_lineedit":
        draw_box(painter, option, _Role.Base)


def _draw_check_box(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    rect = _square(option.rect)
    _fill(painter, rect, _touched(option.palette.color(_Role.Base), option))
    _draw_edge(painter, rect, _edge_color(option))
    if option.state & _State.State_On:
        side, corner = rect.width(), QPointF(rect.topLeft())
        places = (QPointF(0.24, 0.52), QPointF(0.43, 0.71), QPointF(0.77, 0.3))
        pen = QPen(option.palette.color(_Role.WindowText), 1.8)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawPolyline(QPolygonF([corner + place * side for place in places]))


def _draw_radio_button(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    rect = _square(option.rect)
    _fill(painter, rect, _touched(option.palette.color(_Role.Base), option), rect.width() / 2)
    color = _edge_color(option)
    _draw_edge(painter, rect, color, 1, rect.width() / 2)
    if option.state & _State.State_On:
        inset = rect.width() // 4 + 1
        dot = rect.adjusted(inset, inset, -inset, -inset)
        _fill(painter, dot, option.palette.color(_Role.WindowText), dot.width() / 2)


def _draw_separator(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    center, is_row = option.rect.center(), bool(option.state & _State.State_Horizontal)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(_rule(option))
    if is_row:
        painter.drawLine(center.x(), option.rect.top() + 6, center.x(), option.rect.bottom() - 6)
    else:
        painter.drawLine(option.rect.left() + 6, center.y(), option.rect.right() - 6, center.y())


def _draw_nothing(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    """Leave the ground as it is."""


# Controls


def _draw_bar(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    painter.fillRect(option.rect, option.palette.window())


def _draw_tab(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    """Underline the tab that is chosen."""
    if not isinstance(option, QStyleOptionTab):
        return
    rect = option.rect
    is_chosen = bool(option.state & _State.State_Selected)
    painter.fillRect(
        QRect(rect.x(), rect.bottom() - 1, rect.width(), 2),
        option.palette.color(_Role.Highlight) if is_chosen else _rule(option),
    )


def _draw_header(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    painter.fillRect(option.rect, option.palette.window())
    painter.fillRect(QRect(option.rect.x(), option.rect.bottom(), option.rect.width(), 1), _rule(option))


def _draw_progress_groove(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    _fill(painter, _thin(option.rect), _rule(option), 3)


def _draw_progress(painter: QPainter, option: QStyleOption, widget: QWidget | None) -> None:
    if not isinstance(option, QStyleOptionProgressBar):
        return
    rect, span = _thin(option.rect), option.maximum - option.minimum
    if span > 0:
        rect.setWidth(round(rect.width() * (option.progress - option.minimum) / span))
    if rect.width() > 0:
        _fill(painter, rect, option.palette.color(_Role.Highlight), 3)


_Draw = Callable[[QPainter, QStyleOption, QWidget | None], None]
PRIMITIVES: dict[_Primitive, _Draw] = {
    _Primitive.PE_FrameFocusRect: _draw_focus,
    _Primitive.PE_PanelButtonCommand: _draw_button,
    _Primitive.PE_PanelButtonTool: _draw_tool_button,
    _Primitive.PE_FrameLineEdit: _draw_frame,
    _Primitive.PE_PanelLineEdit: _draw_field,
    _Primitive.PE_IndicatorCheckBox: _draw_check_box,
    _Primitive.PE_IndicatorRadioButton: _draw_radio_button,
    _Primitive.PE_IndicatorToolBarSeparator: _draw_separator,
    _Primitive.PE_IndicatorDockWidgetResizeHandle: _draw_nothing,
    _Primitive.PE_FrameTabBarBase: _draw_nothing,
    _Primitive.PE_FrameTabWidget: _draw_nothing,
    _Primitive.PE_FrameStatusBarItem: _draw_nothing,
    _Primitive.PE_PanelMenuBar: _draw_nothing,
}
CONTROLS: dict[_Control, _Draw] = {
    _Control.CE_ToolBar: _draw_bar,
    _Control.CE_MenuBarEmptyArea: _draw_bar,
    _Control.CE_TabBarTabShape: _draw_tab,
    _Control.CE_HeaderSection: _draw_header,
    _Control.CE_HeaderEmptyArea: _draw_header,
    _Control.CE_ProgressBarGroove: _draw_progress_groove,
    _Control.CE_ProgressBarContents: _draw_progress,
    _Control.CE_ProgressBarLabel: _draw_nothing,
}


# Controls of several parts


def draw_tab_focus(painter: QPainter, option: QStyleOption) -> None:
    """Draw a frame around the name of a tab if the keys have led there."""
    if _has_key_focus(option):
        _draw_edge(painter, option.rect.adjusted(3, 3, -3, -3), _color(option, focused=True), _RING)


def draw_box(painter: QPainter, option: QStyleOption, ground: _Role | None) -> None:
    """Draw something to be typed into or chosen from, whose edge shows the focus in any case."""
    is_focused = bool(option.state & _State.State_HasFocus)
    if ground is not None:
        _fill(painter, option.rect, option.palette.color(ground))
    color = _edge_color(option, focused=is_focused)
    _draw_edge(painter, option.rect, color, _RING if is_focused else 1)


def draw_arrow(painter: QPainter, option: QStyleOption, rect: QRect, *, up: bool) -> None:
    """Draw the arrow of a box, up or down."""
    center, rise = QRectF(rect).center(), -2.0 if up else 2.0
    group = QPalette.ColorGroup.Active if is_enabled(option) else QPalette.ColorGroup.Disabled
    pen = QPen(option.palette.color(group, _Role.ButtonText), 1.4)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    tip = center + QPointF(0, rise)
    wings = (QPointF(-3.5, -rise), QPointF(3.5, -rise))
    painter.drawPolyline(QPolygonF([center + wings[0], tip, center + wings[1]]))


def draw_slider(painter: QPainter, option: QStyleOptionSlider, handle: QRect) -> None:
    """Draw a groove, filled up to the knob."""
    knob = QRect(0, 0, KNOB, KNOB)
    knob.moveCenter(handle.center())
    groove = QRect(option.rect.x(), 0, option.rect.width(), _GROOVE)
    groove.moveCenter(QRect(option.rect).center())
    _fill(painter, groove, _rule(option), _GROOVE / 2)
    if is_enabled(option):
        done = QRect(groove)
        done.setRight(knob.center().x())
        _fill(painter, done, option.palette.accent().color(), _GROOVE / 2)
    is_focused = _has_key_focus(option)
    _fill(painter, knob, _touched(option.palette.color(_Role.Button), option), KNOB / 2)
    color = _edge_color(option, focused=is_focused)
    _draw_edge(painter, knob, color, _RING if is_focused else 1.8, KNOB / 2)


def draw_scroll_bar(painter: QPainter, option: QStyleOption, handle: QRect) -> None:
    """Draw the handle alone."""
    painter.fillRect(option.rect, option.palette.window())
    inner = handle.adjusted(3, 3, -3, -3)
    if inner.width() > 0 and inner.height() > 0:
        _fill(painter, inner, colors_of(option.palette).edge, min(inner.width(), inner.height()) / 2)


def heading_height(option: QStyleOption) -> int:
    """Return how high the title of a group is."""
    return option.fontMetrics.height() + 10


def draw_heading(painter: QPainter, option: QStyleOptionGroupBox, widget: QWidget | None) -> None:
    """Draw the title of a group, and a line above that parts it from what is before, if there is anything."""
    font = QFont(painter.font())
    font.setWeight(QFont.Weight.DemiBold)
    painter.setFont(font)
    if not _is_topmost(widget):
        painter.fillRect(QRect(option.rect.x(), option.rect.y(), option.rect.width(), 1), _rule(option))
    painter.setPen(option.palette.color(_Role.WindowText))
    place = QRect(option.rect.x(), option.rect.y() + 2, option.rect.width(), heading_height(option))
    painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, option.text)


def _is_topmost(widget: QWidget | None) -> bool:
    parent = None if widget is None else widget.parentWidget()
    if widget is None or parent is None:
        return False
    others = parent.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return all(other.y() >= widget.y() for other in others if other.isVisible())


# Colors and shapes


def is_enabled(option: QStyleOption) -> bool:
    """Return whether a control can be used."""
    return bool(option.state & _State.State_Enabled)


def is_main(widget: QWidget | None) -> bool:
    """Return whether a button is the one that counts, and has the accent color."""
    return widget is not None and bool(widget.property("main")) and widget.isEnabled()


def _has_key_focus(option: QStyleOption) -> bool:
    """Return whether a control has the focus and the keys are in use, as Fusion has it."""
    return bool(option.state & _State.State_HasFocus and option.state & _State.State_KeyboardFocusChange)


def _color(option: QStyleOption, *, focused: bool) -> QColor:
    colors = colors_of(option.palette)
    if not focused:
        return colors.edge
    is_selected = isinstance(option, QStyleOptionFocusRect) and (
        bool(option.state & _State.State_Selected)
        or option.backgroundColor == option.palette.highlight().color()  # of a whole row
    )
    return option.palette.highlightedText().color() if is_selected else colors.focus


def _edge_color(option: QStyleOption, *, focused: bool = False) -> QColor:
    return _color(option, focused=focused) if is_enabled(option) else _rule(option)


def _rule(option: QStyleOption) -> QColor:
    return colors_of(option.palette).rule


def _touched(color: QColor, option: QStyleOption) -> QColor:
    """Return a color as it is under the pointer, or under a button that is held."""
    if not is_enabled(option):
        return color
    if option.state & _State.State_Sunken:
        return color.darker(115)
    return color.lighter(108) if option.state & _State.State_MouseOver else color


def _square(rect: QRect) -> QRect:
    side = min(rect.width(), rect.height())
    square = QRect(0, 0, side, side)
    square.moveCenter(rect.center())
    return square


def _thin(rect: QRect) -> QRect:
    thin = QRect(rect.x(), 0, rect.width(), 6)
    thin.moveCenter(rect.center())
    return thin


def _fill(painter: QPainter, rect: QRect, color: QColor, radius: float = _ROUND) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawRoundedRect(QRectF(rect), radius, radius)


def _draw_edge(
    painter: QPainter, rect: QRect, color: QColor, width: float = 1, radius: float = _ROUND
) -> None:
    inner = QRectF(rect).adjusted(width / 2, width / 2, -width / 2, -width / 2)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(color, width))
    painter.drawRoundedRect(inner, radius, radius)
