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
#: The color of each role in the light and in the dark theme.
_PALETTES = {
    _Role.Window: ("#f2f2f4", "#2b2b2e"),
    _Role.WindowText: ("#1c1c1f", "#ececef"),
    _Role.Base: ("#ffffff", "#1e1e20"),
    _Role.AlternateBase: ("#f6f6f8", "#262629"),
    _Role.Text: ("#1c1c1f", "#ececef"),
    _Role.PlaceholderText: ("#6b6b72", "#9d9da4"),
    _Role.Button: ("#e9e9ec", "#3a3a3e"),
    _Role.ButtonText: ("#1c1c1f", "#ececef"),
    _Role.BrightText: ("#ffffff", "#ffffff"),
    _Role.ToolTipBase: ("#ffffff", "#3a3a3e"),
    _Role.ToolTipText: ("#1c1c1f", "#ececef"),
    _Role.Light: ("#ffffff", "#55555b"),
    _Role.Midlight: ("#f5f5f7", "#46464b"),
    _Role.Mid: ("#bcbcc2", "#242427"),
    _Role.Dark: ("#9c9ca3", "#18181a"),
    _Role.Shadow: ("#6e6e75", "#0c0c0d"),
    _Role.Highlight: ("#0b5cad", "#2468ad"),
    _Role.HighlightedText: ("#ffffff", "#ffffff"),
    _Role.Accent: ("#0b5cad", "#4ea1f5"),
    _Role.Link: ("#0b5cad", "#7db9fa"),
    _Role.LinkVisited: ("#6a3fa0", "#c3a3ef"),
}
_FADED = "#8b8b92", "#7f7f87"
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
        application.setStyle(OutlinedStyle())
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
