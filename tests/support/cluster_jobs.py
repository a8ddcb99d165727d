"""Jobs for the workers of a cluster, which must be able to import them."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from inpaint_app.errors import UserError


@dataclass(frozen=True)
class EndWorker:
    """Kills its worker, once or every time."""

    trace: Path
    always: bool = False

    def __call__(self) -> int:
        if self.always or not self.trace.exists():
            self.trace.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 1


def fail() -> int:
    raise UserError("This is wrong", "mend it")
