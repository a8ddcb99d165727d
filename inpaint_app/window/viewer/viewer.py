"""The pictures: damaged and restored, side by side, split, compared, with their errors."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from inpaint_app.image.picture import Array
from inpaint_app.image.rect import Rect
from inpaint_app.jobs import restoring
from inpaint_app.window.canvas.image_pyramid import ImagePyramid, Range, build_pyramid, to_image
from inpaint_app.window.canvas.mask_pyramid import MaskPyramid
from inpaint_app.window.canvas.painting_canvas import Tool
from inpaint_app.window.canvas.viewport import Viewport
from inpaint_app.window.session.background import Jobs
from inpaint_app.window.session.latest_result import LatestResult
from inpaint_app.window.session.session import Session
from inpaint_app.window.session.state import Document, RunRecord, View
from inpaint_app.window.viewer.pane_layout import PaneLayout
from inpaint_app.window.viewer.pane_text import PaneText
from inpaint_app.window.viewer.picture_pane import PicturePane
from inpaint_app.window.viewer.split_pane import SplitPane

_LARGE = 1_000_000
"""Edits of more pixels are taken over in another thread."""
_TITLES = {
    "original": "Original",
    "damaged": "Damaged",
    "restored": "Restored",
    "individual": "Individual sparsity",
    "average": "Average sparsity",
    "error": "Error (white: a quarter of the range)",
}
_LAYOUTS = {
    View.SIDE_BY_SIDE: ("damaged", "restored"),
    View.SPLIT: (),
    View.COMPARE: ("damaged", "individual", "average"),
    View.ERROR: ("original", "restored", "error"),
}


class Viewer(QWidget):
    """Shows the pictures of a session through one viewport, and paints on its mask.

    Parameters
    ----------
    session : Session
        What is shown, and who is asked for changes.
    """

    view_changed = Signal()
    pixel_changed = Signal(str)
    """Words about the pixel under the pointer; empty where there is none."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._jobs = Jobs(1, self)
        self.viewport = Viewport(self)
        self.view = View.SIDE_BY_SIDE
        self.brush_diameter = 15
        self._tool = Tool.NONE
        self._words = PaneText(session)
        self._pointed: tuple[int, int] | None = None
        self._pixels: dict[str, Array] = {}
        self._slots: dict[str, LatestResult[ImagePyramid]] = {
            name: LatestResult(self._jobs, self) for name in _TITLES
        }
        self._inset: LatestResult[ImagePyramid] = LatestResult(self._jobs, self)
        self._coverage: LatestResult[MaskPyramid] = LatestResult(self._jobs, self)
        self._highlight: LatestResult[MaskPyramid] = LatestResult(self._jobs, self)
        self._panes = {name: PicturePane(self.viewport, title) for name, title in _TITLES.items()}
        self._split = SplitPane(self.viewport, "Damaged and restored")
        self._split.set_names(_TITLES["damaged"], _TITLES["restored"])
        self._layout = PaneLayout(self)
        self._look = QTimer(self)
        self._look.setSingleShot(True)
        self._look.setInterval(50)
        self._lay_out()
        self._connect()
        self.set_view(View.SIDE_BY_SIDE)

    def _lay_out(self) -> None:
        layout = self._layout
        layout.setContentsMargins(8, 8, 8, 4)
        layout.setSpacing(8)
        for name in ("original", "damaged", "individual", "average", "restored", "error"):
            layout.add_pane(self._panes[name])
        layout.add_pane(self._split)

    def _connect(self) -> None:
        session = self._session
        session.document_changed.connect(self._show_document)
        session.mask_changed.connect(self._show_mask)
        session.mask_edited.connect(self._show_captions)
        session.runner.intermediate_changed.connect(self._show_results)
        session.results.changed.connect(self._show_results)
        session.runner.preview_changed.connect(self._show_preview)
        session.activity_changed.connect(self._show_placeholders)
        session.results.atom_use_changed.connect(self._show_atom_use)
        for name, slot in self._slots.items():
            slot.changed.connect(lambda name=name: self._show_levels(name))
            slot.failed.connect(session.problem)
        self._inset.changed.connect(self._show_inset)
        self._coverage.changed.connect(self._show_coverage)
        self._highlight.changed.connect(self._show_lit)
        self.viewport.changed.connect(self._look.start)
        self._look.timeout.connect(self._tell_view)
        for name, pane in self._panes.items():
            pane.hovered.connect(lambda row, column, name=name: self._hover(name, (row, column)))
            pane.hover_left.connect(lambda name=name: self._hover(name, None))
        self._split.hovered.connect(lambda row, column: self._hover("split", (row, column)))
        self._split.hover_left.connect(lambda: self._hover("split", None))
        self._connect_painting(self._panes["damaged"])

    def _connect_painting(self, pane: PicturePane) -> None:
        session = self._session

        def begin(row: float, column: float) -> None:
            missing, diameter = self._tool is Tool.BRUSH, self.brush_diameter
            session.edit_mask(
                lambda mask: mask.begin_stroke(row, column, diameter=diameter, missing=missing), ends=False
            )

        pane.stroke_began.connect(begin)
        pane.stroke_moved.connect(
            lambda row, column: session.edit_mask(lambda mask: mask.extend_stroke(row, column), ends=False)
        )
        pane.stroke_ended.connect(lambda: session.edit_mask(lambda mask: mask.end_stroke()))
        pane.stroke_canceled.connect(lambda: session.edit_mask(lambda mask: mask.cancel_stroke(), ends=False))
        pane.rectangle_drawn.connect(lambda rect: session.edit_mask(lambda mask: mask.fill(rect)))

    def close_jobs(self) -> None:
        """Wait until the threads have ended."""
        self._look.stop()
        self._jobs.close()

    @property
    def is_settled(self) -> bool:
        """Whether everything that was to be drawn is ready."""
        return self._jobs.n_active == 0 and not self._look.isActive()

    @property
    def restored_image(self) -> QImage | None:
        """The current restored picture as it is drawn, never a sketch; None while there is none."""
        document, current = self._session.document, self._session.results.current
        if document is None or current is None or current.image is None:
            return None
        return to_image(current.image, _display_range(document.picture.pixels))

    # What the user chooses

    def set_view(self, view: View) -> None:
        """Lay the pictures out in another way."""
        self.view = view
        for name, pane in self._panes.items():
            pane.setVisible(name in _LAYOUTS[view])
        self._split.setVisible(view is View.SPLIT)
        self._show_document()
        self.view_changed.emit()

    @property
    def tool(self) -> Tool:
        """What the left button paints."""
        return self._tool

    def set_tool(self, tool: Tool) -> None:
        """Choose what the left button paints on the damaged picture."""
        self._tool = tool
        self._panes["damaged"].set_tool(tool)
        if tool is not Tool.NONE and "damaged" not in _LAYOUTS[self.view]:
            self.set_view(View.SIDE_BY_SIDE)
        self.view_changed.emit()

    def set_brush_diameter(self, diameter: int) -> None:
        """Choose how wide brush and eraser are, in pixels of the picture."""
        self.brush_diameter = min(max(diameter, 1), 500)
        self._panes["damaged"].set_brush_diameter(self.brush_diameter)
        self.view_changed.emit()

    def show_mask(self, shown: bool) -> None:
        """Hatch missing pixels, or do not."""
        for pane in (*self._panes.values(), self._split):
            pane.canvas.show_mask(shown)

    def hold_before(self, held: bool) -> None:
        """Show the damaged picture in place of the restored one while a key is held."""
        self._words.is_before_held = held
        self._show_levels("restored")
        self._split.show_only_before(held)
        self._show_inset()

    # What the session says

    def _show_document(self) -> None:
        document = self._session.document
        if document is None:
            return
        pixels = document.picture.pixels
        self._show_array("damaged", pixels)
        if document.reference is None:
            self._drop_array("original")
        else:
            self._show_array("original", document.reference.pixels)
        self._layout.set_picture_shape(document.shape)
        self._show_results()

    def _show_mask(self, rect: Rect | None) -> None:
        session = self._session
        if session.mask is None:
            return
        mask = session.mask.mask
        small = rect is not None and rect.height * rect.width < _LARGE and not self._coverage.is_busy
        coverage = self._coverage.ready
        if rect is not None and small and coverage is not None and coverage.shape == mask.shape[:2]:
            coverage.update(mask, rect)
            for pane in (*self._panes.values(), self._split):
                pane.canvas.update_pixels(rect)
        else:
            copy = session.mask.snapshot()
            self._coverage.show(lambda: MaskPyramid(copy), copy)
        self._panes["damaged"].set_caption(*self._words.damaged())

    def _show_results(self) -> None:
        session, document = self._session, self._session.document
        if document is None:
            return
        self._show_restored("restored", session.results.current, self._sketch())
        for name, record in zip(("individual", "average"), session.results.history.pair, strict=True):
            self._show_restored(name, record, self._sketch(name))
        self._show_error(document, session.results.current)
        self._show_captions()

    def _sketch(self, constraint: str | None = None) -> Array | None:
        """Return the picture so far of the run under way, if it is one under this constraint."""
        intermediate = self._session.runner.intermediate
        if intermediate is None or constraint not in (None, intermediate.constraint):
            return None
        return intermediate.image

    def _show_restored(self, name: str, record: RunRecord | None, intermediate: Array | None) -> None:
        image = intermediate if intermediate is not None else None if record is None else record.image
        if image is None and name == "restored" and self._session.runner.preview is not None:
            image = self._session.document.picture.pixels if self._session.document else None
        if image is None:
            self._drop_array(name)
        else:
            self._show_array(name, image)

    def _show_error(self, document: Document, record: RunRecord | None) -> None:
        if self.view is not View.ERROR:
            return
        if document.reference is None or record is None or record.image is None:
            self._drop_array("error")
            return
        reference, image = document.reference.pixels, record.image
        self._slots["error"].show(
            lambda: build_pyramid(restoring.error_picture(reference, image)), reference, image
        )

    def _show_array(self, name: str, pixels: Array) -> None:
        self._pixels[name] = pixels
        if name not in ("damaged", "restored", *_LAYOUTS[self.view]):
            return  # made ready when it is looked at: large pictures take memory
        document = self._session.document
        source = None if document is None else document.picture.pixels
        self._slots[name].show(lambda: build_pyramid(pixels, _display_range(source)), pixels, source)

    def _drop_array(self, name: str) -> None:
        self._pixels.pop(name, None)
        self._slots[name].clear()

    def _show_levels(self, name: str) -> None:
        source = "damaged" if name == "restored" and self._words.is_before_held else name
        levels = self._slots[source].ready
        self._panes[name].set_levels(levels)
        if name in ("damaged", "restored"):
            self._split.set_levels(
                self._slots["damaged"].ready, None if self._is_bare else self._slots["restored"].ready
            )
        self._show_coverage()

    def _show_coverage(self) -> None:
        coverage = self._coverage.ready
        self._panes["damaged"].set_coverage(coverage)
        self._split.canvas.set_coverage(coverage)
        is_damaged = self._is_bare or self._words.is_before_held
        self._panes["restored"].set_coverage(coverage if is_damaged else None)

    @property
    def _is_bare(self) -> bool:
        """Whether nothing is restored yet but perhaps a preview."""
        return self._session.results.current is None and self._session.runner.intermediate is None

    def _show_preview(self) -> None:
        preview = self._session.runner.preview
        if preview is None:
            self._inset.clear()
        else:
            document = self._session.document
            source = None if document is None else document.picture.pixels
            image = preview.image
            self._inset.show(lambda: build_pyramid(image, _display_range(source)), preview)
        self._show_results()

    def _show_inset(self) -> None:
        preview = self._session.runner.preview
        rect = None
        if preview is not None and not self._words.is_before_held:
            rows, columns = preview.rows, preview.columns
            rect = Rect(rows.start, columns.start, rows.stop - rows.start, columns.stop - columns.start)
        self._panes["restored"].canvas.set_inset(self._inset.ready, rect)
        self._words.has_inset = self._inset.ready is not None and rect is not None
        self._show_captions()

    def _show_atom_use(self) -> None:
        use = self._session.results.atom_use
        if use is None or not use.rects or self._session.document is None:
            self._highlight.clear()
            return
        shape = self._session.document.shape
        self._highlight.show(lambda: MaskPyramid.of_rects(use.rects, shape), use)

    def _show_lit(self) -> None:
        for name in ("damaged", "restored"):
            self._panes[name].set_highlights(self._highlight.ready)

    # Words

    def _show_captions(self) -> None:
        session, document, say = self._session, self._session.document, self._words
        if document is None or session.mask is None:
            return
        panes = self._panes
        panes["damaged"].set_caption(*say.damaged())
        panes["original"].set_caption(say.original())
        for name, record in zip(("individual", "average"), session.results.history.pair, strict=True):
            is_working = self._sketch(name) is not None
            panes[name].set_badge("in progress" if is_working else "")
            panes[name].set_caption(*say.record(record, is_working=is_working))
        panes["restored"].set_title("Damaged (held)" if say.is_before_held else _TITLES["restored"])
        panes["restored"].set_badge(say.badge())
        panes["restored"].set_caption(*say.restored())
        self._split.set_badge(
            "" if session.runner.intermediate is None or say.is_before_held else "in progress"
        )
        self._split.set_caption(*say.both())
        self._show_placeholders()
        self._show_values()

    def _show_placeholders(self) -> None:
        for name, pane in self._panes.items():
            pane.set_placeholder(self._words.placeholder(name))

    def _hover(self, origin: str, pixel: tuple[int, int] | None) -> None:
        self._pointed = pixel
        for name, pane in self._panes.items():
            if pane.isVisible():
                pane.set_marker(pixel if name != origin else None)
        self._show_values()
        self.pixel_changed.emit("" if pixel is None else f"row {pixel[0]}, column {pixel[1]}")

    def _show_values(self) -> None:
        """Show the values of the pixel under the pointer, as they are drawn."""
        pixel, say = self._pointed, self._words
        height, width = (0, 0) if self._session.document is None else self._session.document.shape
        if pixel is None or not (pixel[0] < height and pixel[1] < width):
            values = dict.fromkeys(self._panes, "")
        else:
            values = {name: self._values(name, pixel) for name in self._panes}
        both = (values["damaged"],) if say.is_before_held else (values["damaged"], values["restored"])
        self._split.set_readout(" → ".join(words for words in both if words))
        if pixel is not None:
            values["restored"] = say.preview_values(pixel) or values["restored"]
        for name, pane in self._panes.items():
            if pane.isVisible():
                pane.set_readout(values[name])

    def _values(self, name: str, pixel: tuple[int, int]) -> str:
        """Return the values of a pixel in one of the pictures, in words; empty where there are none."""
        source = "damaged" if name == "restored" and self._words.is_before_held else name
        pixels = self._pixels.get(source)
        is_damaged = pixels is not None and pixels is self._pixels.get("damaged")
        return self._words.values(pixels, pixel, is_damaged=is_damaged)

    def _tell_view(self) -> None:
        """Tell the session which part of the picture is in view."""
        if self._session.document is None:
            return
        height, width = self._session.document.shape
        across, down = (size / self.viewport.zoom for size in self.viewport.pane_size)
        x, y = self.viewport.center
        left, top = int(x - across / 2), int(y - down / 2)
        self._session.runner.look_at(
            Rect(top, left, round(down) + 1, round(across) + 1).clipped((height, width))
        )

    def changeEvent(self, event: QEvent) -> None:
        """Let go of held keys when the window is left."""
        if event.type() == QEvent.Type.ActivationChange and self._words.is_before_held:
            self.hold_before(False)
        super().changeEvent(event)


def _display_range(pixels: Array | None) -> Range | None:
    """Return the values of black and white for a float picture; None for others."""
    if pixels is None or pixels.dtype.kind != "f":
        return None
    finite = pixels[np.isfinite(pixels)]
    if not finite.size:
        return None
    return min(0.0, float(finite.min())), max(1.0, float(finite.max()))
