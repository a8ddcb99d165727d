"""``python -m inpaint_app``: the command line, or the bundled sample where there are no arguments."""

import sys
from pathlib import Path


def main(argv: list[str]) -> int:
    """Run the command line on the arguments; without any, restore the sample."""
    from inpaint_app.cli import guarded
    from inpaint_app.cli import main as command

    if argv:
        return command(argv)

    def sample() -> int:
        from inpaint_app.cli.show_sample import show_sample

        return show_sample(Path())

    return guarded(sample)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
