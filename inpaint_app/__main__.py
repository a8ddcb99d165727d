"""``python -m inpaint_app``: the window on the bundled sample, or the command line on arguments."""

import sys
from pathlib import Path


def main(argv: list[str]) -> int:
    """Run the command line on the arguments; without any, show the sample."""
    from inpaint_app.cli import guarded
    from inpaint_app.cli import main as command
    from inpaint_app.launch import has_display
    from inpaint_app.launch import main as window

    if argv:
        return command(argv)
    if has_display():
        return window(["--sample"])

    def sample() -> int:
        from inpaint_app.cli.show_sample import show_sample

        return show_sample(Path())

    return guarded(sample)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
