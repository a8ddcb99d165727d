"""Opens pictures, references, masks and recipes in the background, one at a time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from inpaint_app.engine import opening
from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.engine.source import LoadedRecipe, Plane, Source, detect_again, load_recipe
from inpaint_app.errors import UnviewableError
from inpaint_app.model.damage import SAMPLES, Damage
from inpaint_app.model.masks import MaskPainter, PackedMask
from inpaint_app.model.missing import MaskSpec, color_at
from inpaint_app.model.picture import Picture, Rect
from inpaint_app.window.background.work import Activity, ExclusiveTask, WorkerPool
from inpaint_app.window.document.document import NO_PICTURE, Document
from inpaint_app.window.document.project import Project, is_project, read_project
from inpaint_app.window.document.state import UnshownFile
from inpaint_app.window.document.view_state import STUDY
from inpaint_app.window.undo import ChangeSettings, ReplaceMask, UndoHistory

Then = Callable[[], None]


_Opened = tuple[Source, MaskPainter, PackedMask]
"""A source whose mask is ready to be painted on."""


class Opening:
    """Loads what the user opens into a document; if that fails, everything stays as it was."""

    def __init__(self, document: Document, history: UndoHistory, workers: WorkerPool) -> None:
        self._document, self._history = document, history
        self.task = ExclusiveTask(workers)
        #: Called before another source is shown: nothing of the last one may arrive any more.
        self.on_leaving: Then = lambda: None
        #: Called after that.
        self.on_opened: Then = lambda: None

    def open_file(
        self,
        path: Path,
        mask_spec: MaskSpec | None = None,
        reference: Path | None = None,
        *,
        notice: str = "",
        then: Then | None = None,
    ) -> None:
        """Open a picture file, or a project; a notice or something else may follow."""
        if is_project(path):
            self.open_project(path, then)
            return
        spec = mask_spec or MaskSpec()

        def work(control: JobControl) -> Source | UnshownFile:
            try:
                return opening.open_source(path, spec, reference, control=control)
            except UnviewableError as error:
                return UnshownFile(path, spec, error.problem)

        self._open_source(work, f"opening {path.name}", notice=notice, then=then)

    def open_project(self, path: Path, then: Then | None = None, *, is_saved: bool = True) -> None:
        """Go on with a project; `is_saved` is whether its file stays."""

        def load(_control: JobControl) -> tuple[Project, MaskPainter]:
            project = read_project(path)
            return project, MaskPainter(project.mask.unpack())

        def show(loaded: tuple[Project, MaskPainter]) -> None:
            self.on_leaving()
            self._document.open_project(*loaded, path if is_saved else None)
            self._history.clear()
            if then is not None:
                then()

        self._open(load, f"opening {path.name}", show)

    def show_plane(self, page: int | None = None, band: int | None = None) -> None:
        """Show another page or band of the file that is open, as it was left or as the file marks it."""
        state = self._document.state
        source = state.source
        if source is None or not source.is_part:
            return
        plane = Plane(
            source.plane.page if page is None else page, source.plane.band if band is None else band
        )
        known = state.planes.get(plane)

        def load(control: JobControl) -> _Opened:
            if known is not None:
                return known.source, MaskPainter(known.mask.unpack()), known.mask
            return _made_ready(opening.plane_source(source, plane, control=control))

        def show(opened: _Opened) -> None:
            if self._document.state.source is source and opened[0].plane != source.plane:
                self._history.end_stroke()
                self.on_leaving()
                self._document.show_plane(*opened)
                self._history.clear()
                self.on_opened()

        self._open(load, f"opening page {plane.page + 1}", show)

    def open_sample(self, damage: Damage = SAMPLES[0]) -> None:
        """Open the bundled picture with some damage."""
        self._open_source(lambda _control: opening.open_sample(damage), "opening the sample")

    def open_picture(self, make: Callable[[], Picture], name: str) -> None:
        """Open pixels that are no file; `make` is called in another thread."""
        self._open_source(lambda _control: opening.source_from_picture(make(), name), f"opening {name}")

    def simulate_damage(self, damage: Damage) -> None:
        """Simulate damage; the whole picture becomes the reference."""
        source = self._document.state.source
        if source is None:
            self._document.problem.emit(NO_PICTURE)
        else:
            self._open_source(lambda _control: opening.simulate_damage(source, damage), "simulating damage")

    def show(self, source: Source) -> None:
        """Show a source that was loaded."""
        self._show(_made_ready(source))

    def open_reference(self, path: Path) -> None:
        """Measure against this undamaged picture from now on."""
        document = self._document

        def show(source: Source) -> None:
            document.apply(source=source, view=document.state.view.with_workspace(STUDY))

        self._change(lambda source: opening.with_reference_file(source, path), f"opening {path.name}", show)

    def set_mask_spec(self, mask_spec: MaskSpec, then: Then | None = None) -> None:
        """Detect missing pixels again, after which something may follow; undo brings a painted mask back."""

        def show(marked: Source) -> None:
            self._show_marked(marked)
            if then is not None and self._document.state.doubt is None:
                then()

        self._change(lambda source: detect_again(source, mask_spec), "finding missing pixels", show)

    def mark_color_of(self, row: int, column: int) -> None:
        """Make all pixels missing that have nearly the color of one."""
        source = self._document.state.source
        if source is not None and Rect(0, 0, *source.shape).contains((row, column)):
            key, tolerance = color_at(source.picture, row, column)
            self.set_mask_spec(MaskSpec(key=key, tolerance=tolerance))

    def open_recipe(self, path: Path) -> None:
        """Use the parameters of a recipe, and its marks of missing pixels for the picture that is open."""
        source = self._document.state.source
        self._open(lambda _control: load_recipe(path, source), f"opening {path.name}", self._show_recipe)

    def _show_recipe(self, recipe: LoadedRecipe) -> None:
        if recipe.source is not None:
            self._show_marked(recipe.source, settings=recipe.settings)
            return
        if recipe.mask_spec != MaskSpec():
            self._document.notice.emit(
                "The recipe also marks missing pixels; open it again when a picture is open."
            )
        self._history.push(ChangeSettings(self._document, settings=recipe.settings))

    def _show_marked(self, marked: Source, **changes: Any) -> None:
        """Show the source with missing pixels that are marked otherwise, and other parameters if given."""
        document, mask = self._document, marked.missing.mask
        self._history.end_stroke()
        if document.mask.shape == mask.shape:
            marks = marked.mask_spec, marked.missing
            self._history.push(ReplaceMask(document, mask, marks=marks, **changes))
            document.apply(source=marked, doubt=marked.doubt)
        else:
            document.apply(source=marked, **changes)
            document.replace_painter(mask)
            document.apply(doubt=marked.doubt)
            self._history.clear()

    def _open_source(
        self,
        work: Callable[[JobControl], Source | UnshownFile],
        stage: str,
        *,
        notice: str = "",
        then: Then | None = None,
    ) -> None:
        def load(control: JobControl) -> _Opened | UnshownFile:
            source = work(control)
            return source if isinstance(source, UnshownFile) else _made_ready(source)

        def show(opened: _Opened | UnshownFile) -> None:
            if isinstance(opened, UnshownFile):
                self._document.apply(unshown=opened)
                return
            self._show(opened)
            if notice:
                self._document.notice.emit(notice)
            if then is not None:
                then()

        self._open(load, stage, show)

    def _show(self, opened: _Opened) -> None:
        self.on_leaving()
        self._document.open(*opened)
        self._history.clear()
        self.on_opened()

    def _change(self, work: Callable[[Source], Source], stage: str, done: Callable[[Source], Any]) -> None:
        source = self._document.state.source
        if source is None:
            self._document.problem.emit(NO_PICTURE)
        else:
            self._open(lambda _control: work(source), stage, done)

    def _open(self, work: Callable[[JobControl], Any], stage: str, done: Callable[[Any], Any]) -> None:
        self.task.start(work, done=done, activity=Activity("open", Progress(stage)))


def _made_ready(source: Source) -> _Opened:
    """Copy and pack the mask, which takes a while for a large one."""
    mask = source.missing.mask
    return source, MaskPainter(mask), PackedMask.pack(mask)
