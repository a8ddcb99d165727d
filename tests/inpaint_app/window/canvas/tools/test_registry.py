"""The tools that there are, and what each needs."""

import pytest
from windows import check_entry

from inpaint_app.window.action_table import TOOL_SPECS
from inpaint_app.window.canvas.tools.registry import TOOLS
from inpaint_app.window.document.view_state import ViewState
from inpaint_app.window.viewer.display import TITLES


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_every_tool_is_named_and_drawn(tool) -> None:
    assert TOOLS[tool.name] is tool
    check_entry(TOOL_SPECS[tool.name])
    assert set(tool.panes) <= set(TITLES)


def test_the_tool_at_the_start_is_one_of_them() -> None:
    assert ViewState().tool in TOOLS
