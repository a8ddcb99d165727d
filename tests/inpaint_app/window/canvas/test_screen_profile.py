"""The color profile of the screen: asked of the system, or read from a file."""

import subprocess

import pytest
from PIL import ImageCms
from PySide6.QtGui import QColorSpace, QGuiApplication

from inpaint_app.errors import UserError
from inpaint_app.window.canvas import screen_color as screens
from inpaint_app.window.canvas.screen_color import SRGB, SYSTEM, screen_profile

WIDE = QColorSpace(QColorSpace.NamedColorSpace.DisplayP3).iccProfile().data()

LAB = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()


def test_a_file_is_read(tmp_path) -> None:
    path = tmp_path / "wide.icc"
    path.write_bytes(WIDE)
    assert screen_profile(str(path)) == WIDE
    assert screen_profile(SRGB) is None


@pytest.mark.parametrize(
    "contents", [b"no profile", ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()]
)
def test_what_is_no_profile_of_a_screen_is_refused_in_a_sentence(tmp_path, contents) -> None:
    path = tmp_path / "other.icc"
    path.write_bytes(contents)
    with pytest.raises(UserError, match=r"other\.icc is not the color profile of a screen"):
        screen_profile(str(path))
    with pytest.raises(UserError, match="gone"):
        screen_profile(str(tmp_path / "gone.icc"))


@pytest.mark.parametrize(
    ("answer", "profile"),
    [
        pytest.param(b"_ICC_PROFILE = " + ", ".join(map(str, WIDE)).encode() + b"\n", WIDE, id="known"),
        pytest.param(b"_ICC_PROFILE:  not found.\n", None, id="unknown"),
        pytest.param(b"_ICC_PROFILE = 1, 2, 3\n", None, id="damaged"),
        pytest.param(b"_ICC_PROFILE = \n", None, id="empty"),
    ],
)
def test_x11_is_asked_for_the_profile(monkeypatch, answer, profile) -> None:
    monkeypatch.setattr(screens.sys, "platform", "linux")
    monkeypatch.setattr(QGuiApplication, "platformName", lambda: "xcb")
    monkeypatch.setattr(screens.shutil, "which", lambda name: name)
    done = subprocess.CompletedProcess([], 0, answer)
    monkeypatch.setattr(screens.subprocess, "run", lambda *_args, **_options: done)
    assert screen_profile(SYSTEM) == profile


def test_a_system_that_does_not_answer_has_srgb(monkeypatch) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise subprocess.TimeoutExpired("xprop", 1)

    monkeypatch.setattr(QGuiApplication, "platformName", lambda: "xcb")
    monkeypatch.setattr(screens.shutil, "which", lambda name: name)
    monkeypatch.setattr(screens.subprocess, "run", fail)
    assert screen_profile(SYSTEM) is None
