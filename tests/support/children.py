"""Work in a process of its own, also without the rights of root."""

import os
from collections.abc import Callable

NOBODY = 65534


def in_child(work: Callable[[], object], *, unprivileged: bool = False) -> int:
    """Run in a forked process; return its wait status (0 = ended without exception).

    Parameters
    ----------
    work : callable
        What to run; it must not import anything that the parent has not.
    unprivileged : bool
        Whether to give up the rights of root first, who may read and write everything.
    """
    child = os.fork()
    if child == 0:
        try:
            if unprivileged and os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]
