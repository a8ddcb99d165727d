"""What holds for every test: the package that was meant, no display, repeatable examples."""

import os
import signal
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

PACKAGES = ("dictsel_core", "inpaint_app")

# No window of a test appears on the developer's screen.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Not among the options of pytest, which refuses those of a plugin that is left out where Qt cannot be loaded.
os.environ.setdefault("PYTEST_QT_API", "pyside6")

# A shell that starts tests in the background may let them ignore Ctrl-C, and nohup the end of a terminal; the
# programs they start would, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Folders that a group can write to, as some systems make them, are not trusted with machine code.
os.umask(0o022)

# A busy machine is no failure, and the examples are the same in every run.
settings.register_profile("project", deadline=None, derandomize=True)
settings.load_profile("project")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--installed",
        action="store_true",
        help="test the installed package, not the checkout",
    )


def pytest_configure(config: pytest.Config) -> None:
    site_packages = Path(sysconfig.get_path("purelib")).resolve()
    for package in PACKAGES if config.getoption("--installed") else ():
        origin = _origin(package)
        if origin is None or not origin.is_relative_to(site_packages):
            raise pytest.UsageError(f"The installed {package} is to be tested, but it is found at {origin}.")


def pytest_report_header() -> list[str]:
    return [f"{package}: {_origin(package)}" for package in PACKAGES]


def _origin(package: str) -> Path | None:
    """Return the file that a package is imported from."""
    spec = find_spec(package)
    return Path(spec.origin).resolve() if spec and spec.origin else None
