"""Small pictures of recent files: made and read in the background, for this user alone."""

import stat
import sys

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QToolButton
from windows import find, opened, settle

from inpaint_app.model.picture import Picture
from inpaint_app.window.viewer.thumbnails import SIZE, Thumbnails, thumbnail


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "state" / "thumbnails"


@pytest.fixture
def made(workers, folder):
    thumbnails = Thumbnails(workers)
    thumbnails.start(folder)
    return thumbnails


def wait(workers, qtbot) -> None:
    qtbot.waitUntil(lambda: workers.n_active == 0, timeout=600_000)


def photograph(height: int, width: int) -> Picture:
    return Picture(np.full((height, width, 3), (200, 40, 10), np.uint8))


@pytest.mark.parametrize("shape", [(3000, 4000), (4000, 500), (40, 60), (1, 1)])
def test_a_thumbnail_keeps_shape_and_color(shape) -> None:
    image = thumbnail(photograph(*shape))
    assert image.width() <= SIZE.width()
    assert image.height() <= SIZE.height()
    assert image.width() / image.height() == pytest.approx(shape[1] / shape[0], rel=0.05)
    assert image.pixelColor(0, 0).getRgb()[:3] == (200, 40, 10)


def test_what_is_kept_is_read_again(made, workers, qtbot, folder, tmp_path) -> None:
    made.keep(tmp_path / "a.png", photograph(300, 400))
    wait(workers, qtbot)
    with qtbot.waitSignal(made.changed, timeout=600_000):
        made.read([tmp_path / "a.png", tmp_path / "b.png"])
    assert list(made.images) == [tmp_path / "a.png"]
    assert made.images[tmp_path / "a.png"].width() == 320


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of a folder are others there")
def test_nobody_else_can_read_them_or_tell_what_they_are_of(made, workers, qtbot, folder, tmp_path) -> None:
    made.keep(tmp_path / "secret.png", photograph(300, 400))
    wait(workers, qtbot)
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "secret" not in file.name


def test_those_of_forgotten_files_are_removed(made, workers, qtbot, folder, tmp_path) -> None:
    for name in ("a.png", "b.png"):
        made.keep(tmp_path / name, photograph(30, 40))
    wait(workers, qtbot)
    with qtbot.waitSignal(made.changed, timeout=600_000):
        made.read([tmp_path / "b.png"])
    assert len(list(folder.iterdir())) == 1
    with qtbot.waitSignal(made.changed, timeout=600_000):
        made.read([])
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("contents", [b"", b"no picture", b"\x89PNG\r\n\x1a\n" + bytes(50)])
def test_a_file_that_is_none_of_ours_is_left_out(made, workers, qtbot, folder, tmp_path, contents) -> None:
    made.keep(tmp_path / "a.png", photograph(30, 40))
    wait(workers, qtbot)
    next(folder.iterdir()).write_bytes(contents)
    with qtbot.waitSignal(made.changed, timeout=600_000):
        made.read([tmp_path / "a.png"])
    assert dict(made.images) == {}


def test_a_picture_that_is_larger_than_ours_is_left_out(made, workers, qtbot, folder, tmp_path) -> None:
    made.keep(tmp_path / "a.png", photograph(30, 40))
    wait(workers, qtbot)
    Image.fromarray(np.zeros((1000, 1000), np.uint8)).save(next(folder.iterdir()))
    with qtbot.waitSignal(made.changed, timeout=600_000):
        made.read([tmp_path / "a.png"])
    assert dict(made.images) == {}


def test_the_start_page_shows_recent_pictures_and_opens_them(make_window, qtbot, files, tmp_path) -> None:
    first = make_window()
    first.keep_state(tmp_path / "state")
    opened(first, qtbot, files["damaged"])
    opened(first, qtbot, files["whole"])
    first.session.document.discard()
    first.close()
    second = make_window()
    second.keep_state(tmp_path / "state")
    settle(second, qtbot)
    QApplication.processEvents()  # what is put into a layout is shown in an event of its own
    cards = [card for card in second.welcome.findChildren(QToolButton) if card.isVisible()]
    assert [card.accessibleName() for card in cards] == ["Open whole.png", "Open damaged.png"]
    shown = cards[0].icon().pixmap(160, 120).toImage()
    assert len({shown.pixelColor(x, 60).rgb() for x in range(40, 120, 4)}) > 5, "a picture, not an icon"
    cards[1].click()
    settle(second, qtbot)
    assert second.session.state.source.path == files["damaged"]


def test_recent_pictures_do_not_make_the_window_larger(window, tmp_path) -> None:
    before = window.minimumSizeHint()
    window.resize(1366, 768)
    window.welcome.show_recent([tmp_path / f"{number}.png" for number in range(10)], {})
    QApplication.processEvents()
    assert len([card for card in window.welcome.findChildren(QToolButton) if card.isVisible()]) == 10
    assert window.minimumSizeHint() == before


def test_forgetting_recent_files_removes_their_thumbnails(window, qtbot, files, tmp_path) -> None:
    window.keep_state(tmp_path / "state")
    opened(window, qtbot, files["whole"])
    window.session.document.discard()
    window.files.close_picture()
    settle(window, qtbot)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    QApplication.processEvents()
    assert find(window.welcome, QToolButton, "Open whole.png").isVisible()
    assert list((tmp_path / "state" / "thumbnails").iterdir())
    window.menus.recent.actions()[-1].trigger()
    settle(window, qtbot)
    assert list((tmp_path / "state" / "thumbnails").iterdir()) == []


def test_forgetting_recent_files_removes_thumbnails_while_a_picture_is_open(
    window, qtbot, files, tmp_path
) -> None:
    window.keep_state(tmp_path / "state")
    opened(window, qtbot, files["whole"])
    assert list((tmp_path / "state" / "thumbnails").iterdir())
    window.menus.recent.actions()[-1].trigger()
    settle(window, qtbot)
    assert list((tmp_path / "state" / "thumbnails").iterdir()) == []


def test_one_that_cannot_be_written_is_nothing_to_complain_about(
    made, workers, qtbot, folder, tmp_path
) -> None:
    said = []
    workers.failed.connect(said.append)
    made.keep(tmp_path / "a.png", photograph(30, 40))
    wait(workers, qtbot)
    (file,) = folder.iterdir()
    file.unlink()
    file.mkdir()
    made.keep(tmp_path / "a.png", photograph(30, 40))
    wait(workers, qtbot)
    assert said == []
