"""``python -m inpaint_app``: the window on the bundled sample, or the command line on arguments."""

import sys
from collections.abc import Callable


def main(argv: list[str] | None = None) -> int:
    """Run the command line on the arguments; without any, show the sample."""
    from inpaint_app.cli import exit_on_interrupt, run_command
    from inpaint_app.cli import main as command

    if sys.argv[1:] if argv is None else argv:
        return command(argv)
    with exit_on_interrupt("inpaint"):
        from inpaint_app.launch import main as window
        from inpaint_app.system import has_display
    if has_display():
        return window(["--sample"])

    def load() -> Callable[[], int]:
        from pathlib import Path

        from inpaint_app.cli.show_sample import show_sample

        return lambda: show_sample(Path())

    return run_command(load, is_process=argv is None)


if __name__ == "__main__":
    sys.exit(main())
