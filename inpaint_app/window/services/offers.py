"""What the window offers to do about a picture, in bars above the pictures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from dictsel_core.restoration import has_wide_hole
from inpaint_app.engine.detect import FirstLook
from inpaint_app.engine.source import Source
from inpaint_app.errors import printable_path
from inpaint_app.io.batch_files import find_sidecar_mask
from inpaint_app.model.marks import find_drawn_marks
from inpaint_app.model.mask_doubt import MaskDoubt
from inpaint_app.model.masks import PackedMask
from inpaint_app.model.missing import MaskSpec
from inpaint_app.model.picture import Mask, Rect
from inpaint_app.text import format_percent
from inpaint_app.window.background.work import ExclusiveTask, WorkerPool
from inpaint_app.window.document.document import Document
from inpaint_app.window.document.project import describe_project
from inpaint_app.window.document.state import DocumentState

Words = Callable[[DocumentState], str]


class Offer(QObject):
    """A sentence with a button; shown while it is wanted, until it is accepted or dismissed.

    Parameters
    ----------
    document : Document
        What it is about.
    button : str
        The text of the button.
    accept : callable
        Does what is offered.
    watched : sequence of str
        The fields of the document that it depends on.
    words : callable
        Returns what is offered, and why; empty for nothing.
    dismissed : callable
        What follows when the user does not want it.
    """

    changed = Signal(str)
    """With the sentence as it is now."""

    def __init__(
        self,
        document: Document,
        button: str,
        accept: Callable[[], None],
        watched: Sequence[str] = (),
        words: Words = lambda _state: "",
        dismissed: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(document)
        self._document, self._words, self._dismissed = document, words, dismissed
        self.button, self.accept = button, accept
        self.sentence = ""  #: What is offered, and why; empty while nothing is.
        if watched:
            document.watch(self._follow, *watched)

    def dismiss(self) -> None:
        """Offer it no more for this picture."""
        self.say("")
        self._dismissed()

    def say(self, sentence: str) -> None:
        """Offer something; nothing if the sentence is empty."""
        if sentence != self.sentence:
            self.sentence = sentence
            self.changed.emit(sentence)

    def _follow(self, old: DocumentState, new: DocumentState) -> None:
        self.say(self._words(new))


NOTHING_MARKED = "Nothing is marked as missing. Paint over what to restore, or let damage be found."
_DOUBTS = {
    MaskDoubt.INVERTED: (
        "The mask makes {} of the picture missing, and seems to mark what is intact. Is it inverted?"
    ),
    MaskDoubt.PHOTOGRAPH: (
        "The mask makes {} of the picture missing, and looks like a photograph. Is it the right file?"
    ),
}


def question_about_mask(doubt: MaskDoubt, state: DocumentState) -> str:
    """Ask whether a mask is meant as it is; nothing is restored with it before the user has answered."""
    if state.doubt is not doubt or state.source is None:
        return ""
    # Counting takes a while for a large picture.
    return _DOUBTS[doubt].format(format_percent(state.source.missing.fraction))


def unseen_file(state: DocumentState) -> str:
    """Offer to restore a file that cannot be shown."""
    if state.unshown is None:
        return ""
    why = state.unshown.problem
    return f"{why}, so that the window cannot show it. Restore all of it with these parameters?"


class HiddenDifference(Offer):
    """Says that refinement hides what constraints change, and offers to compare them without it."""

    _passed: tuple[int, ...] = ()

    def __init__(self, document: Document, accept: Callable[[], None]) -> None:
        super().__init__(document, "Compare as in the Paper", accept, ("runs", "activity"), self._about)

    def dismiss(self) -> None:
        """Say it no more about these runs."""
        self._passed = self._document.state.runs.comparison
        super().dismiss()

    def _about(self, state: DocumentState) -> str:
        records = state.runs.compared
        constraints = {record.requested.constraint for record in records}
        rest = {replace(record.requested, constraint="average") for record in records}
        is_refined = any(record.restoration.n_rounds > 0 for record in records)
        is_comparison = len(constraints) > 1 and len(rest) == 1 and is_refined
        if not is_comparison or state.activity is not None or state.runs.comparison == self._passed:
            return ""
        figures = [record.figures.scores.psnr for record in records if record.figures is not None]
        scores = [score for score in figures if score is not None]
        apart = f"; these differ by {max(scores) - min(scores):.2f} dB" if len(scores) == len(records) else ""
        return f"Refinement hides most of what the constraint changes{apart}. The paper compares without it."


class LostWork(Offer):
    """Offers work that a program which has ended unexpectedly was at."""

    def __init__(self, document: Document, recover: Callable[[Path], None]) -> None:
        super().__init__(document, "Recover", lambda: recover(self._next()))
        self._paths: list[Path] = []

    def offer(self, paths: Sequence[Path]) -> None:
        """Offer project files, the last one first."""
        self._paths = list(paths)
        self._say_next()

    def dismiss(self) -> None:
        """Offer it again at the next start."""
        self._next()

    def _next(self) -> Path:
        """Return the file that is offered, and go on to the next one."""
        path = self._paths.pop()
        self._say_next()
        return path

    def _say_next(self) -> None:
        if not self._paths:
            self.say("")
            return
        about = describe_project(self._paths[-1])
        self.say(f"Inpaint ended unexpectedly during work on {about}, which is not saved. Recover it?")


_WIDE_HOLE = "A hole is too wide for a smooth fill, which leaves it blurred. Copy texture from around it?"


class WideHoles(Offer):
    """Looks for wide holes after every edit of the mask, as long as they would be filled smoothly."""

    def __init__(self, document: Document, workers: WorkerPool, accept: Callable[[], None]) -> None:
        super().__init__(document, "Fill with Texture", accept, ("mask", "settings", "source"))
        self._task = ExclusiveTask(workers, self)
        self._known: tuple[PackedMask, bool] | None = None
        self._is_dismissed = False

    def dismiss(self) -> None:
        """Give no more hints about this picture."""
        self._is_dismissed = True
        self.say("")

    def _follow(self, old: DocumentState, new: DocumentState) -> None:
        self._is_dismissed = self._is_dismissed and new.n_opened == old.n_opened
        self._task.cancel()
        source, mask = new.source, new.mask
        if (
            source is None
            or mask is None
            or self._is_dismissed
            or new.settings.fills_texture(source.picture.pixels.dtype)
        ):
            self.say("")
        elif self._known is not None and self._known[0].same_pixels(mask):
            self._show(mask, self._known[1])
        else:
            self._task.start(
                lambda _control: has_wide_hole(mask.unpack()), done=lambda is_wide: self._show(mask, is_wide)
            )

    def _show(self, mask: PackedMask, is_wide: bool) -> None:
        self._known = mask, is_wide
        self.say(_WIDE_HOLE if is_wide else "")


@dataclass(frozen=True)
class _Marks:
    """What may mark damage, and the sentence that says so."""

    sentence: str
    file: Path | None = None  #: A mask, which is not read before it is wanted;
    drawn: Mask | None = None  #: or else what is drawn on the picture.


class MarkedPicture(Offer):
    """Looks for a mask beside a picture that misses nothing, and for marks that somebody drew on it.

    These are hatched while they are offered, so that the user sees what would be restored.

    Parameters
    ----------
    document, workers
        What it is about, and where it looks.
    use_file, use_drawn : callable
        Restore with a mask of a file, or with marks.
    """

    def __init__(
        self,
        document: Document,
        workers: WorkerPool,
        use_file: Callable[[MaskSpec], None],
        use_drawn: Callable[[Mask], None],
    ) -> None:
        super().__init__(document, "Restore Them", self._use, ("n_opened", "mask"))
        self._use_file, self._use_drawn = use_file, use_drawn
        self._task = ExclusiveTask(workers, self)
        self._marks: _Marks | None = None
        self._hatched: Mask | None = None

    def _use(self) -> None:
        marks = self._marks
        assert marks is not None, "they were offered"
        if marks.drawn is not None:
            self._use_drawn(marks.drawn)
        else:
            self._use_file(MaskSpec(mask=marks.file))

    def dismiss(self) -> None:
        """Leave the marks as they are."""
        self._marks = None
        self._show()

    def _follow(self, old: DocumentState, new: DocumentState) -> None:
        if new.n_opened != old.n_opened:
            self._look(new)
        self._show()

    def _look(self, state: DocumentState) -> None:
        self._task.cancel()
        self._marks, source = None, state.source
        if source is not None and state.missing_fraction == 0 and source.reference is None:
            self._task.start(lambda _control: _find_marks(source), done=self._take)

    def _take(self, marks: _Marks | None) -> None:
        self._marks = marks
        self._show()

    def _show(self) -> None:
        state = self._document.state
        is_wanted = state.source is not None and state.missing_fraction == 0
        marks = self._marks if is_wanted else None
        self.say("" if marks is None else marks.sentence)
        drawn = None if marks is None else marks.drawn
        if drawn is not self._hatched:
            self._hatched = drawn
            seen = None if drawn is None else FirstLook(Rect(0, 0, *drawn.shape), 1, drawn)
            self._document.apply(first_look=seen)


def _find_marks(source: Source) -> _Marks | None:
    file = None if source.path is None else find_sidecar_mask(source.path)
    if file is not None:
        name = printable_path(file.name)
        return _Marks(f"{name}, beside the picture, may mark its missing pixels.", file)
    found = find_drawn_marks(source.picture)
    if found is None:
        return None
    part = format_percent(np.count_nonzero(found.mask) / found.mask.size)
    sentence = (
        f"There seem to be {found.name} marks in the picture, hatched here ({part} of it). Are they damage?"
    )
    return _Marks(sentence, drawn=found.mask)


def inverted(source: Source) -> MaskSpec:
    """Return the marks of a source with missing and observed pixels of the mask file swapped."""
    return replace(source.mask_spec, invert_mask=not source.mask_spec.invert_mask, trusts_mask=True)
