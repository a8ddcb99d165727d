"""One mark of found damage after the other."""

from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from inpaint_app.text.explanations import DAMAGE_WORDS
from inpaint_app.window.session.mask.damage_finder import DamageFinder


class MarkBrowser(QObject):
    """Goes through the marks that are in the mask, from top to bottom, and removes the one it is at."""

    changed = Signal()
    """The browser is at another mark, or at none."""
    shown = Signal(int, int, int, int)
    """The mark to look at: the top row, the left column, height and width of its rectangle."""

    def __init__(self, finder: DamageFinder, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._finder = finder
        self.current: int | None = None  #: Number of the region that it is at.
        finder.changed.connect(self._follow)

    def step(self, by: int) -> None:
        """Go to the mark `by` places further on; past the last one comes the first."""
        finder = self._finder
        marks = finder.found.in_reading_order(finder.choice) if finder.found and finder.is_in_mask else []
        if not marks or finder.found is None:
            self._go_to(None)
            return
        if self.current in marks:
            place = (marks.index(self.current) + by) % len(marks)
        else:
            place = 0 if by > 0 else len(marks) - 1
        self._go_to(marks[place])
        self.shown.emit(*finder.found.box(marks[place]))

    def remove(self) -> None:
        """Remove the mark that it is at, and go to the next one."""
        removed, choice = self.current, self._finder.choice
        if removed is not None:
            self.step(1)
            self._finder.choose(replace(choice, removed=choice.removed | {removed}))

    @property
    def place(self) -> str:
        """Which of how many marks it is at, and what it is; empty at none."""
        finder = self._finder
        if self.current is None or finder.found is None:
            return ""
        marks = finder.found.in_reading_order(finder.choice)
        return f"{marks.index(self.current) + 1} of {len(marks)}: {self._words(self.current)}"

    def describe_at(self, row: int, column: int) -> str:
        """Return what was found at a pixel, followed by a comma; empty for nothing."""
        number = self._finder.region_near(row, column)
        return "" if number is None else f"{self._words(number)}, "

    def _words(self, number: int) -> str:
        assert self._finder.found is not None
        analysis = self._finder.found.analysis
        words = f"{DAMAGE_WORDS[analysis.kind_of(number)][0]} {analysis.confidences[number]:.2f}"
        return f"{words} (removed)" if number in self._finder.choice.removed else words

    def _follow(self) -> None:
        """Leave a mark that is no longer there."""
        finder = self._finder
        if self.current is not None and (
            finder.found is None
            or not finder.is_in_mask
            or not finder.found.chosen(finder.choice)[self.current]
        ):
            self._go_to(None)
        else:
            self.changed.emit()

    def _go_to(self, number: int | None) -> None:
        self.current = number
        self.changed.emit()
