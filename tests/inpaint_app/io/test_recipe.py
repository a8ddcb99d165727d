"""Recipes are written and read again."""

import os
import re
import sys
from pathlib import Path

import pytest
from recipes import save_recipe

from dictsel_core import RestoreSettings
from inpaint_app.cli.commands.restore import COMMAND
from inpaint_app.cli.options import SETTING_OPTIONS
from inpaint_app.cli.streams import CommandLineError
from inpaint_app.errors import UserError
from inpaint_app.io.recipe import Recipe, pack_recipe, read_recipe, recipe_mask_spec, recipe_settings
from inpaint_app.model.missing import MaskSpec

RECIPE = Recipe(
    settings={
        "constraint": "average",
        "n_atoms": 20,
        "mean_sparsity": 2.5,
        "keep_observed": False,
        "seed": None,
        "bases": ["dct"],
    },
    version="1.2.3",
    mask={"sources": ["mask", "key"], "file": "Maß.png", "key": "#ff00ff", "tolerance": 3},
)


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    path.write_bytes(pack_recipe(RECIPE))
    assert read_recipe(path) == RECIPE
    assert "Maß" in path.read_text("utf-8")


def test_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    path.write_bytes(b"\xef\xbb\xbf" + pack_recipe(RECIPE))
    assert read_recipe(path) == RECIPE


