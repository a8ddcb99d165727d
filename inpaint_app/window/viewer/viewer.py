"""The pictures: damaged and restored, side by side, split, compared, with their errors."""

from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, QTimer, Signal
from PySide6.QtWidgets import QWidget

from inpaint_app.engine.measure import error_picture
from inpaint_app.engine.restore import Preview
from inpaint_app.engine.source import Source
from inpaint_app.model.look import Look
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.picture import Array, Picture, Rect
from inpaint_app.window.background.work import LatestResult, WorkerPool
from inpaint_app.window.canvas.canvas import Canvas
from inpaint_app.window.canvas.image_pyramid import ImagePyramid, build_pyramid, display_range
from inpaint_app.window.canvas.layers import Content
from inpaint_app.window.canvas.mark_color import mark_color
from inpaint_app.window.canvas.mask_pyramid import MaskPyramid
from inpaint_app.window.canvas.tools.registry import TOOLS
from inpaint_app.window.canvas.viewport import Viewport
from inpaint_app.window.document.state import DocumentState
from inpaint_app.window.document.view_state import works_on
from inpaint_app.window.session import Session
from inpaint_app.window.theme.colors import MARKS, Looks
from inpaint_app.window.viewer.display import (
    RESOLVED,
    TITLES,
    Display,
    ImageSource,
    PaneDisplay,
    Pixel,
    is_shown_otherwise,
    painted_captions,
    readout,
    resolve,
    with_preview,
)
from inpaint_app.window.viewer.panes import PaneLayout, PicturePane

#: Edits of more pixels of the mask are drawn after work in another thread.
LARGE_EDIT = 1_000_000
_VISIBLE_MS = 50
#: Panes with a divider.
_SPLIT = ("split", "compared_split")


