"""Accept or remove found damage, region by region."""

from math import floor

from PySide6.QtCore import Qt

from inpaint_app.window.canvas.tools.tool import Place, Tool


class FoundDamagePicker(Tool):
    """A click removes the found region there, or brings it back."""

    name = "pick"
    text, tip = "Pic&k Found Damage", "Click found damage to remove it, or to bring it back."
    icon, key = "pick", "K"
    cursor = Qt.CursorShape.PointingHandCursor

    def press(self, place: Place) -> None:
        """Change the region under the pointer."""
        if not self.session.finder.toggle(floor(place.row), floor(place.column)):
            self.session.notice.emit("No damage was found here. Find Damage (Ctrl+F) looks for some.")
