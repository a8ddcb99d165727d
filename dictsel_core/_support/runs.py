"""Long work as an iterator over small steps, with its result at the end."""

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from typing import Any, Generic, ParamSpec, TypeVar, get_args

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


def stepwise(
    function: Callable[Parameters, Any], start: Callable[..., AnyRun]
) -> Callable[Parameters, AnyRun]:
    """Return the version of `function` that leaves the steps to its caller.

    It is named ``iter_function`` and takes the same parameters, so that they are written and documented
    once. `start` receives all of them by name and returns the run that `function` finishes.
    """
    signature = inspect.signature(function)

    def iterate(*args: Parameters.args, **kwargs: Parameters.kwargs) -> AnyRun:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return start(**bound.arguments)

    run = inspect.signature(start).return_annotation
    iterate.__name__ = iterate.__qualname__ = f"iter_{function.__name__}"
    iterate.__module__ = function.__module__
    iterate.__signature__ = signature.replace(return_annotation=run)  # type: ignore[attr-defined]
    iterate.__doc__ = _STEPWISE_DOC.format(
        name=function.__name__,
        parameters=", ".join(signature.parameters),
        run=_short_name(run),
        examples=_stepwise_examples(function),
    )
    return iterate


_STEPWISE_DOC = """Return a run of `{name}`, which works step by step.

Input is checked at the call.

Parameters
----------
{parameters}
    As for `{name}`.

Returns
-------
{run}
    An iterator over the steps. Its ``finish()`` takes those that remain and returns what `{name}` returns.

See Also
--------
{name} : Takes all steps at once.

Examples
--------
{examples}
"""


def _stepwise_examples(function: Callable[..., Any]) -> str:
    """Return the examples of a function, with every call of it step by step."""
    name = function.__name__
    text = (inspect.getdoc(function) or "").partition("Examples\n--------\n")[2]
    parts = re.split(rf"(?<=[ (]){name}\((?=.)", text)
    return parts[0] + "".join(f"iter_{name}({_finished(rest)}" for rest in parts[1:])


def _finished(rest: str) -> str:
    """Insert ``.finish()`` behind the parenthesis that ends a call; `rest` begins with its arguments."""
    depth = 1
    for at, letter in enumerate(rest):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return f"{rest[: at + 1]}.finish(){rest[at + 1 :]}"
    return rest


def _short_name(annotation: Any) -> str:  # noqa: ANN401  (whatever stands behind an arrow)
    """Return the name of a class and of its type arguments."""
    arguments = ", ".join(_short_name(each) for each in get_args(annotation))
    return f"{annotation.__name__}[{arguments}]" if arguments else str(annotation.__name__)
