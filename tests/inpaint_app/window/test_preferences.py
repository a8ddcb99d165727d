"""What the window remembers: plain values in a file that need not be trusted."""

import base64
import json
import os
import stat
import sys
from pathlib import Path

import pytest

from inpaint_app.window.preferences import MAX_RECENT, Preferences, checked
from inpaint_app.window.theme.theme import Theme

LAYOUT = checked(b"where the panels are")
WINDOW = {"geometry": b"\x00\xff", "layout": LAYOUT, "is_automatic": True}


def write(path: Path, contents: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(contents if isinstance(contents, str) else json.dumps(contents))


def all_of(preferences: Preferences) -> tuple:
    state = preferences.now
    window = state.geometry, state.layout, state.is_automatic
    return state.theme, [*state.recent], preferences.folder, window


DEFAULTS = (Theme.SYSTEM, [], Path.home(), (b"", b"", False))


def test_everything_is_remembered(tmp_path) -> None:
    assert all_of(Preferences()) == DEFAULTS
    preferences = Preferences()
    preferences.store(theme=Theme.DARK)
    preferences.store(**WINDOW)
    preferences.remember_file(tmp_path / "a.png")
    preferences.remember_file(tmp_path / "b.png")
    expected = (
        Theme.DARK,
        [tmp_path / "b.png", tmp_path / "a.png"],
        tmp_path,
        tuple(WINDOW.values()),
    )
    assert all_of(preferences) == all_of(Preferences()) == expected


def test_the_newest_files_are_remembered_once_each(tmp_path) -> None:
    preferences = Preferences()
    for number in (*range(12), 5):
        preferences.remember_file(tmp_path / f"{number}.png")
    names = [path.stem for path in Preferences().now.recent]
    assert names == ["5", "11", "10", "9", "8", "7", "6", "4", "3", "2"]
    assert len(names) == MAX_RECENT
    preferences.forget_file(tmp_path / "5.png")
    assert Preferences().now.recent[0] == tmp_path / "11.png"
    preferences.store(recent=())
    assert [*Preferences().now.recent] == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are always text")
def test_names_that_are_not_text_are_remembered(tmp_path) -> None:
    path = tmp_path / os.fsdecode(b"\xff\n.png")
    Preferences().remember_file(path)
    assert [*Preferences().now.recent] == [path]


def test_a_second_window_does_not_undo_what_the_first_stored(tmp_path) -> None:
    first, second = Preferences(), Preferences()
    first.remember_file(tmp_path / "a.png")
    second.remember_file(tmp_path / "b.png")
    first.store(theme=Theme.LIGHT)
    assert [*Preferences().now.recent] == [tmp_path / "b.png", tmp_path / "a.png"]
    assert Preferences().now.theme is Theme.LIGHT


def test_resetting_forgets_everything(tmp_path, own_preferences) -> None:
    open_window = Preferences()
    open_window.remember_file(tmp_path / "a.png")
    Preferences(is_fixed=True).reset()
    assert all_of(Preferences()) == DEFAULTS
    open_window.store(theme=Theme.DARK)
    assert [*Preferences().now.recent] == []
    own_preferences.write_text("broken")
    Preferences().reset()
    assert json.loads(own_preferences.read_text())["recent"] == []


def test_fixed_preferences_are_read_and_never_changed(tmp_path, own_preferences) -> None:
    write(own_preferences, {"theme": "dark"})
    fixed = Preferences(is_fixed=True)
    fixed.store(theme=Theme.LIGHT)
    fixed.store(**WINDOW)
    fixed.remember_file(tmp_path / "a.png")
    assert all_of(fixed) == (Theme.DARK, *DEFAULTS[1:])
    assert own_preferences.read_text() == '{"theme": "dark"}'


@pytest.mark.parametrize(
    "contents",
    [
        "",
        "{",
        "[]",
        "null",
        '"theme"',
        "[General]\ntheme=dark\n",
        "[" * 100_000,
        '{"theme":' * 10_000,
        "9" * 10_000,
        '{"theme": %s}' % ("9" * 10_000),
        '{"theme": "dark"' + " " * 1_000_000 + "}",
        "\x00\xff",
    ],
    ids=range(12),
)
def test_a_broken_file_counts_as_none_and_is_mended(own_preferences, contents) -> None:
    write(own_preferences, contents)
    preferences = Preferences()
    assert all_of(preferences) == DEFAULTS
    preferences.store(theme=Theme.DARK)
    assert all_of(Preferences()) == (Theme.DARK, *DEFAULTS[1:])


BAD = {
    "theme": [None, 3, True, "blue", [], {}, ["dark"]],
    "recent": [None, "/a.png", {"0": "/a.png"}, [3], ["\ud800"], ["a\0b"], [["/a.png"]]],
    "folder": [None, 3, "\ud800", "a\0b", "x" * 5000, "/nowhere", ["/"]],
    "geometry": [None, 3, "ä", "\ud800", "AAA", [65], {}, "@ByteArray(x)"],
    "is_automatic": [None, 0, 1, "false", "true", []],
    "layout": [
        None,
        "right",
        [65],
        {"settings": None},
        base64.b64encode(LAYOUT[:-1]).decode(),
        base64.b64encode(LAYOUT[:9] + b"?" + LAYOUT[10:]).decode(),
        base64.b64encode(b"abc").decode(),
    ],
}


@pytest.mark.parametrize("name", BAD)
def test_a_value_that_is_not_what_it_should_be_is_left_out_alone(own_preferences, name) -> None:
    good = {
        "theme": "dark",
        "recent": ["/a.png"],
        "folder": "/",
        "geometry": base64.b64encode(b"abc").decode(),
        "is_automatic": True,
        "layout": base64.b64encode(LAYOUT).decode(),
    }

    def read(contents: dict[str, object]) -> tuple:
        write(own_preferences, contents)
        theme, recent, folder, window = all_of(Preferences())
        return theme, recent, folder, *window

    whole, without = read(good), read({key: value for key, value in good.items() if key != name})
    assert sum(one != other for one, other in zip(whole, without, strict=True)) == 1
    for value in BAD[name]:
        assert read(good | {name: value}) == without, value


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "no folder"])
def test_where_nothing_can_be_written_things_are_remembered_for_now(tmp_path, kind) -> None:
    path = tmp_path / "strange"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path)
    else:
        (tmp_path / "file").write_text("mine")
        path = tmp_path / "file" / "preferences.json"
    preferences = Preferences(path)
    preferences.store(theme=Theme.DARK)
    preferences.remember_file(tmp_path / "a.png")
    preferences.remember_file(tmp_path / "b.png")
    assert preferences.now.theme is Theme.DARK
    assert [*preferences.now.recent] == [tmp_path / "b.png", tmp_path / "a.png"]
    preferences.reset()
    assert all_of(preferences) == DEFAULTS


def test_where_a_file_cannot_be_replaced_things_are_remembered_for_now(tmp_path, monkeypatch) -> None:
    preferences = Preferences()
    preferences.store(unit="cm")

    def refuse(*_args: object, **_options: object) -> None:
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr("inpaint_app.window.preferences.write_files", refuse)
        preferences.store(theme=Theme.DARK)
        preferences.remember_file(tmp_path / "a.png")
    assert preferences.now.theme is Theme.DARK
    preferences.store(is_automatic=True)
    assert all_of(Preferences()) == (Theme.DARK, [tmp_path / "a.png"], tmp_path, (b"", b"", True))


def test_only_the_user_may_look_into_the_folder(own_preferences) -> None:
    Preferences().store(theme=Theme.DARK)
    assert stat.S_IMODE(own_preferences.parent.stat().st_mode) == 0o700
    assert [path.name for path in own_preferences.parent.iterdir()] == [own_preferences.name]
