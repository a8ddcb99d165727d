"""Light and dark: the palette of the application, changed while it runs."""

from enum import Enum

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from inpaint_app.window.theme.outlined_style import OutlinedStyle


class Theme(Enum):
    """What the user asks for."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


_Role = QPalette.ColorRole
_LIGHT = {
    _Role.Window: "#f2f2f4",
    _Role.WindowText: "#1c1c1f",
    _Role.Base: "#ffffff",
    _Role.AlternateBase: "#f6f6f8",
    _Role.Text: "#1c1c1f",
    _Role.PlaceholderText: "#6b6b72",
    _Role.Button: "#e9e9ec",
    _Role.ButtonText: "#1c1c1f",
    _Role.BrightText: "#ffffff",
    _Role.ToolTipBase: "#ffffff",
    _Role.ToolTipText: "#1c1c1f",
    _Role.Light: "#ffffff",
    _Role.Midlight: "#f5f5f7",
    _Role.Mid: "#bcbcc2",
    _Role.Dark: "#9c9ca3",
    _Role.Shadow: "#6e6e75",
    _Role.Highlight: "#0b5cad",
    _Role.HighlightedText: "#ffffff",
    _Role.Accent: "#0b5cad",
    _Role.Link: "#0b5cad",
    _Role.LinkVisited: "#6a3fa0",
}
_DARK = {
    _Role.Window: "#2b2b2e",
    _Role.WindowText: "#ececef",
    _Role.Base: "#1e1e20",
    _Role.AlternateBase: "#262629",
    _Role.Text: "#ececef",
    _Role.PlaceholderText: "#9d9da4",
    _Role.Button: "#3a3a3e",
    _Role.ButtonText: "#ececef",
    _Role.BrightText: "#ffffff",
    _Role.ToolTipBase: "#3a3a3e",
    _Role.ToolTipText: "#ececef",
    _Role.Light: "#55555b",
    _Role.Midlight: "#46464b",
    _Role.Mid: "#242427",
    _Role.Dark: "#18181a",
    _Role.Shadow: "#0c0c0d",
    _Role.Highlight: "#2468ad",
    _Role.HighlightedText: "#ffffff",
    _Role.Accent: "#4ea1f5",
    _Role.Link: "#7db9fa",
    _Role.LinkVisited: "#c3a3ef",
}
_FADED = {False: "#8b8b92", True: "#7f7f87"}
_FADES = (_Role.WindowText, _Role.Text, _Role.ButtonText, _Role.PlaceholderText)


def palette_of(dark: bool) -> QPalette:
    """Return the palette of the dark or of the light theme."""
    palette = QPalette()
    for role, name in (_DARK if dark else _LIGHT).items():
        palette.setColor(role, QColor(name))
    disabled = QPalette.ColorGroup.Disabled
    for role in _FADES:
        palette.setColor(disabled, role, QColor(_FADED[dark]))
    palette.setColor(disabled, _Role.Highlight, palette.color(_Role.Mid if not dark else _Role.Midlight))
    palette.setColor(disabled, _Role.Accent, palette.color(_Role.Mid if not dark else _Role.Midlight))
    return palette


class ThemeSwitch(QObject):
    """Gives the application its style and its palette, and follows the system where asked to."""

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        self._application = application
        self._theme = Theme.SYSTEM
        application.setStyle(OutlinedStyle())
        application.styleHints().colorSchemeChanged.connect(self._on_system_changed)
        self._on_system_changed(application.styleHints().colorScheme())

    @property
    def theme(self) -> Theme:
        """What the user asked for."""
        return self._theme

    def set_theme(self, theme: Theme) -> None:
        """Change to light, to dark, or to what the system has."""
        self._theme = theme
        hints = self._application.styleHints()
        # The system draws title bars and its own dialogs by what the hints say.
        if theme is Theme.SYSTEM:
            hints.unsetColorScheme()
            self._on_system_changed(hints.colorScheme())
        else:
            hints.setColorScheme(Qt.ColorScheme.Dark if theme is Theme.DARK else Qt.ColorScheme.Light)
            self._application.setPalette(palette_of(theme is Theme.DARK))

    def _on_system_changed(self, scheme: Qt.ColorScheme) -> None:
        if self._theme is Theme.SYSTEM:
            self._application.setPalette(palette_of(scheme == Qt.ColorScheme.Dark))
