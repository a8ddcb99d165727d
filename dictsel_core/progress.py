"""Long work step by step, and what a first run compiles."""

from dictsel_core._util.compiled import Compilation, compilation, follow_compilation
from dictsel_core._util.parallel import GeneratorRun, Run

__all__ = ["Compilation", "GeneratorRun", "Run", "compilation", "follow_compilation"]
