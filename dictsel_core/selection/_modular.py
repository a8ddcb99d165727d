"""The modular approximation of the utility: atoms valued one by one."""

import numpy as np

from dictsel_core._support.validation import Floats, rounding_level
from dictsel_core.selection.problem import Problem


def modular_values(problem: Problem) -> Floats:
    """Return f_t({a}) for every patch and atom: (T, n)."""
    lengths = np.broadcast_to(problem.masked_lengths(), (len(problem), len(problem.ground_set)))
    squares = np.square(problem.apply_factors(np.arange(len(problem)), problem.data) @ problem.atoms)
    values = np.zeros_like(squares)
    # An atom that the mask hides almost entirely explains nothing.
    threshold = rounding_level(problem.atoms.shape[0], values.dtype) ** 2
    np.divide(squares, 2 * lengths, out=values, where=lengths > threshold)
    problem.equalize_duplicates(values)
    return values
