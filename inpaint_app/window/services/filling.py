"""What the user lets wide holes be filled from: areas of the picture, or a network; and other fills."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dictsel_core.restoration import has_wide_hole
from inpaint_app.engine.hole_fill import HoleFill
from inpaint_app.engine.network import Network
from inpaint_app.model.picture import Mask, Rect
from inpaint_app.window.background.work import ExclusiveTask, WorkerPool
from inpaint_app.window.document.document import NO_PICTURE, Document
from inpaint_app.window.undo import FillHoles, UndoHistory

_LIMITED = "Wide holes are filled from there only; a click with this tool lets everything be copied again."
_FREE = "Wide holes are filled with pieces of the whole picture again."
_NETWORK = "Wide holes are filled by the network; a click with Clone from Here ends that."
_SMOOTH = "Wide holes are filled smoothly, which is always the same; let them be filled with texture."
_NARROW = (
    "No hole is wider than 16 pixels, and no spot wider than 10; narrower ones are restored in one way only."
)
_DONE = "Filled with other pieces; the earlier result is in the history."


class Filling:
    """Areas that may be copied into wide holes, and areas that may not, or a network that fills them.

    At first everything may be copied. An area ends the use of a network. Each change is a step that can be
    undone, and its result a run of its own.

    Parameters
    ----------
    document, history, workers
        What it changes, by which steps, and where it computes.
    restore : callable
        Restores, and then calls what it is given.
    """

    def __init__(
        self,
        document: Document,
        history: UndoHistory,
        workers: WorkerPool,
        restore: Callable[[Callable[[], None]], None],
    ) -> None:
        self._document, self._history, self._restore = document, history, restore
        self._task = ExclusiveTask(workers)

    def add(self, rect: Rect, inside: Mask, *, may_be_copied: bool) -> None:
        """Let some pixels of a rectangle be copied, or not, and restore again."""
        state = self._document.state
        assert state.source is not None, "an area is drawn on a picture"
        known = state.hole_fill or HoleFill()
        self._use(known.with_area(rect, inside, state.source.shape, may_be_copied=may_be_copied), _LIMITED)

    def use_network(self, path: Path) -> None:
        """Fill wide holes by the network of an ONNX file, and restore again; a sentence says if it fails."""
        self._task.start(
            lambda _control: Network.load(path),
            done=lambda network: self._use(HoleFill(network=network), _NETWORK),
        )

    def clear(self) -> None:
        """Let everything be copied again, and restore again if that makes a difference."""
        if self._document.state.hole_fill is not None:
            self._use(None, _FREE)

    def _use(self, fill: HoleFill | None, notice: str) -> None:
        """Fill wide holes another way, and restore again."""
        self._history.push(FillHoles(self._document, hole_fill=fill), follows=False)
        self._document.notice.emit(notice)
        if self._document.state.missing_fraction > 0:
            self._restore(lambda: None)

    def try_another(self) -> None:
        """Fill wide holes with other pieces, as a result of its own; a sentence says why if there is none."""
        state, document = self._document.state, self._document
        if state.source is None or state.mask is None:
            document.problem.emit(NO_PICTURE)
        elif not state.settings.fills_texture(state.source.picture.pixels.dtype):
            document.problem.emit(_SMOOTH)
        else:
            mask = state.mask
            self._task.start(lambda _control: has_wide_hole(mask.unpack()), done=self._try_another)

    def _try_another(self, is_wide: bool) -> None:
        document, settings = self._document, self._document.state.settings
        if not is_wide:
            document.problem.emit(_NARROW)
            return
        step = FillHoles(document, settings=replace(settings, seed=settings.seed + 1))
        self._history.push(step, follows=False)
        self._restore(lambda: document.notice.emit(_DONE))
