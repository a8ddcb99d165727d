"""The page that an empty window shows."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QImage, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.errors import printable_path
from inpaint_app.model.damage import SAMPLES, Damage
from inpaint_app.window.actions import Actions
from inpaint_app.window.theme.colors import colors_of
from inpaint_app.window.theme.icons import tinted
from inpaint_app.window.widgets.fields import action_button, fill, tooltip
from inpaint_app.window.widgets.labels import SecondaryLabel, scaled_font

_CARD, _PICTURE, _GAP = QSize(176, 168), QSize(160, 120), 12
_ROWS = 2


class Welcome(QWidget):
    """Buttons to repair, open, try the sample or paste; below them the pictures that were opened last."""

    repair_wanted = Signal()
    sample_wanted = Signal(object)
    """With the `Damage` of the sample."""
    recent_wanted = Signal(object)
    """With the path of a picture that was opened before."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        title = QLabel("Repair a damaged picture")
        title.setFont(scaled_font(title.font(), 1.9))
        words = SecondaryLabel(
            "Drop a picture here, or open one. Cracks, scratches and dust of old photographs\n"
            "are found for you; anything else can be painted over."
        )
        self._heading, self._cards, self._grid = QLabel("Recent"), list[QToolButton](), QGridLayout()
        self._heading.setFont(scaled_font(self._heading.font(), 1.0, bold=True))
        self._paths: Sequence[Path] = ()
        self._images: Mapping[Path, QImage] = {}
        self._repair, self._sample = QPushButton("Repair photo …"), QPushButton("Open a sample")
        self._describe_buttons()
        opens, pastes = action_button(actions["open"], "Open …"), action_button(actions["paste"])
        buttons = self._repair, opens, self._sample, pastes
        for button in buttons:
            button.setMinimumSize(136, 36)
        row = fill(QHBoxLayout(), *buttons, 1, spacing=8)
        self._grid.setSpacing(_GAP)
        self._column = QWidget()
        fill(QVBoxLayout(self._column), title, words, row, self._heading, self._grid, spacing=16)
        fill(QHBoxLayout(self), 1, fill(QVBoxLayout(), 2, self._column, 3), 1, margins=(24, 16, 24, 16))
        self._show_cards()

    def _describe_buttons(self) -> None:
        self._repair.setToolTip(
            tooltip("Open a photograph, find its cracks, scratches and dust, and restore them.")
        )
        self._repair.setProperty("main", True)
        self._repair.setFont(scaled_font(self._repair.font(), 1.0, bold=True))
        self._repair.clicked.connect(self.repair_wanted)
        self._sample.clicked.connect(lambda: self.sample_wanted.emit(SAMPLES[0]))

    def show_recent(self, paths: Sequence[Path], images: Mapping[Path, QImage]) -> None:
        """Show the pictures that were opened last, with small images of those that have one."""
        self._paths, self._images = paths, images
        self._show_cards()

    def minimumSizeHint(self) -> QSize:
        """Return a size that the window can have with a picture, too: it shows as many cards as fit."""
        return QSize(2 * _CARD.width(), 2 * _CARD.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many pictures as there is room for."""
        super().resizeEvent(event)
        self._show_cards()

    def changeEvent(self, event: QEvent) -> None:
        """Follow another palette."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._show_cards()

    def _show_cards(self) -> None:
        for card in self._cards:
            self._grid.removeWidget(card)
            card.hide()
            card.deleteLater()
        across = max(1, min(5, (self.width() - 48 + _GAP) // (_CARD.width() + _GAP)))
        n_rows = _ROWS if self.height() >= 640 else 1
        self._cards = [self._card(path) for path in self._paths[: n_rows * across]]
        for place, card in enumerate(self._cards):
            self._grid.addWidget(card, place // across, place % across)
        for column in range(self._grid.columnCount() + 1):
            self._grid.setColumnStretch(column, int(column == across))
        self._heading.setVisible(bool(self._cards))

    def _card(self, path: Path) -> QToolButton:
        card, image = QToolButton(), self._images.get(path)
        name = printable_path(path.name)
        card.setText(card.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, _PICTURE.width()))
        card.setAccessibleName(f"Open {name}")
        card.setToolTip(tooltip(printable_path(path)))
        card.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        card.setAutoRaise(True)
        card.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        card.setIconSize(_PICTURE)
        card.setFixedSize(_CARD)
        card.setIcon(QIcon(self._pixmap(image)))
        card.clicked.connect(partial(self.recent_wanted.emit, path))
        return card

    def _pixmap(self, image: QImage | None) -> QPixmap:
        """Return a small picture in the middle of its place, so that names stand in one line."""
        if image is None:
            small = tinted("picture", 48, colors_of(self.palette()).soft_text)
        else:
            smooth = Qt.TransformationMode.SmoothTransformation
            small = QPixmap.fromImage(image.scaled(_PICTURE, Qt.AspectRatioMode.KeepAspectRatio, smooth))
        place = QPixmap(_PICTURE)
        place.fill(Qt.GlobalColor.transparent)
        painter = QPainter(place)
        painter.drawPixmap(
            (place.width() - small.width()) // 2, (place.height() - small.height()) // 2, small
        )
        painter.end()
        return place


def sample_menu(parent: QWidget, chosen: Callable[[Damage], None]) -> QMenu:
    """Return a menu of the sample's damages."""
    menu = QMenu("Open &Sample", parent)
    for damage in SAMPLES:
        words = str(damage)[:1].upper() + str(damage)[1:]
        menu.addAction(words, partial(chosen, damage))
    return menu
