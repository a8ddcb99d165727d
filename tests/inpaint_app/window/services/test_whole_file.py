"""A file that cannot be shown is offered to be restored as a whole; nothing of it is dropped."""

import numpy as np
import pytest
import tifffile
from windows import FAST, opened, settle

from inpaint_app.io.write import Output
from inpaint_app.window.commands import file_commands

NO_DATA = 4_294_967_295


@pytest.fixture
def stack(tmp_path):
    """A file of numbers that float32 cannot hold, with a hole."""
    values = np.random.default_rng(0).integers(2**30, 2**31, (24, 24), np.uint32)
    values[8:10, 8:10] = NO_DATA
    path = tmp_path / "counts.tif"
    tags = [(42113, "s", 0, str(NO_DATA), True)]
    tifffile.imwrite(path, values, photometric="minisblack", extratags=tags)
    return path


def test_all_of_it_is_restored(session, qtbot, stack, tmp_path) -> None:
    notices = []
    session.document.notice.connect(notices.append)
    session.set_settings(FAST)
    session.opening.open_file(stack)
    settle(session, qtbot)
    offer = session.unseen
    assert session.state.source is None
    assert offer.sentence.startswith(str(stack))
    assert "float32" in offer.sentence
    with qtbot.waitSignal(session.output_wanted, timeout=600_000):
        offer.accept()
    assert session.state.unshown.path == stack
    session.whole_file.restore(Output(tmp_path / "restored.tif"))
    assert session.state.activity.kind == "file"
    settle(session, qtbot)
    assert (offer.sentence, session.state.activity, session.complaints) == ("", None, [])
    assert any("restored.tif" in notice for notice in notices)
    given, written = tifffile.imread(stack), tifffile.imread(tmp_path / "restored.tif")
    assert written.shape == given.shape
    assert not (written == NO_DATA).any()
    assert np.array_equal(written[given != NO_DATA], given[given != NO_DATA])


def test_cancelling_writes_nothing(session, qtbot, stack, tmp_path) -> None:
    session.opening.open_file(stack)
    settle(session, qtbot)
    session.whole_file.restore(Output(tmp_path / "restored.tif"))
    session.cancel()
    settle(session, qtbot)
    assert not (tmp_path / "restored.tif").exists()


def test_another_picture_ends_the_offer(session, qtbot, stack, files) -> None:
    session.opening.open_file(stack)
    settle(session, qtbot)
    opened(session, qtbot, files["whole"])
    assert session.unseen.sentence == ""


def test_a_reference_with_pages_is_a_problem_of_the_reference(session, qtbot, stack, files) -> None:
    session.opening.open_file(files["damaged"], reference=stack)
    settle(session, qtbot)
    assert len(session.complaints) == 1
    assert session.unseen.sentence == ""


def test_the_window_asks_where_it_goes(window, qtbot, stack, tmp_path, monkeypatch) -> None:
    target = tmp_path / "all.tif"
    monkeypatch.setattr(file_commands.file_dialogs, "ask_where_to_write", lambda *_args: target)
    window.session.set_settings(FAST)
    window.files.open_file(stack)
    settle(window, qtbot)
    window.offers[2].accepted.emit()
    settle(window, qtbot)
    assert target.is_file()


def test_the_window_asks_before_a_file_is_given_up(window, qtbot, stack, tmp_path, monkeypatch) -> None:
    asked = []

    def refuse(*words) -> bool:
        asked.append(words)
        return False

    monkeypatch.setattr(file_commands.file_dialogs, "ask_to_discard", refuse)
    window.files.open_file(stack)
    settle(window, qtbot)
    window.session.whole_file.restore(Output(tmp_path / "all.tif"))
    assert not window.close()
    assert len(asked) == 1
    window.session.close_picture()
    assert window.session.state.activity is not None, "closing a picture is no reason to end it"
    window.session.cancel()
    settle(window, qtbot)
    assert not (tmp_path / "all.tif").exists()
