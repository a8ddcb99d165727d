"""Whoever adds one of these and forgets a place that docs/developing.md names is told so here."""

import importlib
import inspect
import pkgutil
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import dictsel_core
from dictsel_core import RestoreSettings, restore, selection
from dictsel_core.restoration import CONSTRAINTS, FILLS, PRESETS, SELECTORS
from inpaint_app.cli import commands
from inpaint_app.cli.options import SETTING_OPTIONS
from inpaint_app.cli.program import COMMANDS
from inpaint_app.io import formats
from inpaint_app.io.format import Format
from inpaint_app.text import (
    CONSTRAINT_EXPLANATIONS,
    FILL_EXPLANATIONS,
    PRESET_EXPLANATIONS,
    SELECTOR_EXPLANATIONS,
)

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
#: Settings of the library alone; a new one is named here if that is what is meant.
NOT_ON_THE_COMMAND_LINE = {"fill_weight"}


def test_every_preset_selector_and_fill_is_explained() -> None:
    assert set(SELECTOR_EXPLANATIONS) == set(SELECTORS)
    assert set(PRESET_EXPLANATIONS) == set(PRESETS)
    assert set(FILL_EXPLANATIONS) == set(FILLS)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_named_where_presets_are_listed(preset) -> None:
    assert f"`{preset}`" in README
    for documented in (RestoreSettings.preset, restore):
        assert f'"{preset}"' in inspect.getdoc(documented), documented


def test_every_constraint_for_pictures_is_explained() -> None:
    assert set(CONSTRAINT_EXPLANATIONS) == set(CONSTRAINTS)
    for constraint in CONSTRAINTS:
        assert f'"{constraint}"' in inspect.getdoc(RestoreSettings)


def test_constraints_for_pictures_differ() -> None:
    assert len({repr(RestoreSettings(constraint=name).constraint_for(10)) for name in CONSTRAINTS}) == len(
        CONSTRAINTS
    )


@pytest.mark.parametrize("selector", SELECTORS)
def test_every_selector_for_pictures_selects(selector) -> None:
    image = np.random.default_rng(0).integers(0, 256, (16, 16), np.uint8)
    mask = np.random.default_rng(1).random(image.shape) < 0.3
    settings = RestoreSettings(selector=selector, n_atoms=4, bases=("dct",), rounds=0, threads=1)
    restored = restore(image, mask, settings)
    assert restored.settings.selector == selector
    assert f'"{selector}"' in inspect.getdoc(RestoreSettings)


def test_every_selector_is_exported() -> None:
    files = [module.name for module in pkgutil.iter_modules(selection.__path__) if module.name[0] == "_"]
    modules = {name[1:]: importlib.import_module(f"dictsel_core.selection.{name}") for name in files}
    functions = {name for name, module in modules.items() if hasattr(module, f"iter_{name}")}
    assert "replacement_omp" in functions
    assert functions | {f"iter_{name}" for name in functions} <= set(dictsel_core.selection.__all__)


def test_every_format_is_registered() -> None:
    files = pkgutil.walk_packages(formats.__path__, "inpaint_app.io.formats.")
    modules = [importlib.import_module(module.name) for module in files]
    found = {each.name for module in modules for each in vars(module).values() if isinstance(each, Format)}
    assert sorted(found) == sorted(each.name for each in formats.FORMATS)


def test_every_command_is_listed() -> None:
    files = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    assert sorted(files) == sorted(COMMANDS)


def test_every_setting_is_an_option_of_the_command_line() -> None:
    assert {option.name for option in SETTING_OPTIONS} | NOT_ON_THE_COMMAND_LINE == {
        each.name for each in fields(RestoreSettings)
    }
