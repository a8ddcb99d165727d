"""Long work as an iterator over small steps, with its result at the end."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from functools import wraps
from typing import Any, Generic, ParamSpec, TypeVar, get_args

Step = TypeVar("Step")
Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")
AnyRun = TypeVar("AnyRun", bound="Run[Any, Any]")


class Run(Iterator[Step], ABC, Generic[Step, Result]):
    """An iterator over the steps of some long work, with a result.

    To cancel, stop asking for steps; `close` releases what the work holds. What the steps are, and whether
    there is a result before the last one, depends on the work: see the function that started it.
    """

    @abstractmethod
    def __next__(self) -> Step:
        """Work until the next step."""

    @property
    @abstractmethod
    def result(self) -> Result:
        """The result of the steps taken; RuntimeError if there is none yet."""

    def finish(self) -> Result:
        """Take all remaining steps and return the result."""
        for _ in self:
            pass
        return self.result

    def close(self) -> None:
        """Abandon the work and release what it holds."""


class GeneratorRun(Run[Step, Result]):
    """A run made from a generator, which yields the steps and returns the result."""

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
        """The result; RuntimeError before the last step."""
        if not self._result:
            raise RuntimeError("There is no result yet: take the remaining steps first.")
        return self._result[0]

    def close(self) -> None:
        """Abandon the work and release what it holds."""
        self._steps.close()


def finished(start: Callable[Parameters, Run[Any, Result]]) -> Callable[Parameters, Result]:
    """Make a function that does some work at once of the one that starts its run. Use as a decorator."""

    @wraps(start)
    def work(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return start(*args, **kwargs).finish()

    signature = inspect.signature(start)
    run = signature.return_annotation
    result = get_args(run if get_args(run) else run.__orig_bases__[0])[-1]
    work.__signature__ = signature.replace(return_annotation=result)  # type: ignore[attr-defined]
    return work


def step_by_step(
    function: Callable[Parameters, Any], run: type[AnyRun], steps: str
) -> Callable[Parameters, AnyRun]:
    """Return what starts the run of a `finished` function, as iter_ and its name; `steps` is for its text."""
    start, name = inspect.unwrap(function), function.__name__

    @wraps(start)
    def iterate(*args: Parameters.args, **kwargs: Parameters.kwargs) -> AnyRun:
        begun: AnyRun = start(*args, **kwargs)
        return begun

    iterate.__name__ = iterate.__qualname__ = f"iter_{name}"
    iterate.__doc__ = (
        f"Start `{name}`, and return its run, {steps}.\n\n"
        f"The parameters are those of `{name}`, checked at the call."
    )
    return iterate
