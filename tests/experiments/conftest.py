"""Makes `experiments` and `benchmarks` importable, which are not installed; what is installed goes first."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
