"""The selected dictionary as a gallery of small pictures."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QItemSelectionModel, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLabel,
    QListView,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.window.panels.atom_model import Atom, AtomModel, Index, Order, format_share
from inpaint_app.window.theme.colors import colors_of
from inpaint_app.window.widgets.keys import overrides_shortcut
from inpaint_app.window.widgets.labels import SecondaryLabel
from inpaint_app.window.widgets.layouts import fill, labeled
from inpaint_app.window.widgets.no_wheel_boxes import NoWheelComboBox

_PICTURE = 56
_MARGIN = 8
_EMPTY = "The atoms appear here once a picture has been restored."
_HINT = "Choose an atom to see where it is used."


class AtomGallery(QWidget):
    """Shows atoms with their place in the order of selection and how much they are used.

    A click or the arrow keys choose an atom; Escape, or a click beside the atoms or on the chosen one,
    chooses none.
    """

    atom_chosen = Signal(object)
    """The number of an atom in the order of selection, from 0, or None."""

    def __init__(self) -> None:
        super().__init__()
        self._model = AtomModel(self)
        self.chosen: int | None = None  #: The number of the atom that is chosen, from 0.
        self._view, self._orders = _AtomView(), NoWheelComboBox()
        self._heading, self._details = QLabel(), SecondaryLabel(_HINT)
        self._view.setModel(self._model)
        self._view.setItemDelegate(_AtomPainter(self._model, self._view))
        self._view.setObjectName("atoms")
        self._view.setAccessibleName("Atoms of the dictionary")
        for order in Order:
            self._orders.addItem(order.value, order)
        self._orders.setAccessibleName("Sort the atoms")
        self._orders.setToolTip("Order in which the atoms are shown")
        self._details.setWordWrap(True)
        self._details.setMinimumHeight(3 * self.fontMetrics().lineSpacing())
        self._details.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._lay_out()
        self._orders.currentIndexChanged.connect(self._on_order)
        # Not the current tile: the view makes the first one current whenever it gets the focus.
        self._view.selectionModel().selectionChanged.connect(self._on_selection)
        self._view.cleared.connect(lambda: self._choose(None))
        self.set_atoms(())

    def set_atoms(self, atoms: Sequence[Atom]) -> None:
        """Show a dictionary, given in the order of selection; none of its atoms is chosen."""
        self._model.set_atoms(atoms)
        self._heading.setText("No dictionary" if not atoms else f"{len(atoms)} atom{'s' * (len(atoms) > 1)}")
        self._orders.setEnabled(bool(atoms))
        self._pages.setCurrentIndex(1 if atoms else 0)
        self._choose(None)

    def set_order(self, order: Order) -> None:
        """Sort the atoms."""
        self._orders.setCurrentIndex(list(Order).index(order))

    def _lay_out(self) -> None:
        top = fill(QHBoxLayout(), (self._heading, 1), labeled("Sort &by", self._orders))
        empty = SecondaryLabel(_EMPTY)
        empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        empty.setWordWrap(True)
        full = QWidget()
        fill(QVBoxLayout(full), (self._view, 1), self._details)
        self._pages = QStackedLayout()
        self._pages.addWidget(empty)
        self._pages.addWidget(full)
        fill(QVBoxLayout(self), top, (self._pages, 1))

    def _on_order(self, place: int) -> None:
        self._model.set_order(list(Order)[place])
        self.set_chosen(self.chosen)

    def _on_selection(self) -> None:
        selected = self._view.selectionModel().selectedIndexes()
        self._choose(self._model.number(selected[0]) if selected else None)

    def _choose(self, number: int | None) -> None:
        """Change the choice as the user asks."""
        before = self.chosen
        self.set_chosen(number)
        if number != before:
            self.atom_chosen.emit(number)

    def set_chosen(self, number: int | None) -> None:
        """Choose an atom without emitting a signal."""
        self.chosen = number
        self._details.setText(_HINT if number is None else self._model.describe(number))
        selection = self._view.selectionModel()
        if number is None:
            selection.clearSelection()
        else:
            index = self._model.index_of(number)
            selection.setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self._view.scrollTo(index)


class _AtomView(QListView):
    """A wrapped list of tiles, of which none may be chosen."""

    cleared = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMovement(QListView.Movement.Static)
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)

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


class _AtomPainter(QStyledItemDelegate):
    """Draws a tile: the atom, its place in the order of selection, and how much it is used."""

    def __init__(self, model: AtomModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the size of a tile, which is the same for all."""
        return QSize(_PICTURE + 2 * _MARGIN, _PICTURE + 2 * _MARGIN + 2 * option.fontMetrics.height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a tile."""
        number = self._model.number(index)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if chosen or hovered:
            role = QPalette.ColorRole.Highlight if chosen else QPalette.ColorRole.Button
            painter.setBrush(option.palette.color(role))
            painter.drawRoundedRect(option.rect.adjusted(4, 4, -4, -4), 4, 4)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colors_of(option.palette).focus, 2))
            painter.drawRoundedRect(option.rect.adjusted(1, 1, -1, -1), 5, 5)
        self._draw_atom(painter, option, number)
        self._draw_words(painter, option, number, chosen=chosen)
        painter.restore()

    def _draw_atom(self, painter: QPainter, option: QStyleOptionViewItem, number: int) -> None:
        frame = QRect(option.rect.topLeft() + QPoint(_MARGIN, _MARGIN), QSize(_PICTURE, _PICTURE))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        painter.drawImage(frame, self._model.image(number))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(colors_of(option.palette).rule)
        painter.drawRect(frame.adjusted(-1, -1, 0, 0))

    def _draw_words(
        self, painter: QPainter, option: QStyleOptionViewItem, number: int, *, chosen: bool
    ) -> None:
        line = option.fontMetrics.height()
        top = option.rect.top() + _PICTURE + _MARGIN + 3
        area = QRect(option.rect.left(), top, option.rect.width(), line)
        role = QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.Text
        painter.setPen(option.palette.color(role))
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter, f"no. {number + 1}")
        if not chosen:
            painter.setPen(colors_of(option.palette).soft_text)
        share = format_share(self._model.atom(number).share)
        painter.drawText(area.translated(0, line), Qt.AlignmentFlag.AlignCenter, share)
