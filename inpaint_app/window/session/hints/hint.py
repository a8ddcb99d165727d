"""Something the window offers to do, in a bar above the pictures."""

from typing import ClassVar

from PySide6.QtCore import QObject, Signal


class Hint(QObject):
    """A sentence with a button; shown while it is wanted, until it is accepted or dismissed."""

    offer: ClassVar[str]  #: The text of the button.

    changed = Signal(str)
    """With the sentence as it is now."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.sentence = ""  #: What is offered, and why; empty while nothing is.

    def accept(self) -> None:
        """Do what is offered."""
        raise NotImplementedError

    def dismiss(self) -> None:
        """Offer it no more for this picture."""
        raise NotImplementedError

    def set_sentence(self, sentence: str) -> None:
        """Offer something, or nothing."""
        if sentence != self.sentence:
            self.sentence = sentence
            self.changed.emit(sentence)
