"""Whoever adds one of these and forgets a place in the window that docs/developing.md names is told here."""

import importlib
import inspect
import pkgutil
from dataclasses import fields

from dictsel_core import RestoreSettings
from inpaint_app.window.canvas import tools
from inpaint_app.window.canvas.tools.registry import TOOLS
from inpaint_app.window.canvas.tools.tool import Tool
from inpaint_app.window.document import view_state
from inpaint_app.window.document.view_state import VIEW_MODES, ViewMode
from inpaint_app.window.panels import parameter_panel

#: Settings that the panel does not show; a new one is named here if that is what is meant.
NOT_IN_THE_WINDOW = {"fill_weight", "patch_size", "seed", "selector", "threads"}


def test_every_setting_is_in_the_panel() -> None:
    source = inspect.getsource(parameter_panel)
    shown = {each.name for each in fields(RestoreSettings)} - NOT_IN_THE_WINDOW
    assert {name for name in shown if f'"{name}"' not in source and f"{name}=" not in source} == set()


def test_every_tool_is_registered() -> None:
    names = [module.name for module in pkgutil.iter_modules(tools.__path__)]
    modules = [importlib.import_module(f"inpaint_app.window.canvas.tools.{name}") for name in names]
    found = {
        member
        for module in modules
        for _, member in inspect.getmembers(module, inspect.isclass)
        if issubclass(member, Tool) and hasattr(member, "name")
    }
    assert found == set(TOOLS.values())


def test_every_view_mode_is_registered() -> None:
    modes = [member for member in vars(view_state).values() if isinstance(member, ViewMode)]
    assert modes == list(VIEW_MODES.values())
