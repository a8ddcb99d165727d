"""Which page and band of a file is shown, and how its values become colors: a bar below the pictures."""

from dataclasses import replace

import numpy as np
from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QSlider, QWidget

from inpaint_app.engine.source import Source
from inpaint_app.model.look import COLOR_MAPS
from inpaint_app.model.picture import Array, full_scale
from inpaint_app.window.action_table import key_hint
from inpaint_app.window.actions import Actions
from inpaint_app.window.document.state import DocumentState
from inpaint_app.window.session import Session
from inpaint_app.window.widgets.fields import (
    action_button,
    buddy,
    button,
    check,
    choice,
    decimal,
    described,
    fill,
    strip,
    typed,
)
from inpaint_app.window.widgets.sliders import RangeSlider

_CHANNELS = ("Color", "Red", "Green", "Blue")
#: Values that are looked at to find the range of a picture.
_N_SAMPLES = 200_000
_CONTRAST = 0.5, 99.5
#: What a box for numbers needs beside its text.
_BUTTONS = 36


class PlaneBar(QWidget):
    """Chooses page and band, the range of values and the colors; hidden where there is nothing to choose."""

    def __init__(self, session: Session, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("plane_bar")
        self._session, self._row = session, QWidget(self)
        tip = f"The page that is shown{key_hint('previous_page', 'next_page')}."
        self.page, self._page_text = described(QSlider(Qt.Orientation.Horizontal), "Page", tip), QLabel()
        self.page.setMinimumWidth(56)
        self.band = choice("Channel", tip="The band or channel that is shown.")
        maps = {name.title(): name for name in COLOR_MAPS}
        self.color_map = choice("Color map", maps, tip="Colors of the values of one band.")
        tip = "Drag the ends: which values are black and white."
        self.range = described(RangeSlider(), "Range of values", tip)
        tip = "Values beyond the range are drawn as its end."
        self.low, self.high = decimal("Lowest value shown", tip), decimal("Highest value shown", tip)
        typed((self.low, self.high))
        tip = "Show all but the extreme half percent of the values on either side."
        self._auto = button("Auto", tip, self._choose_contrast)
        tip = "Show all values that are possible, or that there are."
        self._full = button("Full", tip, lambda: self._change(limits=None))
        for each in (self._auto, self._full):
            each.setFixedWidth(each.fontMetrics().horizontalAdvance("Auto") + 24)
        self.gain = decimal("Gain of the error map", "How much errors are magnified; the scale follows.")
        self.gain.setRange(0.5, 256)
        self.gain.setDecimals(1)
        self.gain.setPrefix("× ")
        self.gain.setStepType(self.gain.StepType.AdaptiveDecimalStepType)
        tip = "Tell what is too bright (red) from what is too dark (blue)."
        self.sign = check("Sign", tip, "Sign of errors")
        self._bounds: tuple[float, float] | None = None
        limits = buddy("Range", self.low), self.low, self.range, self.high, self._auto, self._full
        self._parts = {
            "page": _part(self._page_text, self.page),
            "all": _part(action_button(actions["restore_pages"], "Restore Whole File …")),
            "band": _part(buddy("Channel", self.band), self.band),
            "range": _part(*limits),
            "map": _part(buddy("Colors", self.color_map), self.color_map),
            "error": _part(buddy("Error gain", self.gain), self.gain, self.sign),
        }
        fill(QHBoxLayout(self._row), *self._parts.values(), 1, margins=(4, 2, 4, 2), spacing=2)
        # In a narrow window it is cut rather than that it makes the window wider.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._row.installEventFilter(self)
        self._connect()
        self._show_source()

    def sizeHint(self) -> QSize:
        """Return the size of all that is shown."""
        return self._row.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut what there is no room for, rather than press it together."""
        super().resizeEvent(event)
        self._arrange()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow what is shown."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._arrange()
        return super().eventFilter(watched, event)

    def _arrange(self) -> None:
        self._row.resize(max(self.width(), self._row.minimumSizeHint().width()), self.height())

    def _connect(self) -> None:
        opening = self._session.opening
        self.page.valueChanged.connect(lambda number: opening.show_plane(page=number - 1))
        self.page.valueChanged.connect(self._show_page)
        self.band.activated.connect(self._choose_band)
        self.color_map.activated.connect(lambda _place: self._change(color_map=self.color_map.currentData()))
        self.range.changed.connect(lambda low, high: self._change(limits=(low, high)))
        for box in (self.low, self.high):
            box.valueChanged.connect(lambda _value: self._type_limits())
        self.gain.valueChanged.connect(lambda gain: self._change(error_gain=gain))
        self.sign.toggled.connect(lambda on: self._change(has_sign=on))
        self._session.document.watch(self._show_parts, "view")
        self._session.document.watch(self._follow_source, "source")
        self._session.document.watch(self._show_look, "look")
        self._session.document.watch(self._follow_activity, "activity")

    def _change(self, **changes: object) -> None:
        document = self._session.document
        document.apply(look=replace(document.state.look, **changes))  # type: ignore[arg-type]

    def _choose_band(self, place: int) -> None:
        source = self._session.state.source
        if source is not None and source.plane.band is not None:
            self._session.opening.show_plane(band=place)
        else:
            self._change(channel=None if place == 0 else place - 1)

    def _type_limits(self) -> None:
        if self.low.value() < self.high.value():
            self._change(limits=(self.low.value(), self.high.value()))

    def _choose_contrast(self) -> None:
        source = self._session.state.source
        if source is not None:
            low, high = np.percentile(_sample(source.picture.pixels), _CONTRAST)
            self._change(limits=(float(low), float(high)) if high > low else None)

    def _follow_source(self, old: DocumentState, new: DocumentState) -> None:
        if old.source is None or new.source is None or old.source.picture is not new.source.picture:
            self._show_source()

    def _follow_activity(self) -> None:
        """Go back to the page that is shown if another one was not opened."""
        state = self._session.state
        if state.activity is None and state.source is not None:
            self._show_planes(state.source)

    def _show_planes(self, source: Source) -> None:
        with QSignalBlocker(self.page):
            self.page.setRange(1, source.n_pages)
            self.page.setValue(source.plane.page + 1)
        self._show_page()

    def _show_source(self) -> None:
        source = self._session.state.source
        if source is None:
            self.hide()
            return
        self._show_parts()
        n_bands = source.n_bands
        self._show_planes(source)
        self.band.clear()
        self.band.addItems(_CHANNELS if n_bands == 1 else [f"Band {number + 1}" for number in range(n_bands)])
        self._bounds = _bounds(source)
        self._show_look()

    def _show_parts(self) -> None:
        """Show what there is to choose; nothing for a photograph."""
        source = self._session.state.source
        if source is None:
            return
        picture, is_error = source.picture, "error" in self._session.state.view.mode.panes
        is_data = source.is_part or picture.depth > 8
        shown = {
            "page": source.n_pages > 1,
            "all": source.is_part,
            "band": is_data and (source.n_bands > 1 or picture.is_color),
            "range": is_data,
            "map": is_data and not picture.is_color,
            "error": is_error,
        }
        for name, part in self._parts.items():
            part.setVisible(shown[name])
        self.setVisible(is_data or is_error)

    def _show_page(self) -> None:
        source = self._session.state.source
        if source is not None:
            self._page_text.setText(f"Page {self.page.value()} of {source.n_pages}")

    def _show_look(self) -> None:
        source, look = self._session.state.source, self._session.state.look
        if source is None or self._bounds is None:
            return
        limits = look.limits or self._bounds
        decimals = 0 if not source.picture.is_float else _decimals(self._bounds)
        for box, value in ((self.low, limits[0]), (self.high, limits[1])):
            with QSignalBlocker(box):
                box.setDecimals(decimals)
                box.setRange(-1e12, 1e12)
                box.setSingleStep(max((self._bounds[1] - self._bounds[0]) / 100, 10.0**-decimals))
                box.setValue(value)
            texts = [box.textFromValue(each) for each in (*self._bounds, value)]
            box.setFixedWidth(max(map(box.fontMetrics().horizontalAdvance, texts)) + _BUTTONS)
        self.range.set_range(self._bounds, limits)
        self._full.setEnabled(look.limits is not None)
        with QSignalBlocker(self.gain), QSignalBlocker(self.sign):
            self.gain.setValue(look.error_gain)
            self.sign.setChecked(look.has_sign)
        self.color_map.setCurrentIndex(self.color_map.findData(look.color_map))
        band, channel = source.plane.band, look.channel
        self.band.setCurrentIndex(band if band is not None else 0 if channel is None else channel + 1)


def _part(*widgets: QWidget) -> QWidget:
    return strip(*widgets, margins=(6, 2, 6, 2), spacing=6)


def _sample(pixels: Array) -> Array:
    """Return some values that are numbers."""
    step = max(1, int(np.sqrt(pixels.size / _N_SAMPLES)))
    values = pixels[::step, ::step]
    finite: Array = values[np.isfinite(values)]
    return finite if finite.size else np.zeros(1)


def _bounds(source: Source) -> tuple[float, float]:
    """Return the values between which a range is chosen: those of the type, or that there are."""
    pixels = source.picture.pixels
    if pixels.dtype.kind == "u":
        return 0.0, full_scale(pixels.dtype)
    values = _sample(pixels)
    return min(0.0, float(values.min())), max(1.0, float(values.max()))


def _decimals(bounds: tuple[float, float]) -> int:
    return int(np.clip(3 - np.floor(np.log10(max(bounds[1] - bounds[0], 1e-12))), 0, 9))
