"""Light and dark: the palette of the application, changed while it runs."""

from enum import Enum

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from inpaint_app.window.theme.flat_style import FlatStyle


class Theme(Enum):
    """What the user asks for."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


_Role = QPalette.ColorRole
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