def test_only_json_can_be_written() -> None:
    for bad in (float("nan"), object()):
        with pytest.raises((ValueError, TypeError)):
            pack_recipe(Recipe({"a": bad}, "1", {}))  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1"),
        ("{", "line 1"),
        ('{\n"recipe": 1,\n?}', "line 3"),
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
        ("9" * 10_000, "too large a number"),
        (
            '{"recipe": 1, "version": "1", "settings": {"mean_sparsity": 1e400}, "mask": {}}',
            "1e400 is too large",
        ),
        ('{"recipe": 1, "version": "1", "settings": {"seed": -%s}, "mask": {}}' % ("9" * 401), "too large"),
        (
            r'{"recipe": 1, "version": "1", "settings": {"constraint": "\ud800"}, "mask": {}}',
            "half of a char",
        ),
        (r'{"recipe": 1, "version": "1", "settings": {"\ud800": 1}, "mask": {}}', "half of a char"),
        (r'{"recipe": 1, "version": "\udfff", "settings": {}, "mask": {}}', "half of a char"),
        ('{"recipe": 1' + " " * 1_000_001 + "}", "larger"),
    ],
)
def test_what_is_not_a_recipe(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "recipe.json"
    path.write_text(text)
    with pytest.raises(UserError, match=sentence) as caught:
        read_recipe(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < len(str(path)) + 120


def test_binary_missing_and_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(UserError, match="UTF-8"):
        read_recipe(tmp_path / "a")
    with pytest.raises(UserError, match="does not exist"):
        read_recipe(tmp_path / "b")
    with pytest.raises(UserError, match="folder"):
        read_recipe(tmp_path)


def recipe_of(settings: dict[str, object] | None = None, mask: dict[str, object] | None = None) -> Recipe:
    return Recipe(settings or {}, "1.0.0", mask or {})  # type: ignore[arg-type]


def test_settings_that_are_not_named_are_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    assert recipe_settings(recipe_of(), path) == RestoreSettings()
    assert recipe_settings(recipe_of({"n_atoms": 9}), path) == RestoreSettings(n_atoms=9)


def test_a_recipe_with_the_former_name_of_a_setting(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    assert recipe_settings(recipe_of({"budget": 2.5}), path) == RestoreSettings(mean_sparsity=2.5)
    with pytest.raises(UserError, match="twice"):
        recipe_settings(recipe_of({"budget": 2.5, "mean_sparsity": 3.0}), path)


NUMBERS = {
    option.name: option.opts[0]
    for option in SETTING_OPTIONS
    if option.name != "bases" and RestoreSettings.parameters[option.name].kind in (int, float)
}


@pytest.mark.parametrize("name", NUMBERS)
def test_options_and_recipes_have_the_same_limits(tmp_path: Path, name: str) -> None:
    parameter, path, flag = RestoreSettings.parameters[name], tmp_path / "recipe.json", NUMBERS[name]
    wrong = (
        parameter.minimum if parameter.excludes_minimum else parameter.minimum - 1,
        parameter.maximum + 1,
        10**5000,
    )
    for value in wrong:
        with pytest.raises(UserError, match=f"{name} must be {parameter.description}"):
            recipe_settings(recipe_of({name: value}), path)
    for text in (*(f"{value:.0f}" for value in wrong[:2]), "9" * 5000, "1e400", "nan", "true", ""):
        with pytest.raises(CommandLineError, match=f"{flag} needs {parameter.description}"):
            COMMAND.make_context("restore", ["in.png", f"{flag}={text}"])
    given = COMMAND.make_context("restore", ["in.png", f"{flag}={parameter.maximum}"])
    assert given.params[name] == parameter.maximum
    assert getattr(recipe_settings(recipe_of({name: parameter.maximum}), path), name) == parameter.maximum


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"keep_observed": "no"}, "keep_observed must be true or false, not 'no'"),
        ({"keep_observed": 0}, "keep_observed must be true or false"),
        ({"literal": None}, "literal must be true or false"),
        ({"n_atoms": True}, "n_atoms must be a whole number"),
        ({"n_atoms": 8.0}, "n_atoms must be a whole number"),
        ({"sparsity": None}, "sparsity must be a whole number"),
        ({"sparsity": "8"}, "sparsity must be a whole number"),
        ({"mean_sparsity": True}, "mean_sparsity must be a number"),
        (
            {"constraint": ["average"]},
            f"constraint must be {RestoreSettings.parameters['constraint'].description}",
        ),
        ({"selector": "best"}, f"selector must be {RestoreSettings.parameters['selector'].description}"),
        ({"bases": [["dct"]]}, "does not work"),
        ({"bases": []}, "at least one basis"),
        ({"bases": ["dct"] * 100}, "'dct' 100 times"),
        ({"bases": {}}, "bases must name at least one"),
        ({"bases": ["x\udc80"]}, "Unknown basis"),
        ({"patch_size": 32, "bases": ["dct", "db1", "db2", "db3", "db4"]}, "fewer bases"),
        ({"keep_observed": False}, "rounds=0"),
        ({"parameters": {}}, "there is no setting 'parameters'"),
        ({"x" * 1000: 1}, "there is no setting 'xxx"),
        ({"decay": True}, "there is no setting 'decay'"),
    ],
)
def test_settings_that_do_not_work(tmp_path: Path, settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)) as caught:
        recipe_settings(recipe_of(settings), tmp_path / "recipe.json")
    assert str(caught.value).startswith(str(tmp_path))
    assert str(caught.value).endswith("; correct it or write it again.")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("mask", "sentence"),
    [
        ({"file": 3}, "file must be a text"),
        ({"invert_mask": "no"}, "invert_mask must be true or false"),
        ({"invert_mask": None}, "invert_mask must be true or false"),
        ({"key": 255}, "key must be a text"),
        ({"key": "blurple"}, "'blurple' is not a color"),
        ({"key": "\udc80"}, "is not a color"),
        ({"tolerance": True}, "tolerance must be a number of at least 0"),
        ({"tolerance": -1}, "tolerance must be a number of at least 0"),
        ({"tolerance": 10**400}, "tolerance must be a number of at least 0"),
        ({"tolerence": 3}, "there is no mark 'tolerence'"),
    ],
)
def test_marks_that_do_not_work(tmp_path: Path, mask: dict[str, object], sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)) as caught:
        recipe_mask_spec(recipe_of(mask=mask), tmp_path / "recipe.json")
    assert str(caught.value).isprintable()


def test_marks(tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    assert recipe_mask_spec(recipe_of(mask={"sources": ["alpha"], "file": None}), path) == MaskSpec()
    assert recipe_mask_spec(RECIPE, path) == MaskSpec(tmp_path / "Maß.png", False, "#ff00ff", 3.0)


def test_the_mask_is_found_from_a_linked_folder(tmp_path: Path) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/inner")
    path, mask = tmp_path / "link" / "r.json", tmp_path / "m.png"
    mask.touch()
    save_recipe(path, RestoreSettings(), MaskSpec(mask=mask), ("mask",))
    found = recipe_mask_spec(read_recipe(path), path).mask
    assert found is not None
    assert found.samefile(mask)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are always text")
def test_mask_whose_name_is_not_text(tmp_path: Path) -> None:
    path, mask_spec = tmp_path / "recipe.json", MaskSpec(mask=tmp_path / os.fsdecode(b"m\xff.png"))
    save_recipe(path, RestoreSettings(), mask_spec, ("mask",))
    assert recipe_mask_spec(read_recipe(path), path) == mask_spec
