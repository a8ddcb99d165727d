"""A picture larger than memory in the window: looked at reduced, painted on, restored in blocks."""

import numpy as np
import pytest
import tifffile
from windows import FAST, opened, settle

from inpaint_app.engine import opening, overview, restore_file
from inpaint_app.io.atomic import write_files
from inpaint_app.io.write import Output
from inpaint_app.model.picture import Rect
from inpaint_app.window.document.project_writer import project_file
from inpaint_app.window.services import whole_file


@pytest.fixture
def large(tmp_path, monkeypatch):
    """A file that the machine is told not to have the memory for, with a hole."""
    monkeypatch.setattr(opening, "MAX_PIXELS", 5_000)
    monkeypatch.setattr(overview, "MAX_VALUES", 4_000)
    monkeypatch.setattr(restore_file, "BYTES_PER_VALUE", 10**12)
    rows, columns = np.mgrid[:120, :150]
    values = (0.5 + 0.3 * np.sin(rows / 9) * np.cos(columns / 11)).astype(np.float32)
    values[40:48, 30:60] = np.nan
    tifffile.imwrite(tmp_path / "large.tif", values, tile=(64, 64), photometric="minisblack")
    return tmp_path / "large.tif", values


def test_what_is_painted_on_the_reduced_picture_is_handed_on(
    session, qtbot, large, tmp_path, monkeypatch
) -> None:
    path, _values = large
    asked = []

    def record(request, overview, painted, _control):
        asked.append((request, overview, painted))
        return restore_file.FileResult(None, 0.0, {}, FAST, request.output.path)

    monkeypatch.setattr(whole_file, "restore_painted", record)
    opened(session, qtbot, path)
    factor = session.state.source.overview.factor
    assert session.state.source.shape == (-(-120 // factor), -(-150 // factor))
    session.masking.fill(Rect(30, 30, 3, 5))
    settle(session, qtbot)
    session.whole_file.restore_pages(Output(tmp_path / "restored.tif"))
    settle(session, qtbot)
    assert session.complaints == []
    request, overview, painted = asked[0]
    assert (request.path, overview.shape) == (path, (120, 150))
    assert painted[0].unpack()[30:33, 30:35].all()


def test_the_window_shows_details_when_it_is_close(window, qtbot, large, monkeypatch) -> None:
    path, values = large
    window.session.set_settings(FAST)
    window.files.open_file(path)
    settle(window, qtbot)
    canvas = window.viewer.panes["damaged"].canvas
    window.viewer.viewport.fit()
    for _ in range(12):
        window.viewer.viewport.zoom_step(1)
    qtbot.waitUntil(lambda: canvas.content.detail is not None, timeout=600_000)
    settle(window, qtbot)
    pyramid, rect = canvas.content.detail
    factor = window.session.state.source.overview.factor
    assert pyramid.width == min(rect.width * factor, values.shape[1] - rect.column * factor)


def test_export_asks_where_the_whole_file_goes(window, qtbot, large, tmp_path, monkeypatch) -> None:
    from inpaint_app.window.commands import file_commands

    path, _values = large
    asked = []
    monkeypatch.setattr(
        file_commands.file_dialogs, "ask_where_to_write", lambda *words: asked.append(words) or None
    )
    window.session.set_settings(FAST)
    window.files.open_file(path)
    settle(window, qtbot)
    window.session.running.restore()
    settle(window, qtbot)
    window.files.export()
    assert len(asked) == 1


def test_a_project_holds_what_was_painted_on_all_pages(session, qtbot, large, tmp_path) -> None:
    path = tmp_path / "pages.tif"
    tifffile.imwrite(path, np.stack([large[1]] * 3), tile=(64, 64), photometric="minisblack")
    opened(session, qtbot, path)
    session.masking.fill(Rect(3, 3, 3, 5))
    settle(session, qtbot)
    session.opening.show_plane(page=1)
    settle(session, qtbot)
    write_files([project_file(tmp_path / "work.inpaint", session.state)])
    session.document.discard()
    session.opening.open_project(tmp_path / "work.inpaint")
    settle(session, qtbot)
    assert session.complaints == []
    session.opening.show_plane(page=0)
    settle(session, qtbot)
    assert session.document.mask[3:6, 3:8].all()
    session.opening.show_plane(page=3)
    settle(session, qtbot)
    assert "no page 4" in session.complaints[0]
