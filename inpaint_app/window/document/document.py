"""The one object that changes the state of the window."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal, SignalInstance

from dictsel_core import RestoreSettings
from inpaint_app.engine.source import Source
from inpaint_app.model.masks import MaskPainter, PackedMask
from inpaint_app.model.picture import Mask
from inpaint_app.window.background.work import release_later
from inpaint_app.window.document.project import Project
from inpaint_app.window.document.runs import RunHistory, RunRecord
from inpaint_app.window.document.state import DocumentState, PlaneWork
from inpaint_app.window.document.view_state import RETOUCH, STUDY, ViewState, Workspace

NO_PICTURE = "There is no picture yet; open one, or open the sample."


class _Watch(QObject):
    """What someone wants to be told of; Qt forgets whoever is deleted."""

    changed = Signal(object, object)


class Document(QObject):
    """Holds a `DocumentState`, and tells who watches it when another one takes its place; on the GUI thread.

    The mask is the exception, since it is painted on at the speed of the pointer: `painter` has its pixels
    as they are now, and the state has them as of the last step.
    """

    painted = Signal(object)
    """Pixels of the mask have changed, within a `Rect`; None for a new mask."""
    problem = Signal(str)
    """A sentence about what went wrong and what to do."""
    notice = Signal(str)
    """A sentence about what was done."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = DocumentState()
        self.defaults = RestoreSettings()  #: The parameters that a picture begins with.
        self.painter: MaskPainter | None = None  #: None before a picture is opened.
        self._watches: list[tuple[frozenset[str], _Watch]] = []
        self._untold: deque[tuple[DocumentState, DocumentState, frozenset[str]]] = deque()
        self._is_telling = False

    @property
    def mask(self) -> Mask:
        """The mask of the picture that is open, as it is now: a read-only view."""
        assert self.painter is not None, "a picture is open"
        return self.painter.mask

    def watch(self, slot: Callable[..., object] | SignalInstance, *names: str) -> None:
        """Call something after changes of some fields, or of any if none is named.

        It gets the old and the new state if it takes them, and is called in the order of the changes.
        """
        watch = _Watch(self)
        watch.changed.connect(slot)
        self._watches.append((frozenset(names), watch))

    def apply(self, **changes: Any) -> frozenset[str]:
        """Change fields of the state; return the names of those that now differ."""
        return self._become(replace(self.state, **changes))

    def _become(self, new: DocumentState) -> frozenset[str]:
        old = self.state
        if new.advice is not None and new.advice.settings != new.settings:
            new = replace(new, advice=None)  # they are the user's own now
        differences = new.differences(old)
        self.state = new  # which may be equal and yet another one: the number of threads is not compared
        if differences:
            self._untold.append((old, new, differences))
            self._tell()
        return differences

    def _tell(self) -> None:
        """Tell everyone of one change before the next, which a listener may make."""
        if self._is_telling:
            return
        self._is_telling = True
        try:
            while self._untold:
                old, new, differences = self._untold.popleft()
                for names, watch in self._watches:
                    if not names or names & differences:
                        watch.changed.emit(old, new)
        finally:
            self._is_telling = False

    # The picture

    def open(self, source: Source, painter: MaskPainter, mask: PackedMask) -> None:
        """Show another source, whose mask was made ready; nothing is kept of the last one's results."""
        old = self.state
        is_another = old.source is None or old.source.intact is not source.intact
        fresh = self._without_picture(keeps_inputs=not is_another)
        self.painter = painter
        n_opened = old.n_opened + is_another
        view = fresh.view.with_workspace(_workspace_for(source))
        self._become(
            replace(fresh, source=source, mask=mask, view=view, doubt=source.doubt, n_opened=n_opened)
        )
        self.painted.emit(None)
        for sentence in source.picture.notices:
            self.notice.emit(sentence)

    def open_project(self, project: Project, painter: MaskPainter, path: Path | None) -> None:
        """Show a project, with its results, and its file; None if that does not stay."""
        is_saved = path is not None
        self.open(project.source, painter, project.mask)
        runs = project.runs if is_saved else replace(project.runs, saved_number=None)
        planes = project.planes
        if not is_saved:
            planes = {
                plane: replace(work, saved_mask=None, runs=replace(work.runs, saved_number=None))
                for plane, work in planes.items()
            }
        self.apply(
            settings=replace(project.settings, threads=self.defaults.threads),
            hole_fill=project.hole_fill,
            runs=runs,
            planes=planes,
            look=project.look,
            saved_mask=project.mask if is_saved else None,
            project=path,
        )

    def show_plane(self, source: Source, painter: MaskPainter, mask: PackedMask) -> None:
        """Show another plane of the file that is open; what was done with both is kept."""
        old = self.state
        assert old.source is not None and old.mask is not None, "a picture is open"
        planes = dict(old.planes)
        planes[old.source.plane] = PlaneWork(old.source, old.mask, old.runs, old.saved_mask)
        known = planes.pop(source.plane, None)
        self.painter = painter
        shown = replace(
            self._kept(old),
            source=source,
            mask=mask,
            doubt=source.doubt,
            planes=planes,
            look=old.look,
            project=old.project,
            runs=RunHistory() if known is None else known.runs,
            saved_mask=None if known is None else known.saved_mask,
        )
        self._become(replace(shown, view=_without_comparison(shown)))
        self.painted.emit(None)

    def close_picture(self) -> None:
        """Show nothing, as before a picture was opened."""
        fresh = self._without_picture(keeps_inputs=False)
        self.painter = None
        self._become(replace(fresh, view=_without_comparison(fresh)))

    def _without_picture(self, *, keeps_inputs: bool) -> DocumentState:
        """Return a state with what outlasts a picture; the rest is let go of bit by bit."""
        old = self.state
        release_later(old.source, old.mask, self.painter, *old.runs.records, *old.planes.values())
        state = self._kept(old)
        if keeps_inputs:
            return replace(state, hole_fill=old.hole_fill, advice=old.advice)
        # Parameters belong to a picture; before the first one, they are those that it begins with.
        return state if old.source is None else replace(state, settings=self.defaults)

    def _kept(self, old: DocumentState) -> DocumentState:
        """Return a state with what does not belong to the pixels that are shown."""
        return DocumentState(
            settings=old.settings,
            is_automatic=old.is_automatic,
            view=old.view,
            n_opened=old.n_opened,
            choice=replace(old.choice, removed=frozenset(), within=None),
            visible=old.visible,
            activity=old.activity,
        )

    def replace_painter(self, mask: Mask) -> None:
        """Use a mask of another shape."""
        self.painter = MaskPainter(mask)
        self.apply(mask=PackedMask.pack(mask), found=None, marked=None)
        self.painted.emit(None)

    # Looking at results

    def set_view(self, view: ViewState) -> None:
        """Change the view mode, the tool or the brush."""
        self.apply(view=view)

    def show_run(
        self, number: int | None, comparison: Sequence[int] = (), *, runs: RunHistory | None = None
    ) -> None:
        """Show a restoration, or none, in place of what is in progress; perhaps one that was just made.

        Those it is compared with stand beside it.
        """
        known = runs or self.state.runs
        shown = replace(
            self.state,
            runs=known.shown(number, comparison),
            preview=None,
            is_previewing=False,
            intermediate=None,
            atom=None,
            atom_use=None,
        )
        self._become(replace(shown, view=_without_comparison(shown)))

    def remove_run(self, number: int) -> None:
        """Forget a restoration."""
        left = replace(self.state, runs=self.state.runs.without(number), atom=None, atom_use=None)
        self._become(replace(left, view=_without_comparison(left)))

    def leave_comparison(self) -> None:
        """Go back to another view mode if the current result is not part of a comparison."""
        self.apply(view=_without_comparison(self.state))

    # What is saved

    def mark_saved(self, record: RunRecord) -> None:
        """Remember that a result was saved, and the mask if it was restored with that."""
        runs = self.state.runs
        own = runs.find(record.number)
        if own is not None and own.packed_mask is record.packed_mask:
            self.apply(runs=replace(runs, saved_number=record.number))
            self.mark_mask_saved(record.packed_mask)

    def mark_mask_saved(self, mask: PackedMask) -> None:
        """Remember that a mask was saved, if it is still in use."""
        if self.state.mask is not None and self.state.mask.same_pixels(mask):
            self.apply(saved_mask=mask)

    def mark_project_saved(self, state: DocumentState, path: Path) -> None:
        """Remember that a state was saved as a project, as far as it is still the current one."""
        if self.state.n_opened == state.n_opened:
            self.apply(project=path)
        runs, shown, saved = self.state.runs, self.state.runs.current, state.runs.current
        is_same = runs.current_number == state.runs.current_number
        if shown is not None and saved is not None and shown.image is not saved.image:
            is_same = False  # a stroke was healed in it since
        if self.state.source is state.source and is_same:
            self.apply(
                saved_mask=state.mask,
                runs=replace(runs, saved_number=runs.current_number),
                planes={
                    plane: _saved(work) if _is_same(work, state.planes.get(plane)) else work
                    for plane, work in self.state.planes.items()
                },
            )

    def discard(self) -> None:
        """Treat all work as saved."""
        runs, planes = self.state.runs, self.state.planes
        self.apply(
            saved_mask=self.state.mask,
            runs=replace(runs, saved_number=runs.current_number),
            planes={plane: _saved(work) for plane, work in planes.items()},
        )


def _saved(work: PlaneWork) -> PlaneWork:
    runs = replace(work.runs, saved_number=work.runs.current_number)
    return replace(work, saved_mask=work.mask, runs=runs)


def _is_same(work: PlaneWork, other: PlaneWork | None) -> bool:
    """Return whether nothing was done with a plane between two moments."""
    return other is not None and work.mask is other.mask and work.runs.records == other.runs.records


def _workspace_for(source: Source) -> Workspace:
    """Return where a picture is opened: one with missing pixels, or an original, is to be studied."""
    return STUDY if source.missing.sources or source.reference is not None else RETOUCH


def _without_comparison(state: DocumentState) -> ViewState:
    """Return the view, which shows a comparison only if the current result is part of one."""
    view = state.view
    if view.mode.is_comparison and not state.runs.compared:
        return view.with_mode(view.mode_before_comparison)
    return view
