"""Set up the processes of workers."""

import ctypes
import signal
from functools import cache

# Of the C library of Linux, malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT_BYTES, _MAPPED_BYTES = 2**28, 2**25


def dask_setup(_worker: object) -> None:
    """Leave Ctrl-C to the command, which ends its workers itself; each would print a traceback.

    Dask calls this when a worker of a cluster on this machine has started.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@cache
def keep_freed_memory() -> None:
    """Let this process keep some memory that it has freed.

    Dask has its workers give back every 64 KB at once, and the system clear them when they are wanted again:
    for a restoration, 30 times as many page faults and two thirds more processor time.
    """
    try:
        adjust = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # another C library has its own ways
        return
    adjust(_TRIM_THRESHOLD, _KEPT_BYTES)
    adjust(_MMAP_THRESHOLD, _MAPPED_BYTES)
