"""Errors of the user: a problem, and a remedy in the words of each front end."""

import pkgutil
import re
from pathlib import Path

import pytest

import inpaint_app
from inpaint_app.cli.remedies import REMEDIES as COMMAND_LINE
from inpaint_app.errors import Remedy, UserError
from inpaint_app.window.remedies import remedies


@pytest.mark.parametrize("words", [COMMAND_LINE, remedies()], ids=["command line", "window"])
def test_every_front_end_knows_every_remedy(words) -> None:
    assert set(words) == set(Remedy)


def test_a_problem_and_its_remedy_are_one_sentence() -> None:
    error = UserError("a.png already exists", Remedy.REPLACE_FILE)
    assert error.sentence(COMMAND_LINE) == f"a.png already exists; {COMMAND_LINE[Remedy.REPLACE_FILE]}."
    assert str(UserError("It is gone", "look for it")) == "It is gone; look for it."
    assert str(UserError("There is no option --sede", "did you mean --seed?")).endswith("--seed?")


@pytest.mark.parametrize(
    "package",
    ["errors", "text", "model", "io", "figures", "engine", "napari_plugin", "window"],
)
def test_only_the_command_line_names_its_options(package) -> None:
    assert not [remedy for remedy in remedies().values() if "--" in remedy]
    folder = Path(inpaint_app.__path__[0])
    # The files are read, not imported: Qt is not to be had everywhere.
    paths = [*folder.glob(f"{package}.py"), *(folder / package).rglob("*.py")]
    assert paths
    for path in paths:
        assert not re.search(r"--[a-z]", path.read_text(encoding="utf-8")), path


def test_the_packages_of_the_app_are_all_looked_at() -> None:
    found = {module.name for module in pkgutil.iter_modules(inpaint_app.__path__)}
    assert found - {"cli", "launch", "__main__", "system", "system_libraries"} == {
        "errors",
        "text",
        "model",
        "io",
        "figures",
        "engine",
        "napari_plugin",
        "window",
    }
