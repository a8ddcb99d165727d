"""Which pixels are missing, how they are marked, and ways to change that."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QColorDialog, QLabel, QVBoxLayout, QWidget

from inpaint_app.model.missing import GROW, MaskSpec, is_likely_inverted
from inpaint_app.text import format_percent
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.actions import Actions
from inpaint_app.window.document import captions
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.fields import (
    action_button,
    buddy,
    button,
    check,
    fill,
    in_pairs,
    number,
    paragraph,
    strip,
    typed,
)

_INVERTED = " If this is the wrong way round, Invert swaps missing and observed pixels."
_MAX_GROWTH = 50


class MissingPanel(QWidget):
    """Shows what is missing; a file or a color can mark it."""

    def __init__(self, session: Session, actions: Actions) -> None:
        super().__init__()
        self._session, self._found = session, paragraph("Nothing is open.")
        self._color = button("Color …", "Mark all pixels of one color as missing.", self.choose_color)
        self._resize_row = self._make_resize_row()
        tip = "Largest difference from the color in any channel."
        self._tolerance = number("Tolerance of the color", 0, 65535, tip)
        tip = (
            "How far marks of a mask file or a color grow, since their edges bleed into pixels beside; 0 "
            "uses them as they are."
        )
        least, most = int(GROW.minimum), int(GROW.maximum)
        self._growth = number("Pixels that marks grow by", least, most, tip, " px")
        tip = "Also restore partly transparent pixels at their edges."
        self._soft = check("Partly transparent edges too", tip)
        typed((self._tolerance, self._growth))
        mask_file = action_button(actions["open_mask"], "Mask file …")
        edits = action_button(actions["invert"]), action_button(actions["clear"])
        grid = in_pairs(mask_file, self._color, *edits, spacing=4)
        grid.addWidget(self._resize_row, 2, 0, 1, 2)
        self._tolerance_row = strip((buddy("&Tolerance of the color", self._tolerance), 1), self._tolerance)
        self._growth_row = strip((buddy("Grow marks b&y", self._growth), 1), self._growth)
        rows = self._growth_row, self._tolerance_row, self._soft
        fill(QVBoxLayout(self), self._found, grid, *rows, spacing=4)
        self._tolerance.valueChanged.connect(lambda value: self._mark(tolerance=float(value)))
        self._growth.valueChanged.connect(lambda value: self._mark(grow=value))
        self._soft.clicked.connect(lambda is_on: self._mark(soft_edges=is_on))
        session.document.watch(self._show, "source", "mask")
        self._show()

    def _make_resize_row(self) -> QWidget:
        resize, name = self._session.masking.resize, "Pixels to grow or shrink by"
        by = number(name, 1, _MAX_GROWTH, "How much wider or narrower.", " px")
        tip = f"Make what is missing wider all around; by a pixel{key_hint('grow')}."
        grow = button("Grow", tip, lambda: resize(by.value()))
        tip = f"Make what is missing narrower all around; by a pixel{key_hint('shrink')}."
        shrink = button("Shrink", tip, lambda: resize(-by.value()))
        return strip((grow, 1), (shrink, 1), QLabel("by"), by, spacing=8)

    def choose_color(self) -> None:
        """Ask for the color that marks missing pixels."""
        source = self._session.state.source
        if source is None:
            return
        start = QColor(source.mask_spec.key) if source.mask_spec.key is not None else QColor("magenta")
        chosen = QColorDialog.getColor(start, self, "Color of missing pixels")
        if chosen.isValid():
            self._session.opening.set_mask_spec(MaskSpec(key=chosen.name()))

    def _mark(self, **changes: Any) -> None:
        """Find missing pixels again, with marks that are read otherwise."""
        source = self._session.state.source
        if source is not None:
            self._session.opening.set_mask_spec(replace(source.mask_spec, **changes))

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
