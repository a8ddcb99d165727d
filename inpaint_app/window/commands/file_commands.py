"""The commands of the File menu: ask for files and pass them to the session."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QDialog, QWidget

from inpaint_app.errors import UserError, printable_path
from inpaint_app.io import registry
from inpaint_app.io.paths import is_visible, same_file, status_of
from inpaint_app.io.write import Output, default_output, properties_of
from inpaint_app.model.damage import Damage
from inpaint_app.model.missing import MaskSpec
from inpaint_app.text import format_duration
from inpaint_app.window.commands.mime_data import DroppedData, image_of, picture_of, read_mime_data
from inpaint_app.window.dialogs import file_dialogs
from inpaint_app.window.dialogs.batch_dialog import BatchDialog
from inpaint_app.window.dialogs.damage_dialog import DamageDialog
from inpaint_app.window.dialogs.export_dialog import ExportDialog
from inpaint_app.window.document.document import NO_PICTURE
from inpaint_app.window.document.project import SUFFIX as PROJECT_SUFFIX
from inpaint_app.window.preferences import Preferences
from inpaint_app.window.services.exporting import Exporting, no_result, pixels_of
from inpaint_app.window.session import Session

_Kinds = Callable[[], str]
#: What can be read: the title of the dialog, the kinds of files, and what takes the file.
_READABLE: dict[str, tuple[str, _Kinds, Callable[[Session, Path], None]]] = {
    "mask": (
        "Open a mask, white = missing",
        file_dialogs.name_filter,
        lambda session, path: session.opening.set_mask_spec(MaskSpec(mask=path)),
    ),
    "reference": (
        "Open the undamaged picture",
        file_dialogs.name_filter,
        lambda session, path: session.opening.open_reference(path),
    ),
    "recipe": (
        "Open a recipe",
        lambda: file_dialogs.RECIPES,
        lambda session, path: session.opening.open_recipe(path),
    ),
    "network": (
        "Open a network",
        lambda: file_dialogs.NETWORKS,
        lambda session, path: session.filling.use_network(path),
    ),
}


def _pictures() -> str:
    return file_dialogs.name_filter(registry.writable())


#: What can be written beside the picture: the title of the dialog, the kinds of files, the ending of the
#: name that is suggested, and what writes it.
_WRITABLE: dict[str, tuple[str, _Kinds, str, Callable[[Exporting, Output], None]]] = {
    "comparison": ("Export the comparison", _pictures, ".png", Exporting.write_comparison),
    "dictionary": ("Export the dictionary", _pictures, ".png", Exporting.write_dictionary),
    "mask": (
        "Save the mask",
        lambda: file_dialogs.name_filter(registry.lossless()),
        ".png",
        Exporting.write_mask,
    ),
    "project": ("Save the project", lambda: file_dialogs.PROJECTS, PROJECT_SUFFIX, Exporting.write_project),
    "recipe": ("Save the recipe", lambda: file_dialogs.RECIPES, ".json", Exporting.write_recipe),
}
#: Seconds after which a run is not discarded without asking.
MAX_LOST_SECONDS = 5.0


class FileCommands(QObject):
    """Opens, pastes, damages, exports and restores folders, asking where needed."""

    def __init__(self, session: Session, preferences: Preferences, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._preferences = session, preferences
        self._window = window
        self._batch: BatchDialog | None = None

    # Opening

    def open(self) -> None:
        """Ask for a picture and open it."""
        path = self._ask("Open a picture or a project", file_dialogs.PROJECTS)
        if path is not None:
            self.open_file(path)

    def repair(self) -> None:
        """Ask for a photograph, open it and repair it."""
        path = self._ask("Repair a photograph")
        if path is not None:
            self.open_file(path, then=self._session.repair)

    def _ask(self, title: str, *more: str) -> Path | None:
        kinds = ";;".join((file_dialogs.name_filter(), *more))
        return file_dialogs.ask_for_file(self._window, title, self._preferences.folder, kinds)

    def read(self, what: str) -> None:
        """Ask for one of the other files that can be read, and take it."""
        title, kinds, take = _READABLE[what]
        path = file_dialogs.ask_for_file(self._window, title, self._preferences.folder, kinds())
        if path is not None:
            take(self._session, path)

    def open_file(
        self,
        path: Path,
        mask: Path | None = None,
        reference: Path | None = None,
        *,
        notice: str = "",
        then: Callable[[], None] | None = None,
    ) -> None:
        """Open a picture, unless unsaved work is to be kept; a notice or something else may follow."""
        if self.may_leave():
            with contextlib.suppress(OSError):  # the working directory may be gone
                self._preferences.store(folder=path.absolute().parent)
            self._session.opening.open_file(path, MaskSpec(mask=mask), reference, notice=notice, then=then)

    def open_recent(self, path: Path) -> None:
        """Open a file of the list of recent ones; one that is gone is dropped from the list."""
        try:
            is_there = status_of(path) is not None
        except UserError as error:  # a disk that is not at hand now may be so later
            self._session.document.problem.emit(str(error))
            return
        if is_there:
            self.open_file(path)
        else:
            self._preferences.forget_file(path)
            self._session.document.problem.emit(
                f"{printable_path(path)} no longer exists and was removed from the list; "
                "open it from elsewhere."
            )

    def recover(self) -> None:
        """Open the lost work that is offered, unless unsaved work is to be kept."""
        if self.may_leave():
            self._session.lost_work.accept()

    def open_sample(self, damage: Damage) -> None:
        """Open the bundled picture."""
        if self.may_leave():
            self._session.opening.open_sample(damage)

    def paste(self) -> None:
        """Open what is on the clipboard."""
        dropped = read_mime_data(QGuiApplication.clipboard().mimeData())
        if dropped is None:
            self._session.document.problem.emit("There is no picture on the clipboard; copy one first.")
        else:
            self.open_dropped(dropped)

    def copy(self) -> None:
        """Copy the restored picture to the clipboard, never that of a run in progress."""
        session = self._session
        source, record = session.state.source, session.state.runs.current
        if source is None or record is None:
            session.document.problem.emit(no_result())
            return

        def make(_control: object) -> QImage:
            return image_of(source.restored(pixels_of(record), record.mask), source.picture.pixels)

        def put(image: QImage) -> None:
            QGuiApplication.clipboard().setImage(image)
            session.document.notice.emit("The restored picture was copied.")

        session.workers.start(make, done=put)

    def drop(self, data: QMimeData) -> None:
        """Open what was dropped."""
        dropped = read_mime_data(data)
        if dropped is not None:
            self.open_dropped(dropped)

    def open_dropped(self, dropped: DroppedData) -> None:
        """Open what was dropped or pasted."""
        if dropped.folder is not None:
            self.batch(dropped.folder)
            if dropped.skipped:
                self._session.document.notice.emit(dropped.skipped_message)
        elif dropped.picture is not None:
            notice = dropped.skipped_message
            self.open_file(dropped.picture, dropped.mask, dropped.reference, notice=notice)
        elif dropped.image is not None and self.may_leave():
            image = dropped.image
            self._session.opening.open_picture(lambda: picture_of(image), "Pasted picture")

    def damage(self) -> None:
        """Ask for a kind of damage and simulate it."""
        dialog = DamageDialog(self._window)
        if dialog.exec() == QDialog.DialogCode.Accepted and self.may_leave():
            self._session.opening.simulate_damage(dialog.damage)
        dialog.deleteLater()

    # Leaving

    def may_leave(self) -> bool:
        """Ask once about unsaved work and a long run; return whether the picture may be replaced.

        What is being written is written first: it need not be asked about.
        """
        self._session.exporting.wait()
        seconds = self._session.lost_seconds
        if seconds > MAX_LOST_SECONDS and not file_dialogs.ask_to_discard(
            self._window, f"The run in progress has taken {format_duration(seconds)}.", "Discard it?"
        ):
            return False
        unsaved = {
            "restored picture": self._session.state.has_unsaved_result,
            "painted mask": self._session.state.has_unsaved_mask,
        }
        works = [work for work, is_unsaved in unsaved.items() if is_unsaved]
        if not works:
            return True
        answer = file_dialogs.ask_about_unsaved(self._window, works)
        return answer == "discard" or (answer == "export" and self._save())

    def may_quit(self) -> bool:
        """Ask about everything that closing the window would end; return whether it may be closed."""
        is_batch_active = self._batch is not None and self._batch.is_active
        is_file_active = self._session.whole_file.task.is_active
        in_progress = {
            "A folder is being restored; what is written stays.": is_batch_active,
            "A file is being restored; nothing of it is written yet.": is_file_active,
        }
        return self.may_leave() and all(
            file_dialogs.ask_to_discard(self._window, sentence, "Stop it?")
            for sentence, is_active in in_progress.items()
            if is_active
        )

    def _save(self) -> bool:
        """Ask where to write unsaved work, and write it; return whether all of it is safe."""
        if self._session.state.has_unsaved_result:
            self.export()
            self._session.exporting.wait()
        if self._session.state.has_unsaved_mask and not self._session.state.has_unsaved_result:
            self.write("mask")
            self._session.exporting.wait()
        state = self._session.state
        return not (state.has_unsaved_result or state.has_unsaved_mask)

    def close_picture(self) -> None:
        """Close the picture, unless unsaved work is to be kept."""
        if self.may_leave():
            self._session.close_picture()

    # Exporting

    def export(self) -> None:
        """Ask where to write the restored picture, and write it."""
        source, record = self._session.state.source, self._session.state.runs.current
        if source is None or record is None:
            self._session.document.problem.emit(no_result())
            return
        if source.overview is not None:
            self.restore_pages()  # nobody wants the reduced one
            return
        state = self._session.state
        shows_preview = state.preview is not None or state.is_previewing
        dialog = ExportDialog(
            source,
            self.suggestion("restored"),
            self._window,
            properties=properties_of(source.picture, missing=record.mask),
            shows_preview=shows_preview,
        )
        if dialog.exec() == QDialog.DialogCode.Accepted and dialog.target is not None:
            self._session.exporting.write_restored(dialog.target)
        dialog.deleteLater()

    def write(self, what: str) -> None:
        """Ask where to write something beside the picture, and write it."""
        source = self._session.state.source
        if source is None:
            self._session.document.problem.emit(NO_PICTURE)
            return
        title, kinds, ending, write = _WRITABLE[what]
        path = file_dialogs.ask_where_to_write(self._window, title, self.suggestion(what, ending), kinds())
        if path is not None:
            # The dialog has asked about replacing a file, but never may a source be replaced by a figure.
            is_source = any(same_file(path, each) for each in source.files)
            write(self._session.exporting, Output(path, overwrite=not is_source))

    def suggestion(self, what: str, ending: str = ".png") -> Path:
        """Return a name beside the source that does not exist yet, for something that is written."""
        source = self._session.state.source
        assert source is not None, "something is open"
        file = source.path or source.reference_path
        if what == "restored":
            ending = registry.suffix_of(source.picture.metadata.source_format)
        if what == "restored" and source.path is not None:
            path = default_output(source.path)
        else:
            folder = self._preferences.folder if file is None else file.parent
            path = folder / f"{Path(source.name).stem.replace(' ', '_').lower()}_{what}{ending}"
        number, free = 2, path
        while is_visible(free):
            free = path.with_name(f"{path.stem}_{number}{path.suffix}")
            number += 1
        return free

    # Files and folders as a whole

    def restore_whole_file(self) -> None:
        """Ask where all pages and bands of a file that is not shown go, and restore them."""
        assert self._session.state.unshown is not None, "it is offered for such a file"
        self._restore_whole(self._session.state.unshown.path, self._session.whole_file.restore)

    def restore_pages(self) -> None:
        """Ask where all pages and bands of the file that is open go, and restore them."""
        source = self._session.state.source
        assert source is not None and source.path is not None, "it has several pages or bands"
        self._restore_whole(source.path, self._session.whole_file.restore_pages)

    def _restore_whole(self, path: Path, restore: Callable[[Output], None]) -> None:
        suggestion, title = default_output(path), "Restore the whole file"
        chosen = file_dialogs.ask_where_to_write(self._window, title, suggestion, _pictures())
        if chosen is not None:
            restore(Output(chosen, overwrite=not same_file(chosen, path)))

    def batch(self, folder: Path | None = None) -> None:
        """Show the dialog that restores a folder."""
        if self._batch is None:
            self._batch = BatchDialog(self._session, self._preferences.folder, self._window)
        if folder is not None and not self._batch.is_active:
            self._batch.set_folders(folder, folder / "restored")
        self._batch.show()
        self._batch.raise_()

    def close(self) -> None:
        """Close the dialog that restores a folder."""
        if self._batch is not None:
            self._batch.close()
