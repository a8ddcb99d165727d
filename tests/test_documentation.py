"""The examples of the documentation do what they say."""

import doctest
import inspect
import pkgutil
import re
import shlex
from importlib import import_module
from pathlib import Path

import click
import pytest

import dictsel_core
from inpaint_app.cli.program import PROGRAM

ROOT = Path(__file__).parents[1]
MODULES = ["dictsel_core", *(m.name for m in pkgutil.walk_packages(dictsel_core.__path__, "dictsel_core."))]
PAGES = [
    "README.md",
    "docs/tutorial.md",
    "docs/howto.md",
    "docs/library.md",
    "docs/extending.md",
    "docs/research.md",
    "docs/errata.md",
]
PACKAGES = [
    "constraints",
    "selection",
    "selection.engine",
    "pursuit",
    "online",
    "learning",
    "restoration",
    "evaluation",
    "detection",
]
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


def public_names():
    """Return modules and names of what the reference should have: what packages export, without constants."""
    names = [(dictsel_core, name) for name in dictsel_core.__all__]
    for name in PACKAGES:
        module = import_module(f"dictsel_core.{name}")
        names += [(module, each) for each in module.__all__ if each not in dictsel_core.__all__]
    return [(module, name) for module, name in names if not is_constant(getattr(module, name))]


def is_constant(thing):
    """Whether it is a tuple, a number or a type alias, whose documentation would be that of its class."""
    return not (inspect.isclass(thing) or inspect.isfunction(thing))


def shown_in_the_reference():
    """Return all words of the examples of the reference, where names that belong together are shown."""
    examples = re.findall(r"^(?:>>>|\.\.\.) (.*)$", REFERENCE.read_text(), re.MULTILINE)
    return set(re.findall(r"\w+", " ".join(examples)))


def test_every_public_class_and_function_has_an_example():
    lacking = {name for module, name in public_names() if ">>>" not in (getattr(module, name).__doc__ or "")}
    assert lacking <= shown_in_the_reference()


@pytest.mark.parametrize(
    ("module", "name"), [pair for pair in public_names() if pair[1].startswith("iter_")], ids=str
)
def test_examples_of_step_by_step_versions_call_them(module, name):
    """Their own, or one of the reference."""
    own = doctest.DocTestParser().get_examples(inspect.getdoc(getattr(module, name)))
    assert any(f"{name}(" in example.source for example in own) or name in shown_in_the_reference()


@pytest.mark.parametrize("page", PAGES)
def test_blocks_of_a_page_run_one_after_another(page):
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert blocks
    names: dict[str, object] = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page}, Python block {number}", "exec"), names)


def shell_commands():
    """Return all calls of the command line in the pages, as lists of words."""
    commands = []
    for page in (*PAGES, "docs/files.md", "docs/scale.md", "docs/README.md"):
        for block in re.findall(r"^```sh\n(.*?)^```$", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE):
            calls = [part.strip() for line in block.splitlines() for part in re.split(r"[|>] | #", line)]
            commands += [shlex.split(call) for call in calls if call.startswith("inpaint ")]
    return commands


def test_every_command_of_a_page_is_understood():
    commands = shell_commands()
    assert len(commands) > 20
    for words in commands:
        command = PROGRAM.get_command(click.Context(PROGRAM), words[1])
        command.make_context(words[1], words[2:])


def test_examples_of_the_reference():
    report: list[str] = []
    examples = doctest.DocTestParser().get_doctest(REFERENCE.read_text(), {}, "reference", str(REFERENCE), 0)
    runner = doctest.DocTestRunner()
    runner.run(examples, out=report.append)
    assert not runner.failures, "".join(report)


def test_every_public_name_is_in_the_reference():
    listed = re.findall(r"^   ((?:[a-z_]+\.)*)(\w+)$", REFERENCE.read_text(), re.MULTILINE)
    for module, name in listed:
        assert hasattr(import_module(f"dictsel_core.{module}".rstrip(".")), name)
    expected = {(module.__name__.partition(".")[2], name) for module, name in public_names()}
    assert expected <= {(module.rstrip("."), name) for module, name in listed}


def test_few_names_are_on_top():
    assert len(dictsel_core.__all__) <= 30
    assert all(hasattr(dictsel_core, name) for name in dir(dictsel_core))


def test_every_page_is_in_the_contents_of_the_site():
    contents = (ROOT / "docs" / "index.md").read_text().splitlines()
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"README", "index"}
    assert pages <= set(contents)
