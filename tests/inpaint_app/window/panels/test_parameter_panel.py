"""The panel of parameters: shows the settings of a session, and asks for others."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QSlider, QToolButton
from windows import FAST, choose, find, opened, settle, texts

from dictsel_core import RestoreSettings
from dictsel_core.restoration import PRESETS
from inpaint_app.window.panels.parameter_panel import ParameterPanel

SIZE, SPARSITY, ROUNDS = "Dictionary size k", "Sparsity s", "Rounds of refinement"
BUDGET, CODING = "Budget s', average per patch", "Atoms per patch when coding"
LABELS = {"n_atoms": SIZE, "sparsity": SPARSITY, "mean_sparsity": BUDGET, "rounds": ROUNDS}
LABELS |= {"coding_sparsity": CODING}


@pytest.fixture
def panel(session, qtbot):
    made = ParameterPanel(session)
    qtbot.addWidget(made)
    return made


def box(panel, name: str) -> QDoubleSpinBox:
    return find(panel, QDoubleSpinBox, name)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_taken_and_recognized(panel, session, name) -> None:
    presets = find(panel, QComboBox, "Preset")
    place = presets.findData(name)
    choose(presets, place)
    assert session.state.settings == RestoreSettings.preset(name)
    assert presets.currentIndex() == place
    box(panel, SPARSITY).setValue(3)
    assert session.state.settings.sparsity == 3
    assert presets.currentText() == "Custom"


def test_the_fill_of_wide_holes_is_chosen_and_shown(panel, session) -> None:
    fills = find(panel, QComboBox, "Fill wide holes")
    assert fills.currentText() == "Auto"
    choose(fills, fills.findData("texture"))
    assert session.state.settings.fill == "texture"
    session.set_settings(replace(FAST, fill="smooth"))
    assert fills.currentText() == "Smooth"


def test_other_settings_are_shown(panel, session) -> None:
    session.set_settings(replace(FAST, n_atoms=6, constraint="individual", keep_observed=False))
    assert box(panel, SIZE).value() == 6
    assert not find(panel, QCheckBox, "Keep observed pixels").isChecked()
    assert not box(panel, BUDGET).isEnabled()


def test_the_dictionary_is_no_larger_than_its_bases(panel, session) -> None:
    field = box(panel, SIZE)
    field.setValue(200)
    for name in ("Haar", "Daubechies 4", "Coiflets"):
        find(panel, QCheckBox, name).click()
    assert (field.value(), field.maximum(), session.state.settings.n_atoms) == (64, 64, 64)
    find(panel, QCheckBox, "Haar").click()
    assert (field.value(), field.maximum(), session.state.settings.n_atoms) == (64, 128, 64)


def test_one_basis_must_stay(panel, session) -> None:
    for name in ("Cosines", "Haar", "Daubechies 4", "Coiflets"):
        find(panel, QCheckBox, name).click()
    assert session.state.settings.bases == ("coif1",)
    assert find(panel, QCheckBox, "Coiflets").isChecked()


def test_refinement_and_replacing_observed_pixels_exclude_each_other(panel, session) -> None:
    box(panel, ROUNDS).setValue(2)
    assert session.state.settings.rounds == 2
    find(panel, QCheckBox, "Keep observed pixels").click()
    assert (session.state.settings.keep_observed, session.state.settings.rounds) == (False, 0)
    box(panel, ROUNDS).setValue(1)
    assert (session.state.settings.keep_observed, session.state.settings.rounds) == (True, 1)


def test_the_budget_is_also_given_in_atoms(panel, session, qtbot, files) -> None:
    opened(session, qtbot, files["damaged"])
    panel.show_advanced(True)
    assert "s' = 432 atoms for 108 patches" in texts(panel)
    session.set_settings(replace(FAST, constraint="individual"))
    assert "atoms for" not in texts(panel)
    settle(session, qtbot)


@pytest.mark.parametrize(
    "settings",
    [
        RestoreSettings(n_atoms=1, sparsity=1, mean_sparsity=0.1, coding_sparsity=1, rounds=0),
        RestoreSettings(n_atoms=256, sparsity=64, mean_sparsity=64, coding_sparsity=64, rounds=100),
        RestoreSettings(n_atoms=None, coding_sparsity=None, rounds=None),
    ],
)
def test_whatever_the_settings_may_be_is_shown_as_it_is(panel, session, settings) -> None:
    session.set_settings(settings)
    for name, label in LABELS.items():
        value = getattr(settings, name)
        if value is None:
            assert box(panel, label).text().startswith("auto")
        else:
            assert box(panel, label).value() == value
    assert session.state.settings == settings


def test_as_much_can_be_typed_as_the_settings_allow(panel, session) -> None:
    for name in ("sparsity", "mean_sparsity", "coding_sparsity", "rounds"):
        field, most = box(panel, LABELS[name]), RestoreSettings.parameters[name].maximum
        assert field.maximum() == most
        field.setValue(most)
        assert getattr(session.state.settings, name) == most
        slider = find(panel, QSlider, f"{LABELS[name]}, slider")
        assert slider.value() == slider.maximum()


def test_parameters_of_the_method_are_one_click_away(panel, session, qtbot, files) -> None:
    slider = box(panel, SPARSITY)
    opened(session, qtbot, files["damaged"])
    assert not slider.isVisibleTo(panel)
    find(panel, QToolButton, "Advanced").click()
    assert slider.isVisibleTo(panel)
    find(panel, QToolButton, "Advanced").click()
    assert not slider.isVisibleTo(panel)
    session.opening.open_sample()
    settle(session, qtbot)
    assert not slider.isVisibleTo(panel), "they are closed until somebody asks for them"
