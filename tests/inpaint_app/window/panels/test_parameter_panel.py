"""The parameters of a restoration: what can be asked for, and what is shown."""

import pytest

from dictsel_core import RestoreSettings
from inpaint_app.window.panels.parameter_panel import ParameterPanel


@pytest.fixture
def panel(qtbot, session):
    made = ParameterPanel(session)
    qtbot.addWidget(made)
    return made


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
