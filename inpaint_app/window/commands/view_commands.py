"""The commands that change what is seen, and with what brush."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject

from inpaint_app.window.document.view_state import HARDNESS_STEP, RETOUCH, STUDY, ViewState
from inpaint_app.window.session import Session


class ViewCommands(QObject):
    """Changes the view of a session."""

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session

    def change(self, change: Callable[[ViewState], ViewState]) -> None:
        """Put another view in the place of the one there is."""
        self._session.document.set_view(change(self._session.state.view))

    def resize_brush(self, step: int) -> None:
        """Make the brush a step larger, or smaller."""
        self.change(lambda view: view.with_resized_brush(step))

    def harden_brush(self, steps: int) -> None:
        """Make the brush harder, or softer."""
        self.change(lambda view: view.with_hardness(view.hardness + steps * HARDNESS_STEP))

    def show_mask(self, is_shown: bool) -> None:
        """Hatch missing pixels, or not."""
        self.change(lambda view: replace(view, shows_mask=is_shown))

    def show_before(self, is_held: bool) -> None:
        """Show the damaged picture while a key is held."""
        self.change(lambda view: replace(view, is_before_held=is_held))

    def turn_page(self, n_pages: int) -> None:
        """Show a page some further on, if there is one."""
        source = self._session.state.source
        if source is not None and 0 <= source.plane.page + n_pages < source.n_pages:
            self._session.opening.show_plane(page=source.plane.page + n_pages)

    def show_study(self, _on: bool = True) -> None:
        """Judge the method."""
        self._session.set_workspace(STUDY)

    def show_retouch(self, _on: bool = True) -> None:
        """Mend a photograph."""
        self._session.set_workspace(RETOUCH)