class Viewer(QWidget):
    """Shows the pictures of a session through one viewport; tools work on them."""

    pixel_changed = Signal(str)
    """Position of the pixel under the pointer; empty where there is none."""
    menu_wanted = Signal(QPoint)
    """The context menu is wanted at a position on the screen."""

    drawn = Signal()
    """Another picture is ready to be drawn."""
    panels_wanted = Signal()
    """The panels around are to be hidden, or shown again."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._workers = WorkerPool(1, self)
        self.viewport = Viewport(self)
        self.display, self._resolved = resolve(session.state), session.state  #: What is shown, and of what.
        #: All panes by name, hidden ones too.
        self.panes = {name: PicturePane(Canvas(self.viewport, is_split=name in _SPLIT)) for name in TITLES}
        self._tool = ""
        self._mended: PackedMask | None = None
        self._pixel: Pixel | None = None
        self._screen: bytes | None = None
        self._looks = Looks()
        self._mark_color: LatestResult[str] = LatestResult(self._workers, self)
        self._images: dict[str, LatestResult[ImagePyramid]] = {
            name: LatestResult(self._workers, self) for name in TITLES
        }
        self._inset: LatestResult[tuple[ImagePyramid, Rect]] = LatestResult(self._workers, self)
        self._detail: LatestResult[tuple[ImagePyramid, Rect]] = LatestResult(self._workers, self)
        self._mask: LatestResult[MaskPyramid] = LatestResult(self._workers, self)
        self._highlight: LatestResult[MaskPyramid] = LatestResult(self._workers, self)
        self._layout = PaneLayout(self)
        for pane in self.panes.values():
            self._layout.add_pane(pane)
        self._visible_timer = QTimer(self, singleShot=True, interval=_VISIBLE_MS)
        self._connect()
        self._show(self.display)
        self._choose_tool()

    def _connect(self) -> None:
        session = self._session
        document = session.document
        document.watch(self._refresh, *RESOLVED, "activity", "view", "preview", "is_previewing")
        document.watch(self.viewport.fit, "n_opened")
        document.watch(lambda: self._show_mask(None), "first_look")
        document.watch(self._choose_tool, "view")
        document.watch(self._redraw_tools, "mark", "copy_source", "region", "hole_fill")
        document.watch(self._end_outline, "activity")
        document.painted.connect(self._show_mask)
        session.finding.mark_shown.connect(self.viewport.show_box)
        all_made: list[LatestResult[Any]] = [
            *self._images.values(),
            self._inset,
            self._detail,
            self._mask,
            self._highlight,
            self._mark_color,
        ]
        for made in all_made:
            made.changed.connect(self._draw)
        self._images["damaged"].changed.connect(self.drawn)
        self._workers.failed.connect(session.document.problem)
        self.viewport.changed.connect(self._visible_timer.start)
        self._visible_timer.timeout.connect(self._report_visible_part)
        for name, pane in self.panes.items():
            pane.canvas.hovered.connect(lambda row, column, name=name: self._hover(name, (row, column)))
            pane.canvas.menu_wanted.connect(self.menu_wanted)
            pane.canvas.panels_wanted.connect(self.panels_wanted)
            pane.canvas.hover_left.connect(partial(self._hover, name, None))

    def close_workers(self) -> None:
        """Wait until the threads have ended."""
        self._visible_timer.stop()
        self._workers.close()

    @property
    def top(self) -> int:
        """How much is above the pictures."""
        return self._layout.contentsMargins().top() + self.panes["damaged"].top

    @property
    def is_drawn(self) -> bool:
        """Whether the picture that is open is the one that is drawn."""
        return not self._images["damaged"].is_busy

    @property
    def is_settled(self) -> bool:
        """Whether everything that was to be drawn is ready."""
        return self._workers.n_active == 0 and not self._visible_timer.isActive()

    # What is shown

    def set_screen_profile(self, icc: bytes | None) -> None:
        """Draw pictures in the colors of a screen with that profile; None for sRGB."""
        self._screen = icc
        self._show(self.display)

    def set_looks(self, looks: Looks) -> None:
        """Change the gray around pictures, and the marks on them."""
        self._looks = looks
        self._draw()

    def _refresh(self) -> None:
        """Show what has changed in the document."""
        before, state = self._resolved, self._session.state
        self._resolved = state
        if is_shown_otherwise(before, state):
            self._show(resolve(state))
        elif before.preview is not state.preview or before.is_previewing != state.is_previewing:
            self._show(with_preview(self.display, state), "restored")

    def _show(self, display: Display, *names: str) -> None:
        """Draw what was resolved, all of it or only what has changed in some panes."""
        source, self.display = self._session.state.source, display
        if source is None:
            self._mask.clear()
        else:
            self._layout.set_picture_shape(source.shape)
        self._layout.set_bare(display.is_bare)
        for name in names or TITLES:
            shown = display.panes[name]
            self.panes[name].set_labels(shown.title, shown.badge, shown.caption)
            self.panes[name].set_bare(display.is_bare)
            self.panes[name].setVisible(name in display.visible)
        self._make_ready(display)
        if display.mended is not self._mended:
            self._mended = display.mended
            self._show_mask(None)
        self._draw()
        self._show_readouts()

    def _end_outline(self, before: DocumentState, now: DocumentState) -> None:
        """Draw no line any more around what was looked for."""
        if now.activity is None and before.activity is not None:
            self._redraw_tools()

    def _redraw_tools(self) -> None:
        for pane in self.panes.values():
            pane.canvas.update()

    def _make_ready(self, display: Display) -> None:
        """Start to prepare what is to be drawn; what is drawn now stays until then."""
        damaged = display.images.get("damaged")
        for name, made in self._images.items():
            source = display.images.get(name)
            if source is None or damaged is None:
                made.clear()
            elif name in display.ready:
                make = partial(_pyramid, source, damaged.pixels, self._screen)
                made.show(make, source.pixels, source.reference, source.look, damaged.pixels, self._screen)
        if damaged is None or display.preview is None:
            self._inset.clear()
        else:
            make_inset = partial(_inset, display.preview, damaged, self._screen)
            self._inset.show(make_inset, display.preview, damaged.look, self._screen)
        if damaged is None or display.atom_use is None or not display.atom_use.rects:
            self._highlight.clear()
        else:
            rects, shape = display.atom_use.rects, damaged.pixels.shape[:2]
            self._highlight.show(partial(MaskPyramid.of_rects, rects, shape), display.atom_use)

    def _draw(self) -> None:
        """Draw what is ready."""
        damaged = self._images["damaged"].ready
        if damaged is not None:
            smallest = damaged.images[-1]
            self._mark_color.show(partial(mark_color, smallest), smallest)
        for name, pane in self.panes.items():
            pane.canvas.set_looks(self._looks, self._mark_color.ready or MARKS["magenta"])
            pane.canvas.set_content(self._content(self.display.panes[name]))

    def _content(self, pane: PaneDisplay) -> Content:
        pyramid = self._images[pane.image].ready
        return Content(
            pyramid,
            None if pane.after is None else self._images[pane.after].ready,
            pane.names,
            self._mask.ready if pane.is_hatched else None,
            self._highlight.ready if pane.is_highlighted else None,
            self._detail.ready if pane.image == "damaged" else None,
            self._inset.ready if pane.has_inset else None,
            pane.placeholder if pyramid is None else "",
            pane.scale,
        )

    def _show_mask(self, rect: Rect | None) -> None:
        """Hatch what is missing now; nothing outside of a rectangle has changed."""
        painter, state = self._session.document.painter, self._session.state
        if painter is None or state.mask is None:
            return
        mask, pyramid, seen = painter.mask, self._mask.ready, state.first_look
        is_small = rect is not None and rect.height * rect.width < LARGE_EDIT and not self._mask.is_busy
        is_small = is_small and seen is None
        if rect is not None and is_small and pyramid is not None and pyramid.shape == mask.shape[:2]:
            was_dense = pyramid.is_dense
            pyramid.update(mask, rect)
            for pane in self.panes.values():
                if pyramid.is_dense == was_dense:
                    pane.canvas.update_pixels(rect)
                else:
                    pane.canvas.update()
        else:
            packed, mended = PackedMask.pack(mask), self._mended

            def make() -> MaskPyramid:
                marks = packed.unpack() if seen is None else seen.added_to(packed.unpack())
                return MaskPyramid(marks, without=mended)

            self._mask.show(make, make)  # made again even of the same mask: small edits have changed the last
        if painter.is_painting:
            for name, caption in painted_captions(state, painter.fraction).items():
                shown = self.display.panes[name]
                self.panes[name].set_labels(shown.title, shown.badge, caption)
        self._show_readouts()

    def _choose_tool(self) -> None:
        view = self._session.state.view
        tool = TOOLS[view.tool]
        for name in self.display.visible:
            self.panes[name].canvas.update()  # the brush may have changed its size
        if view.tool != self._tool:
            self._tool = view.tool
            for name, pane in self.panes.items():
                pane.canvas.set_tool(tool(self._session) if works_on(tool.panes, name) else None)

    # The pixel under the pointer

    def _hover(self, origin: str, pixel: Pixel | None) -> None:
        self._pixel = pixel
        for name in self.display.visible:
            self.panes[name].canvas.set_marker(pixel if name != origin else None)
        self._show_readouts()
        mark = "" if pixel is None or self._tool != "pick" else self._session.finding.describe_at(*pixel)
        self.pixel_changed.emit("" if pixel is None else f"{mark}row {pixel[0]}, column {pixel[1]}")

    def _show_readouts(self) -> None:
        pixel, source, painter = self._pixel, self._session.state.source, self._session.document.painter
        for name in self.display.visible:
            text = ""
            if pixel is not None and source is not None and painter is not None:
                is_inside = pixel[0] < source.shape[0] and pixel[1] < source.shape[1]
                pane = self.display.panes[name]
                text = readout(self.display, pane, painter.mask, pixel) if is_inside else ""
            self.panes[name].readout.setText(text)

    def _report_visible_part(self) -> None:
        """Tell the session which part of the picture is visible: that is what a preview shows."""
        source = self._session.state.source
        if source is None:
            return
        across, down = (size / self.viewport.zoom for size in self.viewport.pane_size)
        x, y = self.viewport.center
        rect = Rect(int(y - down / 2), int(x - across / 2), round(down) + 1, round(across) + 1)
        self._session.running.look_at(rect.clipped(source.shape))
        self._show_detail(source, rect.clipped(source.shape))

    def _show_detail(self, source: Source, rect: Rect) -> None:
        """Draw what is seen of a reduced picture in full, as far as the screen has pixels for it."""
        if source.overview is None or self.viewport.zoom <= 1 or rect.is_empty:
            self._detail.clear()
            return
        damaged = self.display.images["damaged"]
        step = max(1, int(source.overview.factor / self.viewport.zoom))
        make = partial(_detail, source, rect, step, damaged, self._screen)
        self._detail.show(make, make)


def _pyramid(source: ImageSource, damaged: Array, screen: bytes | None) -> ImagePyramid:
    if source.reference is not None:
        look = source.look
        errors = error_picture(source.reference, source.pixels, look.error_gain, has_sign=look.has_sign)
        return build_pyramid(errors, look=Look(color_map="signed" if look.has_sign else "gray"))
    alpha = source.alpha
    if alpha is not None and source.filled is not None:
        alpha = Picture(source.pixels, alpha).with_pixels(source.pixels, filled=source.filled.unpack()).alpha
    return build_pyramid(
        source.pixels, display_range(damaged), alpha=alpha, icc=source.icc, screen=screen, look=source.look
    )


def _detail(
    source: Source, rect: Rect, step: int, damaged: ImageSource, screen: bytes | None
) -> tuple[ImagePyramid, Rect]:
    overview = source.overview
    assert overview is not None, "it is reduced"
    factor = overview.factor
    height, width = overview.shape[:2]
    part = Rect(*(factor * side for side in rect)).clipped((height, width))
    pixels = overview.read(part, step, source.plane.page).pixels
    if pixels.ndim == 3 and pixels.shape[2] != 3:
        pixels = pixels[..., 0]
    pixels = pixels.astype(damaged.pixels.dtype, copy=False)
    value_range = display_range(damaged.pixels)
    pyramid = build_pyramid(pixels, value_range, icc=damaged.icc, screen=screen, look=damaged.look)
    return pyramid, rect


def _inset(preview: Preview, damaged: ImageSource, screen: bytes | None) -> tuple[ImagePyramid, Rect]:
    pyramid = build_pyramid(
        preview.image, display_range(damaged.pixels), icc=damaged.icc, screen=screen, look=damaged.look
    )
    return pyramid, preview.rect
