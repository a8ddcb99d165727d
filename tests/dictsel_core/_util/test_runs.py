"""Runs, and the step-by-step versions of functions."""

import inspect
import pickle

import numpy as np
import pytest

from dictsel_core import detection, evaluation, learning, progress, restoration, selection
from dictsel_core.progress import GeneratorRun, Run

#: Modules, and the functions of each that can be taken step by step.
PAIRS = [
    (module, name.removeprefix("iter_"))
    for module in (selection, restoration, learning, detection, evaluation)
    for name in dir(module)
    if name.startswith("iter_")
]


def counting(n_steps, closed=None):
    try:
        yield from range(n_steps)
    finally:
        if closed is not None:
            closed.append(True)
    return "done"


def test_a_run_yields_its_steps_and_then_has_a_result():
    run = GeneratorRun(counting(3))
    assert next(run) == 0
    with pytest.raises(RuntimeError, match="no result yet"):
        _ = run.result
    assert list(run) == [1, 2]
    assert run.result == run.finish() == "done"


def test_closing_releases_what_the_work_holds():
    closed = []
    run = GeneratorRun(counting(3, closed))
    next(run)
    run.close()
    assert closed == [True]
    with pytest.raises(StopIteration):
        next(run)


def test_every_run_has_the_same_protocol():
    for name in ("SelectionRun", "LearningRun", "GeneratorRun"):
        module = {"SelectionRun": selection, "LearningRun": learning, "GeneratorRun": progress}[name]
        assert issubclass(getattr(module, name), Run)


@pytest.mark.parametrize(("module", "name"), PAIRS)
def test_the_step_by_step_version_has_the_parameters_of_its_function(module, name):
    function, stepwise = getattr(module, name), getattr(module, f"iter_{name}")
    plain, other = inspect.signature(function), inspect.signature(stepwise)
    assert other.parameters == plain.parameters
    assert "Run" in str(other.return_annotation)
    assert stepwise.__name__ == stepwise.__qualname__ == f"iter_{name}"
    assert stepwise.__module__ == function.__module__
    assert f"`{name}`" in inspect.getdoc(stepwise)
    assert pickle.loads(pickle.dumps(stepwise)) is stepwise


@pytest.mark.parametrize(("module", "name"), PAIRS)
def test_wrong_arguments_are_refused_as_by_any_function(module, name):
    stepwise = getattr(module, f"iter_{name}")
    with pytest.raises(TypeError, match=r"missing (a|\d+) required"):
        stepwise()
    parameters = inspect.signature(stepwise).parameters.values()
    n_required = sum(each.default is inspect.Parameter.empty for each in parameters)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        stepwise(*[None] * n_required, nonsense=1)


def test_defaults_are_those_of_the_function():
    data = np.random.default_rng(0).normal(size=(20, 8))
    assert len(list(learning.iter_mod(data, 3, 1, tolerance=0, max_iterations=5))) <= 5
    run = learning.iter_mod(data, 3, 1)
    np.testing.assert_array_equal(run.finish().dictionary, learning.mod(data, 3, 1).dictionary)
