"""A file of several pages or many bands, which the window cannot show: restored as a whole."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from inpaint_app.engine.control import Progress
from inpaint_app.engine.restore_file import FileOptions, FileRequest, FileResult, restore_file
from inpaint_app.errors import printable_path
from inpaint_app.io.write import Output
from inpaint_app.model.mask_spec import MaskSpec
from inpaint_app.window.background.activity import Activity
from inpaint_app.window.background.exclusive_task import ExclusiveTask
from inpaint_app.window.session.hints.hint import Hint

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session


@dataclass(frozen=True)
class UnshownFile:
    """A file that the window cannot show all of, and why, as half a sentence."""

    path: Path
    mask_spec: MaskSpec
    problem: str


class WholeFile(Hint):
    """Restores all pages and bands of a file as the command line does, and writes them."""

    offer = "Restore All of It …"

    output_wanted = Signal(Path)
    """The user is to be asked where the restored file goes."""

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._file: UnshownFile | None = None
        self.task = ExclusiveTask(session.workers, self)
        session.picture_opened.connect(self.dismiss)

    def show(self, file: UnshownFile) -> None:
        """Offer to restore a file."""
        self._file = file
        self.set_sentence(
            f"{file.problem}; the window shows single pages, gray or RGB. Restore all of it with these "
            "parameters?"
        )

    def accept(self) -> None:
        """Ask where the restored file goes."""
        if self._file is not None:
            self.output_wanted.emit(self._file.path)

    def dismiss(self) -> None:
        """Leave the file as it is."""
        self._file = None
        self.set_sentence("")

    def restore(self, output: Output) -> None:
        """Restore the file that was offered; its missing pixels are found as when it is opened."""
        if self._file is None:
            return
        options = FileOptions(self._session.settings, self._file.mask_spec, estimates=False)
        request = FileRequest(self._file.path, output, options)
        self.dismiss()
        self.task.start(
            lambda control: restore_file(request, control),
            done=self._report,
            activity=Activity("file", Progress("restoring the file", 0.0)),
        )

    def _report(self, result: FileResult) -> None:
        self._session.notice.emit(" ".join((f"Written: {printable_path(result.output)}", *result.notes)))
