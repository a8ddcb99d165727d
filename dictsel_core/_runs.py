"""Long work as an iterator over small steps, with its result at the end."""

from collections.abc import Generator, Iterator
from typing import Generic, TypeVar

Step = TypeVar("Step")
Result = TypeVar("Result")


class Run(Iterator[Step], Generic[Step, Result]):
    """An iterator over the steps of some long work; `result` is there when they are over.

    Not asking for the next step is all it takes to cancel; `close` frees what the work holds.
    """

    def __init__(self, steps: Generator[Step, None, Result]) -> None:
        self._steps = steps
        self._result: list[Result] = []

    def __next__(self) -> Step:
        """Work until the next step."""
        try:
            return next(self._steps)
        except StopIteration as stop:
            if stop.value is not None:
                self._result.append(stop.value)
            raise

    @property
    def result(self) -> Result:
        """What the work has led to."""
        if not self._result:
            raise RuntimeError("The work is not done yet: ask for its steps until they end.")
        return self._result[0]

    def finish(self) -> Result:
        """Take all remaining steps and return the result."""
        for _ in self:
            pass
        return self.result

    def close(self) -> None:
        """Give the work up."""
        self._steps.close()
