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
PAGES = ["README.md", "docs/tutorial.md", "docs/howto.md"]
REFERENCE = ROOT / "docs" / "api" / "index.rst"


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


@pytest.mark.parametrize("page", PAGES)
def test_blocks_of_a_page_run_one_after_another(page):
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert blocks
    names: dict[str, object] = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page}, Python block {number}", "exec"), names)


def test_examples_of_the_reference():
    report: list[str] = []
    examples = doctest.DocTestParser().get_doctest(REFERENCE.read_text(), {}, "reference", str(REFERENCE), 0)
    runner = doctest.DocTestRunner()
    runner.run(examples, out=report.append)
    assert not runner.failures, "".join(report)


def test_every_public_name_is_in_the_reference_and_has_an_example():
    """The example is in its own documentation, or on the page that lists it."""
    text = REFERENCE.read_text()
    listed = set(re.findall(r"^   (\w+)$", text, re.MULTILINE))
    shown = set(re.findall(r"\w+", " ".join(re.findall(r"^(?:>>>|\.\.\.) (.*)$", text, re.MULTILINE))))
    public = set(dictsel_core.__all__)
    documented = {name for name in public if ">>>" in (getattr(dictsel_core, name).__doc__ or "")}
    assert listed <= public
    assert public - listed - shown == set()
    assert public - documented - shown == set()


def test_every_page_is_in_the_contents_of_the_site():
    contents = (ROOT / "docs" / "index.md").read_text().splitlines()
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"README", "index"}
    assert pages <= set(contents)
