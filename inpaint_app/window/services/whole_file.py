"""A file of several pages or many bands, which the window cannot show: restored as a whole."""

from inpaint_app.engine.control import Progress
from inpaint_app.engine.restore_file import FileOptions, FileRequest, FileResult, restore_file
from inpaint_app.errors import printable_path
from inpaint_app.io.write import Output
from inpaint_app.window.background.exclusive_task import Activity, ExclusiveTask
from inpaint_app.window.background.worker_pool import WorkerPool
from inpaint_app.window.document.document import Document


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
        request = FileRequest(state.unshown.path, output, options)
        self._document.apply(unshown=None)
        self.task.start(
            lambda control: restore_file(request, control),
            done=self._report,
            activity=Activity("file", Progress("restoring the file", 0.0)),
        )

    def _report(self, result: FileResult) -> None:
        self._document.notice.emit(" ".join((f"Written: {printable_path(result.output)}", *result.notes)))
