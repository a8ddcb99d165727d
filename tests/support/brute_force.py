"""Feasible replacements by enumeration: the definition (eq. 3), with no cleverness."""

from itertools import product

import numpy as np


def options(support, atom):
    """All (added, removed slot or -1) of one patch."""
    additions = [False] if atom in support else [False, True]
    return [(add, slot) for add in additions for slot in range(-1, len(support))]


def apply(support, atom, option):
    added, removed = option
    kept = [a for slot, a in enumerate(support) if slot != removed]
    return [*kept, atom] if added else kept


def best_choice(constraint, supports, atom, worth):
    """Best (value, options) over all feasible replacements; `worth(t, option)` is one patch's part."""
    worths = [[(o, worth(t, o)) for o in options(z, atom)] for t, z in enumerate(supports)]
    choices = [(sum(w for _, w in choice), [o for o, _ in choice]) for choice in product(*worths)]
    choices.sort(key=lambda choice: -choice[0])  # stable: of equal ones, the one that changes least
    for value, choice in choices:
        changed = [np.array(apply(z, atom, o), int) for z, o in zip(supports, choice, strict=True)]
        if constraint.is_feasible(changed):
            return value, choice
    raise AssertionError("Changing nothing is always feasible.")


def best_replacement(constraint, supports, atom, worth):
    """Best value over all feasible replacements."""
    return best_choice(constraint, supports, atom, worth)[0]


def is_replacement(constraint, supports, atom, replacement):
    """Whether a library's `Replacement` is feasible."""
    pairs = zip(replacement.added.tolist(), replacement.removed.tolist(), strict=True)
    choice = list(pairs)
    if any(o not in options(z, atom) for z, o in zip(supports, choice, strict=True)):
        return False
    changed = [np.array(apply(z, atom, o), int) for z, o in zip(supports, choice, strict=True)]
    return constraint.is_feasible(changed)


def pad_supports(supports, width):
    """Supports as rows of one array, padded with -1."""
    rows = [[*support, *[-1] * (width - len(support))] for support in supports]
    return np.array(rows, dtype=np.intp).reshape(-1, width)
