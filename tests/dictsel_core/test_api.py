"""The public names: how they are found, and that their words agree."""

import inspect
import pydoc
import re
import subprocess
import sys
from importlib import import_module

import pytest

import dictsel_core

SUBMODULES = [
    "atoms",
    "constraints",
    "learning",
    "online",
    "pursuit",
    "selection",
    "selection.engine",
    "theory",
    "utility",
]
#: Words that stand for something which has another name everywhere.
OTHER_WORDS = {
    "s": "sparsity",
    "average": "mean_sparsity",
    "masks": "mask",
    "missing": "mask",
    "seed": "rng",
    "random_state": "rng",
    "n_jobs": "threads",
    "n_threads": "threads",
    "k": "n_atoms",
}


def public(name):
    module = import_module(f"dictsel_core.{name}")
    return {each: getattr(module, each) for each in module.__all__}


@pytest.mark.parametrize("name", SUBMODULES)
def test_submodules_are_found_with_and_without_an_import(name):
    script = f"import dictsel_core; print(dictsel_core.{name}.__name__)"
    found = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == f"dictsel_core.{name}"


@pytest.mark.parametrize("name", SUBMODULES)
def test_help_shows_every_public_name_with_its_parameters(name):
    page = pydoc.render_doc(import_module(f"dictsel_core.{name}"), renderer=pydoc.plaintext)
    for each, thing in public(name).items():
        assert each in page
        if inspect.isfunction(thing):
            first = next(iter(inspect.signature(thing).parameters))
            text = pydoc.render_doc(thing, renderer=pydoc.plaintext)
            assert f"{each}({first}" in re.sub(r"\(\s+", "(", text)  # long signatures have several lines


@pytest.mark.parametrize("name", SUBMODULES)
def test_one_thing_has_one_word(name):
    for each, thing in public(name).items():
        if not callable(thing) or each in ("SelectedAtom", "Selector"):
            continue
        methods = (
            [m for _, m in inspect.getmembers(thing, inspect.isfunction)] if inspect.isclass(thing) else []
        )
        for function in (thing, *methods):
            try:
                parameters = inspect.signature(function).parameters
            except ValueError:  # a class of Python
                continue
            wrong = {word: OTHER_WORDS[word] for word in parameters if word in OTHER_WORDS}
            assert not wrong, (each, function, wrong)


def test_a_function_is_no_module():
    from dictsel_core.learning import ksvd, mod
    from dictsel_core.selection import iter_sds_ma, sds_ma

    for function in (sds_ma, iter_sds_ma, ksvd, mod):
        assert inspect.isfunction(function)


@pytest.mark.slow
def test_type_checkers_know_the_types():
    pytest.importorskip("mypy")
    script = """
import numpy as np
from dictsel_core import IndividualSparsity, standard_ground_set
from dictsel_core.learning import iter_mod
from dictsel_core.selection import iter_sds_ma, sds_ma
ground_set, data = standard_ground_set(), np.zeros((3, 64))
reveal_type(sds_ma(ground_set, data, IndividualSparsity(2), 3))
reveal_type(iter_sds_ma(ground_set, data, IndividualSparsity(2), 3))
reveal_type(iter_mod(data, 3, 2))
sds_ma(ground_set, data, 2, 3)
iter_sds_ma(ground_set, data, IndividualSparsity(2), 3, nonsense=1)
"""
    command = [sys.executable, "-P", "-m", "mypy", "--strict", "--ignore-missing-imports", "-c", script]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    for expected in (
        '"dictsel_core.selection.run.Selection"',
        '"dictsel_core.selection.run.SelectionRun"',
        '"dictsel_core.learning.LearningRun"',
        'Argument 3 to "sds_ma" has incompatible type "int"',
        'Unexpected keyword argument "nonsense"',
    ):
        assert expected in said, said


def test_little_is_imported_before_it_is_used():
    script = "import sys, dictsel_core; print(*(m for m in sys.modules if m.startswith('dictsel_core.')))"
    loaded = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    for name in ("online", "learning", "theory", "detection", "sklearn"):
        assert f"dictsel_core.{name}" not in loaded.stdout.split()
    assert len(dictsel_core.__all__) <= 30
