"""The selected dictionary as a gallery of small pictures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QMouseEvent, QPainter, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLabel,
    QListView,
    QListWidget,
    QListWidgetItem,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.window.canvas.image_pyramid import to_image
from inpaint_app.window.widgets.fields import choice, described, fill, labeled, paragraph, tooltip
from inpaint_app.window.widgets.keys import overrides_shortcut
from inpaint_app.window.widgets.labels import SecondaryLabel
from inpaint_app.window.widgets.ticks import format_number

_PICTURE, _MARGIN = 56, 8
#: Dots of a picture on a display with two of them per pixel.
_DOTS = 2 * _PICTURE
_NUMBER = Qt.ItemDataRole.UserRole
_EMPTY = "The atoms appear here once a picture has been restored."
_HINT = "Choose an atom to see where it is used."


@dataclass(frozen=True, eq=False)
class Atom:
    """An atom of the selected dictionary."""

    pixels: npt.NDArray[np.floating[Any]]  #: The atom as a small picture.
    origin: str  #: Its basis and position, as text.
    gain: float  #: What its selection gained.
    share: float  #: Fraction of the patches of the selection that use it, 0 to 1.


#: How atoms are sorted.
_ORDERS: dict[str, Callable[[Atom], float]] = {
    "Order of selection": lambda _atom: 0,
    "Most used first": lambda atom: -atom.share,
    "Largest gain first": lambda atom: -atom.gain,
}


class AtomGallery(QWidget):
    """Shows atoms with their place in the order of selection and how much they are used.

    A click or the arrow keys choose an atom; Escape, or a click beside the atoms or on the chosen one,
    chooses none.
    """

    atom_chosen = Signal(object)
    """The number of an atom in the order of selection, from 0, or None."""

    def __init__(self) -> None:
        super().__init__()
        self._atoms: tuple[Atom, ...] = ()
        self.chosen: int | None = None  #: The number of the atom that is chosen, from 0.
        self._view = described(_AtomView(), "Atoms of the dictionary")
        self._view.setObjectName("atoms")
        names = {name: name for name in _ORDERS}
        self._orders = choice("Sort the atoms", names, tip="Order in which the atoms are shown")
        self._heading, self._details = QLabel(), paragraph(_HINT, made=SecondaryLabel)
        self._details.setMinimumHeight(3 * self.fontMetrics().lineSpacing())
        self._details.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._lay_out()
        self._orders.currentIndexChanged.connect(self._show)
        # Not the current tile: the view makes the first one current whenever it gets the focus.
        self._view.itemSelectionChanged.connect(self._on_selection)
        self._view.cleared.connect(lambda: self._choose(None))
        self.set_atoms(())

    def set_atoms(self, atoms: Sequence[Atom]) -> None:
        """Show a dictionary, given in the order of selection; none of its atoms is chosen."""
        self._atoms = tuple(atoms)
        self._heading.setText("No dictionary" if not atoms else f"{len(atoms)} atom{'s' * (len(atoms) > 1)}")
        self._orders.setEnabled(bool(atoms))
        self._pages.setCurrentIndex(1 if atoms else 0)
        self._choose(None)
        self._show()

    def _lay_out(self) -> None:
        top = fill(QHBoxLayout(), (self._heading, 1), labeled("Sort &by", self._orders))
        empty = paragraph(_EMPTY, made=SecondaryLabel)
        empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        full = QWidget()
        fill(QVBoxLayout(full), (self._view, 1), self._details)
        self._pages = QStackedLayout()
        self._pages.addWidget(empty)
        self._pages.addWidget(full)
        fill(QVBoxLayout(self), top, (self._pages, 1))

    def _show(self) -> None:
        """Show the atoms in their order."""
        key = _ORDERS[self._orders.currentData()]
        with QSignalBlocker(self._view):
            self._view.clear()
            for number, atom in sorted(enumerate(self._atoms), key=lambda each: key(each[1])):
                item = QListWidgetItem(atom_icon(atom), f"no. {number + 1}\n{format_share(atom.share)}")
                item.setData(_NUMBER, number)
                item.setToolTip(tooltip(_describe(number, atom)))
                item.setData(Qt.ItemDataRole.AccessibleTextRole, _describe(number, atom))
                self._view.addItem(item)
        self.set_chosen(self.chosen)

    def _on_selection(self) -> None:
        selected = self._view.selectedItems()
        self._choose(selected[0].data(_NUMBER) if selected else None)

    def _choose(self, number: int | None) -> None:
        """Change the choice as the user asks."""
        before = self.chosen
        self.set_chosen(number)
        if number != before:
            self.atom_chosen.emit(number)

    def set_chosen(self, number: int | None) -> None:
        """Choose an atom without emitting a signal."""
        self.chosen = number
        self._details.setText(_HINT if number is None else _describe(number, self._atoms[number]))
        with QSignalBlocker(self._view):
            self._view.clearSelection()
            for item in map(self._view.item, range(self._view.count())):
                if item.data(_NUMBER) == number:
                    self._view.setCurrentItem(item)


def atom_icon(atom: Atom) -> QIcon:
    """Return an atom as a small picture in a frame: zero is mid-gray, the largest value black or white."""
    largest = float(np.abs(atom.pixels).max()) or 1.0
    pixmap = QPixmap.fromImage(to_image(atom.pixels, (-largest, largest)).scaled(_DOTS, _DOTS))
    painter = QPainter(pixmap)
    painter.setPen(Qt.GlobalColor.gray)
    painter.drawRect(0, 0, _DOTS - 1, _DOTS - 1)
    painter.end()
    icon = QIcon(pixmap)
    icon.addPixmap(pixmap, QIcon.Mode.Selected)  # or it would be tinted
    return icon


def _describe(number: int, atom: Atom) -> str:
    used = f"used by {format_share(atom.share)} of the patches it was selected on"
    return f"Atom {number + 1}: {atom.origin}. Gain {format_number(atom.gain)}, {used}."


def format_share(share: float) -> str:
    """Return a fraction as a percentage, such as "12 %" or "< 1 %"."""
    if 0 < share < 0.01:
        return "< 1 %"
    return f"{100 * share:.0f} %"


class _AtomView(QListWidget):
    """A wrapped list of tiles, of which none may be chosen."""

    cleared = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMovement(QListView.Movement.Static)
        self.setIconSize(QSize(_PICTURE, _PICTURE))
        height = _PICTURE + 2 * _MARGIN + 2 * self.fontMetrics().height()
        self.setGridSize(QSize(_PICTURE + 2 * _MARGIN, height))
        self.setViewportMargins(0, _MARGIN // 2, 0, 0)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Clear the choice on a second click, or on one beside the atoms."""
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and (
            not index.isValid() or self.selectionModel().isSelected(index)
        ):
            self.cleared.emit()
        else:
            super().mousePressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keep Escape from the shortcuts of the window while an atom is chosen."""
        return overrides_shortcut(event, self._clears) or super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear the choice on Escape."""
        if self._clears(event):
            self.cleared.emit()
        else:
            super().keyPressEvent(event)

    def _clears(self, event: QKeyEvent) -> bool:
        return event.key() == Qt.Key.Key_Escape and self.selectionModel().hasSelection()
