"""Set up the processes of a cluster on this machine: Dask calls `dask_setup` when one has started."""

import signal


def dask_setup(_worker: object) -> None:
    """Leave Ctrl-C to the command, which ends its workers itself; each would print a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
