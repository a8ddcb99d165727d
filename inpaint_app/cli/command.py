"""The definition of a command of `inpaint`."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One of the commands; each is defined in its own module and listed in `program.COMMANDS`."""

    usage: str  #: How it is called, without "inpaint": its name, arguments and options.
    summary: str  #: One sentence for the list of commands and for its help.
    details: str  #: The end of its help: examples, explanations, JSON keys.
    add_options: Callable[[argparse.ArgumentParser], None]  #: Adds its arguments and options to a parser.
    run: Callable[[argparse.Namespace], int]  #: Takes the parsed arguments and returns the exit code.

    @property
    def name(self) -> str:
        """The first word of the usage."""
        return self.usage.split()[0]
