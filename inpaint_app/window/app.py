"""The program `inpaint-app`: options, the window, and pictures of it."""

import importlib
import logging
import signal
import sys
from types import SimpleNamespace, TracebackType

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from inpaint_app.errors import UserError
from inpaint_app.io.write import Output, write_picture
from inpaint_app.model.damage import SAMPLES
from inpaint_app.system import state_folder
from inpaint_app.window.background.work import UNEXPECTED
from inpaint_app.window.commands.mime_data import picture_of
from inpaint_app.window.document.view_state import VIEW_MODES
from inpaint_app.window.log import TITLE, log_file, start_log
from inpaint_app.window.main_window import MainWindow
from inpaint_app.window.preferences import APPLICATION, ORGANIZATION, Preferences
from inpaint_app.window.remedies import remedies
from inpaint_app.window.theme.icons import app_icon
from inpaint_app.window.theme.theme import Theme, ThemeSwitch

_log = logging.getLogger(__name__)
_POLL_MS = 50
DESKTOP_FILE = "org.dictsel.inpaint"


def run(args: SimpleNamespace) -> int:
    """Open the window as the options ask for, and run until it is closed."""
    if args.screenshot is not None:
        Output(args.screenshot, args.overwrite).check(())
    application = QApplication.instance() or QApplication([TITLE])
    assert isinstance(application, QApplication)
    application.setOrganizationName(ORGANIZATION)
    application.setApplicationName(APPLICATION)
    application.setApplicationDisplayName(TITLE)
    application.setDesktopFileName(DESKTOP_FILE)
    application.setWindowIcon(app_icon())
    start_log(None if args.screenshot is not None else log_file())
    preferences = Preferences(is_fixed=args.screenshot is not None)
    if args.reset:
        preferences.reset()
    # What the first restoration needs is loaded before there is a window that would stand still meanwhile.
    importlib.import_module("numba")
    window = MainWindow(preferences, ThemeSwitch(application))
    _report_mistakes(window)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C in the terminal ends the program
    if args.theme is not None:
        window.choices.set_theme(Theme(args.theme))
    if args.size is not None:
        window.resize(*args.size)
    window.show()
    folder = state_folder()
    if args.screenshot is None and folder is not None:
        window.keep_state(folder / "dictsel")
    _open(window, args)
    if args.screenshot is not None:
        return _take_picture(window, args)
    return application.exec()


def _report_mistakes(window: MainWindow) -> None:
    """Report bugs as a sentence in the window, and in full on the terminal."""
    before = sys.excepthook

    def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        before(kind, error, trace)
        _log.error("A mistake", exc_info=(kind, error, trace))
        window.session.document.problem.emit(UNEXPECTED.format(kind=kind.__name__))

    sys.excepthook = report


def _open(window: MainWindow, args: SimpleNamespace) -> None:
    if args.file is not None:
        window.files.open_file(args.file, args.mask, args.reference)
    elif args.sample:
        window.files.open_sample(SAMPLES[0])


def _take_picture(window: MainWindow, args: SimpleNamespace) -> int:
    """Restore what is open, save a picture of the window, and leave."""
    session = window.session
    wait_until_settled(window)
    if session.state.source is not None:
        mode = VIEW_MODES[args.view]
        session.document.set_view(session.state.view.with_mode(mode))
        if mode.is_comparison:
            session.running.compare()
        else:
            session.running.restore()
        wait_until_settled(window)
    problem = window.banner.text
    picture = picture_of(window.grab().toImage())
    session.document.discard()
    window.close()
    if problem:
        sys.stderr.write(f"inpaint-app: {problem}\n")
        return 2
    write_picture(picture, args.screenshot, overwrite=args.overwrite)
    return 0


def wait_until_settled(window: MainWindow) -> None:
    """Handle events until nothing is in progress in a window."""
    loop, timer = QEventLoop(), QTimer()
    timer.timeout.connect(lambda: loop.quit() if window.is_settled else None)
    timer.start(_POLL_MS)
    loop.exec()
    timer.stop()


def main(args: SimpleNamespace) -> int:
    """Run, and report wrong options in one sentence."""
    try:
        return run(args)
    except UserError as error:
        sys.stderr.write(f"inpaint-app: {error.sentence(remedies())}\n")
        return 2
