"""How long the event loop of the window is blocked by what users do with large pictures."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.heartbeat import Heartbeat, Witness
from benchmarks.measure import print_table

if TYPE_CHECKING:
    from PySide6.QtCore import QPointF

    from inpaint_app.model.picture import Mask, Picture
    from inpaint_app.window.canvas.canvas import Canvas
    from inpaint_app.window.main_window import MainWindow

LIMIT = 0.050
#: Seconds between two frames of a screen.
_FRAME = 1 / 60
_WIDE_BRUSH = 231
#: Seconds after which a run or a search is cancelled.
_LONG_WORK = 12.0
_SLIDER_STEPS, _MOVES, _STROKE_MOVES, _NOTCHES = 20, 40, 400, 12


def measure(width: int, height: int) -> None:
    """Do what users do, and print the longest gap of each step."""
    window = make_window()
    path = Path(tempfile.mkdtemp()) / "scan.png"
    _write_scan(path, width, height)
    witness, rows = Witness(), []
    driver = _Driver(window, path)
    beats: dict[str, tuple[Heartbeat, float]] = {}
    for name, step in driver.steps.items():
        heart, start = Heartbeat(), time.perf_counter()
        step()
        driver.settle()
        heart.stop()
        beats[name] = heart, time.perf_counter() - start
    window.session.document.discard()
    window.close()
    stalls = witness.stalls()
    for name, (heart, seconds) in beats.items():
        times = (heart.longest, heart.longest_own(stalls), heart.most_work, LIMIT)
        rows.append([name, f"{seconds:.1f}", *(f"{1000 * value:.0f}" for value in times)])
    header = ["step", "seconds", "longest gap, ms", "not shared with a sleeper", "own work", "limit"]
    print_table(f"Gaps in the event loop, {width} x {height} RGB with scratches", header, rows)
    for name, moves in driver.moves.items():
        most, usual = (1000 * float(np.percentile(moves, part)) for part in (100, 95))
        print(
            f"{name}: 95 % of the moves take {usual:.1f} ms, {most:.1f} at most ({1000 * _FRAME:.0f} asked)."
        )
    for work, seconds in driver.cancel_seconds.items():
        print(f"Cancel ended the {work} after {seconds:.2f} s.")
    print(
        "Not shared: without times when another process, which only sleeps, was woken late as well:\n"
        "stalls of the machine, or waits for a core.\n"
        "Own work: the most processor time that the window's thread used within one gap, or by a move."
    )


def show_and_leave() -> None:
    """Open the window, handle all its events until it can be used, and close it."""
    make_window().close()


def make_window() -> MainWindow:
    """Return a window that is shown and remembers nothing."""
    from PySide6.QtWidgets import QApplication

    from inpaint_app.window.main_window import MainWindow
    from inpaint_app.window.preferences import Preferences
    from inpaint_app.window.theme.theme import ThemeSwitch

    application = QApplication.instance() or QApplication(["benchmark"])
    assert isinstance(application, QApplication)
    preferences = Preferences(Path(tempfile.mkdtemp()) / "preferences.json")
    window = MainWindow(preferences, ThemeSwitch(application))
    window.show()
    application.processEvents()
    return window


def process_events() -> None:
    """Let the window handle what has happened."""
    from PySide6.QtWidgets import QApplication

    QApplication.processEvents()


def tiled_photograph(width: int, height: int) -> Picture:
    """Return the bundled photograph, repeated."""
    from inpaint_app.io.assets import ORIGINAL, read_sample
    from inpaint_app.model.picture import Picture

    tile = read_sample(ORIGINAL).pixels
    repeats = (-(-height // tile.shape[0]), -(-width // tile.shape[1]), 1)
    return Picture(np.ascontiguousarray(np.tile(tile, repeats)[:height, :width]))


def _write_scan(path: Path, width: int, height: int) -> None:
    """Write a photograph with scratches that are transparent."""
    from inpaint_app.io.write import write_picture
    from inpaint_app.model.damage import damaged

    write_picture(damaged(tiled_photograph(width, height), _scratches(width, height)), path)


def write_scratched(path: Path, width: int, height: int) -> None:
    """Write a photograph with scratches that are white, and to be found."""
    from inpaint_app.io.write import write_picture
    from inpaint_app.model.picture import Picture

    pixels = tiled_photograph(width, height).pixels.copy()
    pixels[_scratches(width, height)] = 255
    write_picture(Picture(pixels), path)


def _scratches(width: int, height: int) -> Mask:
    mask = np.zeros((height, width), bool)
    rows = np.arange(height)
    for start in range(100, width, 400):
        columns = np.clip(start + (40 * np.sin(rows / 300)).astype(int), 0, width - 4)
        for offset in range(3):
            mask[rows, columns + offset] = True
    return mask


class _Driver:
    """Does with a window what a user does, one event at a time."""

    def __init__(self, window: MainWindow, path: Path) -> None:
        self._window, self._path = window, path
        self.cancel_seconds: dict[str, float] = {}
        self.moves: dict[str, list[float]] = {}  #: Processor time of each, drawn.
        self.steps: dict[str, Callable[[], None]] = {
            "nothing (other programs)": lambda: self._wait(2.0),
            "open": lambda: window.session.opening.open_file(path),
            "zoom": self._zoom,
            "pan": self._pan,
            "paint a stroke": lambda: self._stroke("brush"),
            "heal a stroke": lambda: self._stroke("heal"),
            "paint a wide stroke": lambda: self._stroke("brush", _WIDE_BRUSH),
            "heal a wide stroke": lambda: self._stroke("heal", _WIDE_BRUSH),
            "undo, redo": self._undo,
            "slider with previews": self._slide,
            "invert the mask, undo": self._invert,
            "run, cancelled": lambda: self._cancel_after("run", window.session.running.restore),
            "restore fast": self._restore,
            "view modes": self._modes,
            "find damage, cancelled": lambda: self._cancel_after("search", self._find),
            "close": window.session.close_picture,
        }

    @property
    def _canvas(self) -> Canvas:
        return self._window.viewer.panes["damaged"].canvas

    def settle(self) -> None:
        """Handle events until nothing is in progress."""
        from inpaint_app.window.app import wait_until_settled

        wait_until_settled(self._window)

    def _wait(self, seconds: float, *, while_busy: bool = False) -> None:
        from PySide6.QtTest import QTest

        end = time.perf_counter() + seconds
        while time.perf_counter() < end and not (while_busy and self._window.session.state.activity is None):
            QTest.qWait(5)

    def _place(self, x: float, y: float) -> QPointF:
        from PySide6.QtCore import QPointF

        return QPointF(x * self._canvas.width(), y * self._canvas.height())

    def _zoom(self) -> None:
        viewport = self._window.viewer.viewport
        for step in (1, -1):
            for _ in range(_NOTCHES):
                viewport.zoom_step(step)
                process_events()
        viewport.fit()

    def _pan(self) -> None:
        self._window.actions_.tools["pan"].trigger()
        self._window.viewer.viewport.show_actual_size()
        circle = [(0.5 + 0.4 * np.cos(a), 0.5 + 0.4 * np.sin(a)) for a in np.linspace(0, 6, _MOVES)]
        self.moves["Own work of moving the picture"] = self._drag(circle)

    def _stroke(self, tool: str, diameter: int | None = None) -> None:
        self._window.actions_.tools[tool].trigger()
        view = self._window.session.state.view
        if diameter is not None:
            self._window.session.document.set_view(view.with_brush(diameter))
        name = f"Own work of {tool}, {self._window.session.state.view.brush_diameter} pixels"
        self.moves[name] = self._drag(
            [(x, 0.5 + 0.05 * np.sin(9 * x)) for x in np.linspace(0.3, 0.6, _STROKE_MOVES)]
        )
        self._window.session.document.set_view(view)

    def _drag(self, places: list[tuple[float, float]]) -> list[float]:
        """Drag, and return the processor time of each move."""
        from PySide6.QtCore import QEvent, Qt
        from PySide6.QtGui import QMouseEvent
        from PySide6.QtWidgets import QApplication

        left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        kinds, seconds = [QEvent.Type.MouseButtonPress, *[QEvent.Type.MouseMove] * len(places)], []
        for kind, place in zip(
            (*kinds, QEvent.Type.MouseButtonRelease), (places[0], *places, places[-1]), strict=True
        ):
            at = self._place(*place)
            button = none if kind == QEvent.Type.MouseMove else left
            held = none if kind == QEvent.Type.MouseButtonRelease else left
            over = self._canvas.mapToGlobal(at)
            event = QMouseEvent(kind, at, over, button, held, Qt.KeyboardModifier.NoModifier)
            start = time.thread_time()
            QApplication.sendEvent(self._canvas, event)
            process_events()
            if kind == QEvent.Type.MouseMove:
                seconds.append(time.thread_time() - start)
        return seconds

    def _undo(self) -> None:
        for change in (self._window.session.history.undo, self._window.session.history.redo):
            change()
            self.settle()

    def _slide(self) -> None:
        session = self._window.session
        for sparsity in range(2, 2 + _SLIDER_STEPS):
            session.set_settings(replace(session.state.settings, sparsity=sparsity))
            self._wait(0.05)

    def _invert(self) -> None:
        session = self._window.session
        session.masking.invert()
        process_events()
        session.history.undo()

    def _restore(self) -> None:
        from dictsel_core import RestoreSettings

        self._window.session.set_settings(RestoreSettings.preset("fast"))
        self._window.session.running.restore()

    def _modes(self) -> None:
        for action in self._window.actions_.modes.values():
            action.trigger()
            self.settle()
        self._window.actions_.modes["side"].trigger()

    def _find(self) -> None:
        self._window.session.find_damage(("scratches", "dust"))

    def _cancel_after(self, work: str, start: Callable[[], None]) -> None:
        start()
        self._wait(_LONG_WORK, while_busy=True)
        began = time.perf_counter()
        self._window.session.cancel()
        self.settle()
        self.cancel_seconds[work] = time.perf_counter() - began
