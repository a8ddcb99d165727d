"""The ways to lay the pictures out."""

import pytest
from windows import check_entry

from inpaint_app.window.action_table import MODE_SPECS
from inpaint_app.window.document.view_state import VIEW_MODES
from inpaint_app.window.viewer.display import TITLES


@pytest.mark.parametrize("mode", VIEW_MODES.values(), ids=VIEW_MODES)
def test_every_mode_is_named_and_drawn_and_has_panes(mode) -> None:
    assert VIEW_MODES[mode.name] is mode
    check_entry(MODE_SPECS[f"view {mode.name}"])
    assert mode.panes
    assert set(mode.panes) <= set(TITLES)
