"""Parameters as text, and what distinguishes runs."""

from dataclasses import fields, replace

import numpy as np
import pytest

from dictsel_core import Restoration, RestoreSettings
from dictsel_core.restoration import PRESETS
from inpaint_app.model.masks import PackedMask
from inpaint_app.window.document.captions import comparison_titles, format_settings, parameter_texts
from inpaint_app.window.document.runs import RunRecord

MASK = PackedMask.pack(np.eye(3, dtype=bool))


def run(number: int, settings: RestoreSettings, mask: PackedMask = MASK, name: str = "") -> RunRecord:
    resolved, unused = settings.resolved(0.5, 256), np.zeros(0, np.intp)
    image = np.zeros((3, 3), np.uint8)
    restoration = Restoration(image, resolved, 0.5, None, unused.reshape(0, 2), unused, 0, 0, {})
    return RunRecord(number, settings, mask, 1.0, image, restoration, name=name)


OWN = RestoreSettings(n_atoms=20, rounds=1)


@pytest.mark.parametrize(
    ("changes", "titles"),
    [
        ({}, ["Run 1", "Run 2"]),
        ({"constraint": "individual"}, ["Average sparsity", "Individual sparsity"]),
        ({"n_atoms": 30, "fill": "texture"}, ["Run 1: k = 20, auto fill", "Run 2: k = 30, texture fill"]),
        ({"rounds": 0}, ["Run 1: rounds 1", "Run 2"]),
    ],
)
def test_the_titles_of_two_runs_say_what_differs(changes, titles) -> None:
    assert comparison_titles([run(1, OWN), run(2, replace(OWN, **changes))]) == titles


def test_presets_names_and_masks_are_told_apart() -> None:
    fast, best = (RestoreSettings.preset(name) for name in ("fast", "best"))
    assert comparison_titles([run(1, fast), run(2, best)]) == ["Run 1: Fast", "Run 2: Best"]
    other = PackedMask.pack(~MASK.unpack())
    named = run(2, OWN, other, name="by hand")
    assert comparison_titles([run(1, OWN), named]) == ["Run 1: mask 1", "by hand: mask 2"]
    assert comparison_titles([run(1, OWN)]) == ["Average sparsity"]
    assert comparison_titles([]) == []


def test_every_parameter_has_a_text() -> None:
    names = {each.name for each in fields(RestoreSettings)}
    assert set(parameter_texts(RestoreSettings())) == names - {"threads"}


def test_runs_with_different_parameters_are_told_apart() -> None:
    changes = [
        {"constraint": "individual"},
        {"n_atoms": 9},
        {"sparsity": 5},
        {"mean_sparsity": 3.0},
        {"coding_sparsity": 4},
        {"patch_size": 10},
        {"bases": ("dct",)},
        {"selector": "romp"},
        {"keep_observed": False, "rounds": 0},
        {"fill_weight": 0.2},
        {"fill": "texture"},
        {"literal": True},
        {"rounds": 5},
        {"seed": 1},
    ]
    asked = [RestoreSettings(**change) for change in changes] + list(map(RestoreSettings.preset, PRESETS))
    words = [format_settings(settings.resolved(0.2, 256), settings) for settings in asked]
    assert len(set(words)) == len(words)
    assert words[-len(PRESETS)].startswith("Paper (2018): average, k = 15")
