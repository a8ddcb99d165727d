"""Light and dark, and the style of the controls: flat and quiet, with edges that are seen on any ground."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from PySide6.QtCore import QObject, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPalette
from PySide6.QtWidgets import (
    QApplication,
    QProxyStyle,
    QStyle,
    QStyleHintReturn,
    QStyleOption,
    QStyleOptionComboBox,
    QStyleOptionComplex,
    QStyleOptionGroupBox,
    QStyleOptionSlider,
    QStyleOptionSpinBox,
    QWidget,
)

from inpaint_app.window.theme.controls import (
    CONTROLS,
    KNOB,
    PRIMITIVES,
    draw_arrow,
    draw_box,
    draw_heading,
    draw_scroll_bar,
    draw_slider,
    draw_tab_focus,
    heading_height,
    is_enabled,
    is_main,
)

_Primitive = QStyle.PrimitiveElement
_Control = QStyle.ControlElement
_Complex = QStyle.ComplexControl
_Part = QStyle.SubControl
_State = QStyle.StateFlag
_Role = QPalette.ColorRole
_Metric = QStyle.PixelMetric
#: Least heights of controls.
_HEIGHTS = {
    QStyle.ContentsType.CT_PushButton: 26,
    QStyle.ContentsType.CT_ComboBox: 24,
    QStyle.ContentsType.CT_SpinBox: 24,
    QStyle.ContentsType.CT_LineEdit: 24,
}
_METRICS = {
    _Metric.PM_ScrollBarExtent: 12,
    _Metric.PM_ScrollBarSliderMin: 32,
    _Metric.PM_SliderThickness: 18,
    _Metric.PM_SliderLength: KNOB,
    _Metric.PM_SliderControlThickness: KNOB,
    _Metric.PM_DockWidgetSeparatorExtent: 5,
    _Metric.PM_ToolBarItemSpacing: 4,
    _Metric.PM_ToolBarItemMargin: 4,
    _Metric.PM_ToolBarFrameWidth: 0,
    _Metric.PM_TabBarTabHSpace: 28,
    _Metric.PM_TabBarTabVSpace: 14,
    _Metric.PM_TabBarBaseHeight: 0,
    _Metric.PM_TabBarTabShiftVertical: 0,
}


class FlatStyle(QProxyStyle):
    """Fusion without its gradients, and with edges and a focus at 3:1 (WCAG 1.4.11)."""

    def __init__(self) -> None:
        super().__init__("Fusion")

    def pixelMetric(
        self, metric: _Metric, option: QStyleOption | None = None, widget: QWidget | None = None
    ) -> int:
        """Return a size."""
        if metric in _METRICS:
            return _METRICS[metric]
        return super().pixelMetric(metric, option, widget)

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        data: QStyleHintReturn | None = None,
    ) -> int:
        """Let a click on the groove of a slider go there, and have no pictures on the buttons of dialogs."""
        if hint == QStyle.StyleHint.SH_DialogButtonBox_ButtonsHaveIcons:
            return 0
        if hint == QStyle.StyleHint.SH_Slider_AbsoluteSetButtons:
            return int(Qt.MouseButton.LeftButton.value)
        return super().styleHint(hint, option, widget, data)

    def sizeFromContents(
        self, kind: QStyle.ContentsType, option: QStyleOption, size: QSize, widget: QWidget | None = None
    ) -> QSize:
        """Give controls one height."""
        needed = super().sizeFromContents(kind, option, size, widget)  # type: ignore[arg-type]
        return needed.expandedTo(QSize(0, _HEIGHTS.get(kind, 0)))

    def subControlRect(
        self, control: _Complex, option: QStyleOptionComplex, part: _Part, widget: QWidget | None = None
    ) -> QRect:
        """Return where a part of a control is; scroll bars have no arrows, groups no frame."""
        if control == _Complex.CC_ScrollBar and part in (
            _Part.SC_ScrollBarAddLine,
            _Part.SC_ScrollBarSubLine,
        ):
            return QRect()
        if control == _Complex.CC_ScrollBar and part == _Part.SC_ScrollBarGroove:
            return option.rect
        if control == _Complex.CC_GroupBox and part == _Part.SC_GroupBoxLabel:
            return QRect(option.rect.x(), option.rect.y(), option.rect.width(), heading_height(option))
        if control == _Complex.CC_GroupBox and part == _Part.SC_GroupBoxContents:
            inside = super().subControlRect(control, option, part, widget)  # type: ignore[arg-type]
            return QRect(option.rect.x(), inside.y(), option.rect.width(), inside.height())
        return super().subControlRect(control, option, part, widget)  # type: ignore[arg-type]

    def drawPrimitive(
        self, element: _Primitive, option: QStyleOption, painter: QPainter, widget: QWidget | None = None
    ) -> None:
        """Draw a part of a control."""
        if element in PRIMITIVES:
            with _smooth(painter):
                PRIMITIVES[element](painter, option, widget)
        else:
            super().drawPrimitive(element, option, painter, widget)

    def drawControl(
        self, element: _Control, option: QStyleOption, painter: QPainter, widget: QWidget | None = None
    ) -> None:
        """Draw a control."""
        if element in CONTROLS:
            with _smooth(painter):
                CONTROLS[element](painter, option, widget)
            return
        if element == _Control.CE_PushButtonLabel and is_main(widget) and is_enabled(option):
            palette = QPalette(option.palette)
            palette.setColor(_Role.ButtonText, palette.highlightedText().color())
            option.palette = palette
        super().drawControl(element, option, painter, widget)
        if element == _Control.CE_MenuBarItem and not option.state & _State.State_Selected:
            # Fusion parts every title from what is below; at 150 % its line begins between two pixels.
            line = QRect(option.rect.x(), option.rect.bottom() - 1, option.rect.width(), 3)
            painter.fillRect(line, option.palette.window())
        if element == _Control.CE_TabBarTabLabel:
            with _smooth(painter):
                draw_tab_focus(painter, option)

    def drawComplexControl(
        self,
        control: _Complex,
        option: QStyleOptionComplex,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        """Draw a control of several parts."""
        with _smooth(painter):
            self._draw_complex(control, option, painter, widget)

    def _draw_complex(
        self, control: _Complex, option: QStyleOptionComplex, painter: QPainter, widget: QWidget | None
    ) -> None:
        if control == _Complex.CC_ComboBox and isinstance(option, QStyleOptionComboBox):
            draw_box(painter, option, _Role.Button)
            draw_arrow(painter, option, option.rect.adjusted(option.rect.width() - 22, 0, -6, 0), up=False)
        elif control == _Complex.CC_SpinBox and isinstance(option, QStyleOptionSpinBox):
            draw_box(painter, option, _Role.Base)
            for part, up in ((_Part.SC_SpinBoxUp, True), (_Part.SC_SpinBoxDown, False)):
                draw_arrow(painter, option, self.subControlRect(control, option, part, widget), up=up)
        elif control == _Complex.CC_Slider and isinstance(option, QStyleOptionSlider):
            draw_slider(painter, option, self.subControlRect(control, option, _Part.SC_SliderHandle, widget))
        elif control == _Complex.CC_ScrollBar:
            part = _Part.SC_ScrollBarSlider
            draw_scroll_bar(painter, option, self.subControlRect(control, option, part, widget))
        elif control == _Complex.CC_GroupBox and isinstance(option, QStyleOptionGroupBox):
            draw_heading(painter, option, widget)
        else:
            super().drawComplexControl(control, option, painter, widget)


@contextmanager
def _smooth(painter: QPainter) -> Iterator[None]:
    """Draw with smooth edges, and leave the painter as it was."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    try:
        yield
    finally:
        painter.restore()


