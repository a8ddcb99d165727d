"""The atoms of a dictionary as a list for views, in an order that can be changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QImage

from inpaint_app.window.canvas.image_pyramid import to_image
from inpaint_app.window.widgets.layouts import tooltip
from inpaint_app.window.widgets.ticks import format_number

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, eq=False)
class Atom:
    """An atom of the selected dictionary."""

    pixels: npt.NDArray[np.floating[Any]]  #: The atom as a small picture.
    origin: str  #: Its basis and position, as text.
    gain: float  #: What its selection gained.
    share: float  #: Fraction of the patches of the selection that use it, 0 to 1.


class Order(Enum):
    """How atoms are sorted."""

    SELECTION = "Order of selection"
    USAGE = "Most used first"
    GAIN = "Largest gain first"


class AtomModel(QAbstractListModel):
    """Atoms in one of the orders; an atom's number is its place in the order of selection, from 0."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._atoms: tuple[Atom, ...] = ()
        self._images: dict[int, QImage] = {}
        self._numbers: list[int] = []
        self._order = Order.SELECTION

    def set_atoms(self, atoms: Sequence[Atom]) -> None:
        """Show a dictionary, given in the order of selection."""
        self._images = {}
        self._reset(tuple(atoms), self._order)

    def set_order(self, order: Order) -> None:
        """Change the order."""
        self._reset(self._atoms, order)

    def atom(self, number: int) -> Atom:
        """Return an atom by its place in the order of selection."""
        return self._atoms[number]

    def image(self, number: int) -> QImage:
        """Return an atom as a picture: zero is mid-gray, the largest value black or white."""
        if number not in self._images:
            self._images[number] = _image(self._atoms[number].pixels)
        return self._images[number]

    def number(self, index: Index) -> int:
        """Return the number of the atom in a row."""
        return self._numbers[index.row()]

    def index_of(self, number: int) -> QModelIndex:
        """Return the row of an atom; an invalid one if there is no such atom."""
        return self.index(self._numbers.index(number)) if number in self._numbers else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008  (an invalid index has no state)
        """Return how many atoms there are."""
        return 0 if parent.isValid() else len(self._numbers)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401  (Qt's)
        """Return the text of an atom."""
        if not index.isValid():
            return None
        number = self.number(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return str(number + 1)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(self.describe(number))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.describe(number)
        return None

    def describe(self, number: int) -> str:
        """Return the description of an atom."""
        atom = self._atoms[number]
        used = f"used by {format_share(atom.share)} of the patches it was selected on"
        return f"Atom {number + 1}: {atom.origin}. Gain {format_number(atom.gain)}, {used}."

    def _reset(self, atoms: tuple[Atom, ...], order: Order) -> None:
        keys = {
            Order.SELECTION: lambda number: number,
            Order.USAGE: lambda number: -atoms[number].share,
            Order.GAIN: lambda number: -atoms[number].gain,
        }
        self.beginResetModel()
        self._atoms, self._order = atoms, order
        self._numbers = sorted(range(len(atoms)), key=keys[order])
        self.endResetModel()


def format_share(share: float) -> str:
    """Return a fraction as a percentage, such as "12 %" or "< 1 %"."""
    if 0 < share < 0.01:
        return "< 1 %"
    return f"{100 * share:.0f} %"


def _image(pixels: npt.NDArray[np.floating[Any]]) -> QImage:
    largest = float(np.abs(pixels).max()) or 1.0
    return to_image(pixels, (-largest, largest))
