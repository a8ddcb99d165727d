"""What the window's command does where Qt is not installed."""

import subprocess
import sys

from inpaint_app import launch


def test_it_says_in_one_sentence_how_to_install_qt(tmp_path):
    program = (
        "import sys; sys.modules['PySide6'] = None; from inpaint_app.launch import main; "
        "sys.exit(main(['--screenshot', 'window.png']))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    (sentence,) = done.stderr.splitlines()
    assert sentence.endswith('not installed; install it with: pip install "dictsel[app]"')


def test_a_library_of_the_system_that_qt_lacks_is_named():
    error = ImportError("libEGL.so.1: cannot open shared object file", name="PySide6.QtGui")
    assert "libEGL.so.1" in launch._reason(error)
