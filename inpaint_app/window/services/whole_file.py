"""All pages and bands of a file, restored and written as a whole."""

from collections.abc import Mapping
from dataclasses import replace

from inpaint_app.engine.control import JobControl, Progress
from inpaint_app.engine.overview import Overview
from inpaint_app.engine.painted import Retouch
from inpaint_app.engine.restore_file import (
    FileOptions,
    FileRequest,
    FileResult,
    restore_file,
    restore_painted,
)
from inpaint_app.engine.source import Plane
from inpaint_app.errors import printable_path
from inpaint_app.io.write import Output
from inpaint_app.model.masks import PackedMask
from inpaint_app.window.background.work import Activity, ExclusiveTask, WorkerPool
from inpaint_app.window.document.document import Document

#: Pages before and after a page that help to restore it (docs/refinement.md).
NEIGHBORS = 2
_LEFT_OUT = "What you copied or painted softly is restored anew in it: the picture that is shown is reduced."


class WholeFile:
    """Restores all pages and bands of a file as the command line does, and writes them."""

    def __init__(self, document: Document, workers: WorkerPool) -> None:
        self._document = document
        self.task = ExclusiveTask(workers)

    def restore(self, output: Output) -> None:
        """Restore the file that could not be shown; its missing pixels are found as when it is opened."""
        state = self._document.state
        if state.unshown is None:
            return
        options = FileOptions(state.settings, state.unshown.mask_spec, estimates=False)
        self._document.apply(unshown=None)
        self._start(FileRequest(state.unshown.path, output, options))

    def restore_pages(self, output: Output) -> None:
        """Restore all pages and bands of the file that is open, with the masks as they are now.

        Pages of the same kind are a stack: those before and after a page help to refine it.
        """
        state = self._document.state
        source, mask = state.source, state.mask
        if source is None or mask is None or source.path is None:
            return
        options = FileOptions(state.settings, source.mask_spec, estimates=False)
        masks = {plane: work.mask for plane, work in state.planes.items()} | {source.plane: mask}
        if source.overview is not None:
            painted = {plane.page: each for plane, each in masks.items() if each.origin.is_painted}
            self._start(FileRequest(source.path, output, options), source.overview, painted)
            return
        if source.whole is None:
            return
        pages = source.whole.pages
        is_stack = len(pages) > 1 and len({(page.pixels.shape, page.pixels.dtype) for page in pages}) == 1
        if is_stack and pages[0].n_bands in (1, 3):
            options = replace(options, neighbor_planes=NEIGHBORS)
        self._start(FileRequest(source.path, output, options, masks=masks, retouched=self._retouched))

    @property
    def _retouched(self) -> dict[Plane, Retouch]:
        """What was painted by hand on each plane."""
        state = self._document.state
        assert state.source is not None, "a picture is open"
        runs = {plane: work.runs for plane, work in state.planes.items()} | {state.source.plane: state.runs}
        return {plane: each.retouch for plane, each in runs.items() if each.retouch is not None}

    def _start(
        self,
        request: FileRequest,
        overview: Overview | None = None,
        painted: Mapping[int, PackedMask] | None = None,
    ) -> None:
        def work(control: JobControl) -> FileResult:
            if overview is None or not painted:
                return restore_file(request, control)
            return restore_painted(request, overview, painted, control)

        left_out = () if overview is None or not self._retouched else (_LEFT_OUT,)
        self.task.start(
            work,
            done=lambda result: self._report(result, left_out),
            activity=Activity("file", Progress("restoring the file", 0.0)),
        )

    def _report(self, result: FileResult, more_notes: tuple[str, ...]) -> None:
        written = f"Written: {printable_path(result.output)}"
        self._document.notice.emit(" ".join((written, *result.notes, *more_notes)))
