"""Settings of the Python interpreter with which workers do not keep the GUI thread waiting."""

import gc
import sys

#: Seconds that Python code of a worker may keep the GUI thread waiting each time that needs the interpreter
#: again, which it does many times in one repaint; Python's own 5 ms add up to what a user notices.
_SWITCH_INTERVAL = 0.0005
#: All threads stand still while garbage is collected. A full collection takes 0.1 s once Numba is loaded, and
#: would come several times meanwhile: it is made rare. One of the middle generation looks at up to 5,000
#: objects (the first number times the second), which takes 5 ms at most; 20,000 took 20 ms.
_GC_THRESHOLDS = (1_000, 5, 4_000)


def keep_responsive() -> None:
    """Let the GUI thread wait for others as briefly as possible."""
    sys.setswitchinterval(_SWITCH_INTERVAL)
    gc.set_threshold(*_GC_THRESHOLDS)
