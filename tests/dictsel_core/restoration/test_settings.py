from dataclasses import asdict, replace
from typing import get_args

import pytest

from dictsel_core import RestoreSettings
from dictsel_core.restoration import PRESETS, PresetName, ResolvedSettings


def test_every_preset_has_its_settings():
    assert get_args(PresetName) == PRESETS
    assert all(isinstance(RestoreSettings.preset(name), RestoreSettings) for name in PRESETS)
    assert RestoreSettings.preset("balanced") == RestoreSettings()
    assert len({RestoreSettings.preset(name) for name in PRESETS}) == len(PRESETS)


def test_what_is_left_open_is_chosen_and_all_else_stays():
    asked = RestoreSettings(seed=7, bases=("dct",), rounds=None)
    resolved = asked.resolved(0.2, 64)
    assert isinstance(resolved, ResolvedSettings)
    changed = {name for name, value in asdict(resolved).items() if value != getattr(asked, name)}
    assert changed == {"n_atoms", "coding_sparsity", "selector"}
    assert asked.resolved(0.9, 64).selector == "romp" != resolved.selector
    assert list(asdict(resolved)) == list(asdict(asked)), "recipes keep their order"


@pytest.mark.parametrize(
    ("rounds", "expected"), [(0, (54, 12)), (1, (54, 12)), (2, (15, 6)), (None, (15, 6))]
)
def test_few_atoms_are_enough_before_two_rounds(rounds, expected):
    resolved = RestoreSettings(rounds=rounds).resolved(0.99, 256)
    assert (resolved.n_atoms, resolved.coding_sparsity) == expected


def test_what_is_given_stays():
    asked = RestoreSettings(n_atoms=30, coding_sparsity=2, selector="rompd")
    resolved = asked.resolved(0.2, 256)
    assert asdict(resolved) == asdict(asked)
    assert asked.resolved(0.2, 20).n_atoms == 20, "no more than there are candidates"


def test_resolved_settings_leave_nothing_open_but_can_be_asked_for_again():
    resolved = RestoreSettings().resolved(0.5, 256)
    assert resolved.resolved(0.1, 256) == resolved
    request = resolved.as_request()
    assert type(request) is RestoreSettings
    assert asdict(request) == asdict(resolved)
    assert replace(request, n_atoms=None).n_atoms is None
    with pytest.raises(TypeError, match="n_atoms must have a value"):
        replace(resolved, n_atoms=None)


@pytest.mark.parametrize("name", ["keep_observed", "literal"])
def test_switches_are_true_or_false(name):
    with pytest.raises(TypeError, match=f"{name} must be true or false, not 'no'"):
        RestoreSettings(**{name: "no"})
