"""Which pixels are missing, how they are marked, and ways to change that."""

from dataclasses import replace

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QCheckBox,
    QColorDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from inpaint_app.model.mask_spec import GROW, MaskSpec
from inpaint_app.model.missing import is_likely_inverted
from inpaint_app.text.formatting import format_percent
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.actions import Actions
from inpaint_app.window.document import captions
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.action_button import action_button
from inpaint_app.window.widgets.layouts import fill, tooltip
from inpaint_app.window.widgets.no_wheel_boxes import NoWheelSpinBox

_INVERTED = " If this is the wrong way round, Invert swaps missing and observed pixels."
_MAX_GROWTH = 50


class MissingPanel(QWidget):
    """Shows what is missing; a file or a color can mark it."""

    def __init__(self, session: Session, actions: Actions) -> None:
        super().__init__()
        self._session = session
        self._found = QLabel("Nothing is open.")
        self._found.setWordWrap(True)
        self._color = QPushButton("Color …")
        self._grow, self._shrink = QPushButton("Grow"), QPushButton("Shrink")
        self._pixels, self._tolerance = NoWheelSpinBox(), NoWheelSpinBox()
        self._soft = QCheckBox("Partly transparent edges too")
        self._growth = NoWheelSpinBox()
        self._describe()
        self._lay_out(
            action_button(actions["open_mask"], "Mask file …"),
            self._color,
            action_button(actions["invert"]),
            action_button(actions["clear"]),
        )
        self._connect()
        self._show()

    def _describe(self) -> None:
        self._color.setToolTip("Mark all pixels of one color as missing.")
        self._grow.setToolTip(
            tooltip(f"Make what is missing wider all around; by a pixel{key_hint('grow')}.")
        )
        self._shrink.setToolTip(
            tooltip(f"Make what is missing narrower all around; by a pixel{key_hint('shrink')}.")
        )
        self._pixels.setRange(1, _MAX_GROWTH)
        self._pixels.setSuffix(" px")
        self._pixels.setToolTip("How much wider or narrower.")
        self._pixels.setAccessibleName("Pixels to grow or shrink by")
        self._tolerance.setToolTip("Largest difference from the color in any channel.")
        self._tolerance.setAccessibleName("Tolerance of the color")
        self._soft.setToolTip("Also restore partly transparent pixels at their edges.")
        self._growth.setRange(int(GROW.minimum), int(GROW.maximum))
        self._growth.setSuffix(" px")
        self._growth.setToolTip(
            tooltip(
                "How far marks of a mask file or a color grow, since their edges bleed into pixels beside; "
                "0 uses them as they are."
            )
        )
        self._growth.setAccessibleName("Pixels that marks grow by")
        self._growth.setKeyboardTracking(False)
        self._tolerance.setRange(0, 65535)
        self._tolerance.setKeyboardTracking(False)

    def _lay_out(self, *buttons: QWidget) -> None:
        grid = QGridLayout()
        grid.setSpacing(6)
        for place, button in enumerate(buttons):
            grid.addWidget(button, place // 2, place % 2)
        self._resize_row, self._tolerance_row = QWidget(), QWidget()
        parts = (self._grow, 1), (self._shrink, 1), QLabel("by"), self._pixels
        fill(QHBoxLayout(self._resize_row), *parts, spacing=8)
        grid.addWidget(self._resize_row, 2, 0, 1, 2)
        label = QLabel("&Tolerance of the color")
        label.setBuddy(self._tolerance)
        fill(QHBoxLayout(self._tolerance_row), (label, 1), self._tolerance)
        self._growth_row, grow = QWidget(), QLabel("Grow marks b&y")
        grow.setBuddy(self._growth)
        fill(QHBoxLayout(self._growth_row), (grow, 1), self._growth)
        rows = self._growth_row, self._tolerance_row
        fill(QVBoxLayout(self), self._found, grid, *rows, self._soft, spacing=6)

    def _connect(self) -> None:
        masking = self._session.masking
        self._session.document.watch(self._show, "source", "mask")
        self._color.clicked.connect(self.choose_color)
        self._grow.clicked.connect(lambda: masking.resize(self._pixels.value()))
        self._shrink.clicked.connect(lambda: masking.resize(-self._pixels.value()))
        self._tolerance.valueChanged.connect(self._set_tolerance)
        self._growth.valueChanged.connect(self._set_growth)
        self._soft.clicked.connect(self._set_soft_edges)

    def choose_color(self) -> None:
        """Ask for the color that marks missing pixels."""
        source = self._session.state.source
        if source is None:
            return
        start = QColor(source.mask_spec.key) if source.mask_spec.key is not None else QColor("magenta")
        chosen = QColorDialog.getColor(start, self, "Color of missing pixels")
        if chosen.isValid():
            self._session.opening.set_mask_spec(MaskSpec(key=chosen.name()))

    def _set_tolerance(self, value: int) -> None:
        source = self._session.state.source
        if source is not None and source.mask_spec.key is not None:
            self._session.opening.set_mask_spec(replace(source.mask_spec, tolerance=float(value)))

    def _set_growth(self, value: int) -> None:
        source = self._session.state.source
        if source is not None:
            self._session.opening.set_mask_spec(replace(source.mask_spec, grow=value))

    def _set_soft_edges(self, soft_edges: bool) -> None:
        source = self._session.state.source
        if source is not None:
            self._session.opening.set_mask_spec(replace(source.mask_spec, soft_edges=soft_edges))

    def _show(self) -> None:
        source, mask = self._session.state.source, self._session.state.mask
        for control in (self._color, self._resize_row):
            control.setEnabled(source is not None)
        spec = MaskSpec() if source is None else source.mask_spec
        self._tolerance_row.setVisible(spec.key is not None)
        self._growth_row.setVisible(spec.key is not None or spec.mask is not None)
        self._soft.setVisible(
            source is not None and ("soft" in source.missing.sources or not source.mask_spec.soft_edges)
        )
        if source is None or mask is None:
            self._found.setText("Nothing is open.")
            return
        self._soft.setChecked(source.mask_spec.soft_edges)
        with QSignalBlocker(self._tolerance), QSignalBlocker(self._growth):
            self._tolerance.setValue(round(spec.tolerance or 0))
            growth = source.missing.growth
            self._growth.setValue((spec.grow or 0) if growth is None else growth.pixels)
        fraction = mask.fraction
        if fraction == 0:
            self._found.setText(
                f"No pixels are missing. Paint over the damage{key_hint('heal')}, or choose a mask file or "
                "a color."
            )
            return
        how = captions.format_sources(source, mask)
        hint = _INVERTED if is_likely_inverted(source.missing, fraction) else ""
        hint += f" {source.marking_note}" if source.marking_note else ""
        self._found.setText(
            f"{format_percent(fraction)} of the pixels are missing" + (f": {how}." if how else ".") + hint
        )
