"""Recipes are written and read again."""

from pathlib import Path

import pytest

from inpaint_app.errors import UserError
from inpaint_app.files.recipe import Recipe, read_recipe, write_recipe
from inpaint_app.files.recipe_contents import recipe_settings

RECIPE = Recipe(
    settings={
        "constraint": "average",
        "n_atoms": 20,
        "budget": 2.5,
        "keep_observed": False,
        "seed": None,
        "bases": ["dct"],
    },
    version="1.2.3",
    mask={"sources": ["mask", "key"], "file": "Maß.png", "key": "#ff00ff", "tolerance": 3},
)


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    write_recipe(RECIPE, path)
    assert read_recipe(path) == RECIPE
    assert "Maß" in path.read_text("utf-8")


def test_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    write_recipe(RECIPE, path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_recipe(path) == RECIPE


def test_existing_file_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    path.write_text("mine")
    with pytest.raises(UserError, match="already exists"):
        write_recipe(RECIPE, path)
    assert path.read_text() == "mine"
    write_recipe(RECIPE, path, overwrite=True)
    assert read_recipe(path) == RECIPE


def test_only_json_can_be_written(tmp_path: Path) -> None:
    for bad in (float("nan"), object()):
        with pytest.raises((ValueError, TypeError)):
            write_recipe(Recipe({"a": bad}, "1", {}), tmp_path / "a.json")  # type: ignore[dict-item]
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1"),
        ("{", "line 1"),
        ('{\n"recipe": 1,\n}', "line 3"),
        ("[]", "not a recipe"),
        ("3", "not a recipe"),
        ("{}", "not a recipe"),
        ('{"recipe": 2}', "another version"),
        ('{"recipe": true}', "another version"),
        ('{"recipe": 1}', "version"),
        ('{"recipe": 1, "version": 3, "settings": {}, "mask": {}}', "version"),
        ('{"recipe": 1, "version": "1", "settings": [], "mask": {}}', "settings"),
        ('{"recipe": 1, "version": "1", "settings": {}}', "mask"),
        ('{"recipe": 1, "version": "1", "settings": {"a": NaN}, "mask": {}}', "not a number"),
        ('{"recipe": 1, "version": "1", "settings": {"a": 1, "a": 2}, "mask": {}}', "twice"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 10_000, "not a recipe"),
        ('{"recipe": 1' + " " * 1_000_001 + "}", "larger"),
    ],
)
def test_what_is_not_a_recipe(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "recipe.json"
    path.write_text(text)
    with pytest.raises(UserError, match=sentence) as caught:
        read_recipe(path)
    assert "\n" not in str(caught.value)


def test_binary_missing_and_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(UserError, match="UTF-8"):
        read_recipe(tmp_path / "a")
    with pytest.raises(UserError, match="does not exist"):
        read_recipe(tmp_path / "b")
    with pytest.raises(UserError, match="folder"):
        read_recipe(tmp_path)


@pytest.mark.parametrize(("decay", "selector"), [(False, "romp"), (True, "rompd")])
def test_early_recipes_mean_what_they_meant(tmp_path: Path, decay: bool, selector: str) -> None:
    settings = recipe_settings(Recipe({"n_atoms": 9, "decay": decay}, "0.1.0", {}), tmp_path)
    assert (settings.n_atoms, settings.rounds, settings.selector) == (9, 0, selector)
