"""The commands that change what is seen, and with what brush."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject

from inpaint_app.window.document.view_state import RETOUCH, STUDY, ViewState
from inpaint_app.window.session import Session


class ViewCommands(QObject):
    """Changes the view of a session."""

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session

    def change(self, change: Callable[[ViewState], ViewState]) -> None:
        """Put another view in the place of the one there is."""
        self._session.document.set_view(change(self._session.state.view))

    def shrink_brush(self) -> None:
        """Make the brush a step smaller."""
        self.change(ViewState.with_smaller_brush)

    def grow_brush(self) -> None:
        """Make the brush a step larger."""
        self.change(ViewState.with_larger_brush)

    def soften_brush(self) -> None:
        """Make the brush a step softer."""
        self.change(ViewState.with_softer_brush)

    def harden_brush(self) -> None:
        """Make the brush a step harder."""
        self.change(ViewState.with_harder_brush)

    def show_mask(self, is_shown: bool) -> None:
        """Hatch missing pixels, or not."""
        self.change(lambda view: replace(view, shows_mask=is_shown))

    def show_before(self, is_held: bool) -> None:
        """Show the damaged picture while a key is held."""
        self.change(lambda view: replace(view, is_before_held=is_held))

    def previous_page(self) -> None:
        """Show the page before."""
        self._turn_page(-1)

    def next_page(self) -> None:
        """Show the page after."""
        self._turn_page(1)

    def _turn_page(self, n_pages: int) -> None:
        source = self._session.state.source
        if source is not None and 0 <= source.plane.page + n_pages < source.n_pages:
            self._session.opening.show_plane(page=source.plane.page + n_pages)

    def show_study(self, _on: bool = True) -> None:
        """Judge the method."""
        self._session.set_workspace(STUDY)

    def show_retouch(self, _on: bool = True) -> None:
        """Mend a photograph."""
        self._session.set_workspace(RETOUCH)