class Theme(Enum):
    """What the user asks for."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


#: The color of each role in the light and in the dark theme: grays without a tint, since pictures are judged
#: beside them, and one blue for what is selected or counts most.
_PALETTES = {
    _Role.Window: ("#ececec", "#292929"),
    _Role.WindowText: ("#1c1c1c", "#e8e8e8"),
    _Role.Base: ("#fafafa", "#1f1f1f"),
    _Role.AlternateBase: ("#f3f3f3", "#252525"),
    _Role.Text: ("#1c1c1c", "#e8e8e8"),
    _Role.PlaceholderText: ("#6a6a6a", "#a0a0a0"),
    _Role.Button: ("#f8f8f8", "#383838"),
    _Role.ButtonText: ("#1c1c1c", "#e8e8e8"),
    _Role.BrightText: ("#ffffff", "#ffffff"),
    _Role.ToolTipBase: ("#ffffff", "#383838"),
    _Role.ToolTipText: ("#1c1c1c", "#e8e8e8"),
    _Role.Light: ("#ffffff", "#545454"),
    _Role.Midlight: ("#d9d9d9", "#434343"),
    _Role.Mid: ("#bdbdbd", "#4a4a4a"),
    _Role.Dark: ("#9c9c9c", "#181818"),
    _Role.Shadow: ("#6e6e6e", "#0c0c0c"),
    _Role.Highlight: ("#1f66ad", "#2c6cad"),
    _Role.HighlightedText: ("#ffffff", "#ffffff"),
    _Role.Accent: ("#5c5c5c", "#b4b4b4"),
    _Role.Link: ("#0b5cad", "#7db9fa"),
    _Role.LinkVisited: ("#6a3fa0", "#c3a3ef"),
}
_FADED = "#8c8c8c", "#7d7d7d"
_FADES = (_Role.WindowText, _Role.Text, _Role.ButtonText, _Role.PlaceholderText)


def palette_of(dark: bool) -> QPalette:
    """Return the palette of the dark or of the light theme."""
    palette, disabled = QPalette(), QPalette.ColorGroup.Disabled
    for role, names in _PALETTES.items():
        palette.setColor(role, QColor(names[dark]))
    for role in _FADES:
        palette.setColor(disabled, role, QColor(_FADED[dark]))
    for role in (_Role.Highlight, _Role.Accent):
        palette.setColor(disabled, role, palette.color(_Role.Midlight if dark else _Role.Mid))
    return palette


class ThemeSwitch(QObject):
    """Gives the application its style and its palette, and follows the system where asked to."""

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        self._application = application
        self.theme = Theme.SYSTEM  #: What the user asked for.
        application.setStyle(FlatStyle())
        application.styleHints().colorSchemeChanged.connect(self._on_system_changed)
        self._on_system_changed(application.styleHints().colorScheme())

    def set_theme(self, theme: Theme) -> None:
        """Change to light, to dark, or to what the system has."""
        self.theme = theme
        hints = self._application.styleHints()
        # The system draws title bars and its own dialogs by what the hints say.
        if theme is Theme.SYSTEM:
            hints.unsetColorScheme()
            self._on_system_changed(hints.colorScheme())
        else:
            hints.setColorScheme(Qt.ColorScheme.Dark if theme is Theme.DARK else Qt.ColorScheme.Light)
            self._application.setPalette(palette_of(theme is Theme.DARK))

    def _on_system_changed(self, scheme: Qt.ColorScheme) -> None:
        if self.theme is Theme.SYSTEM:
            self._application.setPalette(palette_of(scheme == Qt.ColorScheme.Dark))
