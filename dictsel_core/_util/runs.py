"""Long work as an iterator over small steps, with its result at the end."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from functools import wraps
from typing import Any, Generic, ParamSpec, TypeVar

Step = TypeVar("Step")
Result = TypeVar("Result")
Parameters = ParamSpec("Parameters")
AnyRun = TypeVar("AnyRun", bound="Run[Any, Any]")


class Run(Iterator[Step], ABC, Generic[Step, Result]):
    """An iterator over the steps of some long work, with a result.

    To cancel, stop asking for steps; `close` releases what the work holds. What the steps are, and whether
    there is a result before the last one, depends on the work: see the function that started it.

    Examples
    --------
    >>> from dictsel_core.learning import iter_mod
    >>> run = iter_mod([[1.0, 0.0], [0.0, 1.0]], 1, 1, max_iterations=2)
    >>> isinstance(run, Run)
    True
    >>> objectives = [step.objective for step in run]
    >>> learned = run.result
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
    """A run made from a generator, which yields the steps and returns the result.

    Examples
    --------
    >>> def count():
    ...     yield "one"
    ...     yield "two"
    ...     return 2
    >>> run = GeneratorRun(count())
    >>> list(run), run.result
    (['one', 'two'], 2)
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
        """The result; RuntimeError before the last step."""
        if not self._result:
            raise RuntimeError("There is no result yet: take the remaining steps first.")
        return self._result[0]

    def close(self) -> None:
        """Abandon the work and release what it holds."""
        self._steps.close()


def with_parameters_of(
    function: Callable[Parameters, Any],
) -> Callable[[Callable[..., AnyRun]], Callable[Parameters, AnyRun]]:
    """Return a decorator that gives the parameters and defaults of `function` to its step-by-step version.

    That one is called with all of them by name, so that they are written and documented once.
    """
    signature = inspect.signature(function)

    def decorate(start: Callable[..., AnyRun]) -> Callable[Parameters, AnyRun]:
        @wraps(start)
        def iterate(*args: Parameters.args, **kwargs: Parameters.kwargs) -> AnyRun:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return start(**bound.arguments)

        run = inspect.signature(start).return_annotation
        iterate.__signature__ = signature.replace(return_annotation=run)  # type: ignore[attr-defined]
        return iterate

    return decorate
