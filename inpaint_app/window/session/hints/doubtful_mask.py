"""A mask that may not be meant as it is: nothing is restored with it before the user has answered."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from inpaint_app.model.mask_doubt import MaskDoubt
from inpaint_app.model.missing import MissingPixels
from inpaint_app.text.formatting import format_percent
from inpaint_app.window.session.hints.hint import Hint

if TYPE_CHECKING:
    from inpaint_app.window.session.session import Session


class DoubtfulMask(Hint):
    """Asks about a mask when it is opened, until that is answered or the mask is edited."""

    doubt: ClassVar[MaskDoubt]  #: What it asks about.
    question: ClassVar[str]  #: With the part of the picture that is marked.

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._session = session
        self._asked: MissingPixels | None = None
        self._state = 0
        session.source_changed.connect(self._look)
        session.mask_edited.connect(self._follow_edit)

    def dismiss(self) -> None:
        """Use the mask as it is."""
        self.set_sentence("")
        self._session.schedule()

    def _look(self) -> None:
        source, mask = self._session.source, self._session.mask
        if source is None or mask is None or source.doubt is not self.doubt:
            self._asked = None
            self.set_sentence("")
        elif source.missing is not self._asked:
            self._asked, self._state = source.missing, mask.state
            self.set_sentence(self.question.format(format_percent(source.missing.fraction)))

    def _follow_edit(self) -> None:
        mask = self._session.mask
        if mask is not None and mask.state != self._state:
            self.set_sentence("")


class InvertedMask(DoubtfulMask):
    """Asks whether a mask is to be inverted."""

    offer = "Invert It"
    doubt = MaskDoubt.INVERTED
    question = "The mask makes {} of the picture missing, and seems to mark what is intact. Is it inverted?"

    def accept(self) -> None:
        """Swap missing and observed pixels of the mask file."""
        source = self._session.source
        if source is not None:
            spec = source.mask_spec
            inverted = replace(spec, invert_mask=not spec.invert_mask, trusts_mask=True)
            self._session.opener.set_mask_spec(inverted)


class PhotographAsMask(DoubtfulMask):
    """Asks whether a mask that looks like a photograph is one."""

    offer = "Clear the Mask"
    doubt = MaskDoubt.PHOTOGRAPH
    question = "The mask makes {} of the picture missing, and looks like a photograph. Is it the right file?"

    def accept(self) -> None:
        """Make every pixel observed."""
        self._session.edit_mask(lambda mask: mask.clear())
