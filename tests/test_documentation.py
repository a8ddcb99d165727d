"""The examples of the documentation do what they say."""

import doctest
import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import dictsel_core
from dictsel_core import Constraint, Matroid, constraints, selection

ROOT = Path(__file__).parents[1]
MODULES = ["dictsel_core", *(m.name for m in pkgutil.walk_packages(dictsel_core.__path__, "dictsel_core."))]
README_BLOCKS = re.findall(
    r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = import_module(name)
    tests = [test for test in doctest.DocTestFinder().find(module, name) if test.examples]
    runner = doctest.DocTestRunner()
    report: list[str] = []
    for test in tests:
        runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)


def is_explained(thing):
    """Whether it is a selector, or a constraint or matroid that can be used as it is."""
    if inspect.isclass(thing):
        return issubclass(thing, Constraint | Matroid) and not inspect.isabstract(thing)
    return not thing.__name__.startswith("iter_")


@pytest.mark.parametrize("package", [selection, constraints])
def test_every_selector_constraint_and_matroid_has_an_example(package):
    public = {name: getattr(package, name) for name in package.__all__}
    unexplained = [n for n, thing in public.items() if is_explained(thing) and ">>>" not in thing.__doc__]
    assert unexplained == []


def test_readme_blocks_run_one_after_another():
    assert README_BLOCKS
    names: dict[str, object] = {}
    for number, block in enumerate(README_BLOCKS):
        exec(compile(block, f"README.md, Python block {number}", "exec"), names)
