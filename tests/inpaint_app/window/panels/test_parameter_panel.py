"""The panel of parameters: shows the settings of a session, and asks for others."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox
from windows import FAST, find, opened, settle, texts

from dictsel_core import PRESETS, RestoreSettings, restore
from inpaint_app.window.panels.parameter_panel import ParameterPanel

SIZE, SPARSITY, ROUNDS = "Dictionary size k", "Sparsity s", "Rounds of refinement"


@pytest.fixture
def panel(session, qtbot):
    made = ParameterPanel(session)
    qtbot.addWidget(made)
    return made


def box(panel, name: str) -> QDoubleSpinBox:
    return find(panel, QDoubleSpinBox, name)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_taken_and_recognised(panel, session, name) -> None:
    presets = find(panel, QComboBox, "Preset")
    place = presets.findData(name)
    presets.setCurrentIndex(place)
    presets.activated.emit(place)
    assert session.settings == RestoreSettings.preset(name)
    assert presets.currentIndex() == place
    box(panel, SPARSITY).setValue(3)
    assert session.settings.sparsity == 3
    assert presets.currentText() == "Custom"


def test_other_settings_are_shown(panel, session) -> None:
    session.set_settings(replace(FAST, n_atoms=6, constraint="individual", keep_observed=False))
    assert box(panel, SIZE).value() == 6
    assert not find(panel, QCheckBox, "Keep observed pixels").isChecked()
    assert not box(panel, "Budget s', average per patch").isEnabled()


def test_the_dictionary_is_no_larger_than_its_bases(panel, session) -> None:
    field = box(panel, SIZE)
    field.setValue(200)
    for name in ("Haar", "Daubechies 4", "Coiflets"):
        find(panel, QCheckBox, name).click()
    assert (field.value(), field.maximum(), session.settings.n_atoms) == (64, 64, 64)
    find(panel, QCheckBox, "Haar").click()
    assert (field.value(), field.maximum(), session.settings.n_atoms) == (64, 128, 64)


def test_one_basis_must_stay(panel, session) -> None:
    for name in ("Cosines", "Haar", "Daubechies 4", "Coiflets"):
        find(panel, QCheckBox, name).click()
    assert session.settings.bases == ("coif1",)
    assert find(panel, QCheckBox, "Coiflets").isChecked()


def test_refinement_and_replacing_observed_pixels_exclude_each_other(panel, session) -> None:
    box(panel, ROUNDS).setValue(2)
    assert session.settings.rounds == 2
    find(panel, QCheckBox, "Keep observed pixels").click()
    assert (session.settings.keep_observed, session.settings.rounds) == (False, 0)
    box(panel, ROUNDS).setValue(1)
    assert (session.settings.keep_observed, session.settings.rounds) == (True, 1)


def test_the_budget_is_also_given_in_atoms(panel, session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    assert "s' = 432 atoms for 108 patches" in texts(panel)
    session.set_settings(replace(FAST, constraint="individual"))
    assert "atoms for" not in texts(panel)
    settle(session, qtbot)


def test_a_storm_on_the_sliders_ends_with_the_last_value(panel, session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    find(panel, QCheckBox, "Restore after every change").click()
    rng = np.random.default_rng(1)
    for _ in range(60):
        box(panel, SIZE).setValue(int(rng.integers(3, 30)))
        qtbot.wait(int(rng.integers(0, 60)))
    box(panel, SIZE).setValue(31)
    settle(session, qtbot)
    expected = restore(session.document.picture.pixels, session.mask.mask, replace(FAST, n_atoms=31))
    assert session.results.current.settings.n_atoms == 31
    assert np.array_equal(session.results.current.image, expected.image)
    assert session.complaints == []


@pytest.mark.parametrize(
    "settings",
    [
        RestoreSettings(n_atoms=1, sparsity=1, budget=0.1, coding_sparsity=1, rounds=0),
        RestoreSettings(n_atoms=256, sparsity=64, budget=64, coding_sparsity=64, rounds=100),
        RestoreSettings(n_atoms=None, coding_sparsity=None, rounds=None),
    ],
)
def test_whatever_the_settings_may_be_is_shown_as_it_is(panel, session, settings) -> None:
    session.set_settings(settings)
    shown = {name: field.value for name, field in panel._fields.items()}
    assert shown == {name: getattr(settings, name) for name in shown}
    assert session.settings == settings


def test_as_much_can_be_typed_as_the_settings_allow(panel, session) -> None:
    for name in ("sparsity", "budget", "coding_sparsity", "rounds"):
        field, parameter = panel._fields[name], RestoreSettings.parameters[name]
        assert field._box.maximum() == parameter.maximum
        field._box.setValue(parameter.maximum)
        assert getattr(session.settings, name) == parameter.maximum
        assert field._slider.value() == field._slider.maximum()
