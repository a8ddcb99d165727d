"""Layouts, rows of buttons and tooltips, put together in one line."""

import textwrap
from collections.abc import Mapping
from typing import TypeVar

from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QWidget,
)

Part = QWidget | QLayout
Box = TypeVar("Box", bound=QBoxLayout)


def fill(
    box: Box,
    *parts: Part | tuple[Part, int] | int,
    margins: tuple[int, int, int, int] | None = (0, 0, 0, 0),
    spacing: int | None = None,
) -> Box:
    """Put parts into a row or a column, and return it.

    Parameters
    ----------
    box : QBoxLayout
        The row or the column.
    *parts : QWidget, QLayout, (QWidget or QLayout, int) or int
        What it holds, with a number for how much of the room it takes; a number alone is empty room.
    margins : (int, int, int, int) or None
        Left, top, right and bottom; None for those of the style, as around a dialog.
    spacing : int, optional
        Between two parts; by default that of the style.
    """
    if margins is not None:
        box.setContentsMargins(*margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for each in parts:
        part, stretch = each if isinstance(each, tuple) else (each, 0)
        if isinstance(part, QWidget):
            box.addWidget(part, stretch)
        elif isinstance(part, QLayout):
            box.addLayout(part, stretch)
        else:
            box.addStretch(part)
    return box


def strip(
    *parts: Part | tuple[Part, int] | int,
    margins: tuple[int, int, int, int] = (0, 0, 0, 0),
    spacing: int | None = None,
) -> QWidget:
    """Return a widget that holds a row."""
    widget = QWidget()
    fill(QHBoxLayout(widget), *parts, margins=margins, spacing=spacing)
    return widget


def in_pairs(*parts: QWidget, spacing: int) -> QGridLayout:
    """Return widgets in two columns."""
    grid = QGridLayout()
    grid.setVerticalSpacing(spacing)
    for place, part in enumerate(parts):
        grid.addWidget(part, place // 2, place % 2)
    return grid


def labeled(text: str, field: QWidget) -> QHBoxLayout:
    """Return a row of a label and the field that it belongs to, which takes the room."""
    label = QLabel(text)
    label.setBuddy(field)
    return fill(QHBoxLayout(), label, (field, 1), spacing=8)


def aligned(*rows: QHBoxLayout) -> tuple[QHBoxLayout, ...]:
    """Return rows whose labels, which come first, are all as wide as the widest."""
    items = (row.itemAt(0) for row in rows)
    labels = [label for item in items if item is not None and (label := item.widget()) is not None]
    width = max(label.sizeHint().width() for label in labels)
    for label in labels:
        label.setMinimumWidth(width)
    return rows


def form(rows: Mapping[str, QWidget]) -> QFormLayout:
    """Return fields below each other, with their labels before them; the fields take the room."""
    layout = QFormLayout()
    layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
    for label, field in rows.items():
        layout.addRow(label, field)
    return layout


def button_box(dialog: QDialog, standard: QDialogButtonBox.StandardButton) -> QDialogButtonBox:
    """Return a button that ends a dialog, for others to join."""
    box = QDialogButtonBox(standard)
    box.accepted.connect(dialog.accept)
    box.rejected.connect(dialog.reject)
    return box


_WIDTH = 60


def tooltip(text: str) -> str:
    """Return a text wrapped into short lines; Qt would draw it as one."""
    return textwrap.fill(text, _WIDTH)
