"""Selectors against each other, average against individual sparsity, and growth with T."""

import time
from collections.abc import Callable
from functools import partial
from itertools import product
from statistics import median

import numpy as np

from benchmarks.data import Array, image_patches, synthetic
from benchmarks.literal import literal_replacement_greedy
from benchmarks.measure import print_table, ratio, seconds_in_turns
from dictsel_core import (
    AverageSparsity,
    BlockSparsity,
    Constraint,
    IndividualSparsity,
    MatroidSparsity,
    PartitionMatroid,
    Selection,
    omp,
    replacement_ols,
    replacement_omp,
    standard_ground_set,
)
from dictsel_core._util.validation import Bools
from dictsel_core.constraints import Replacement
from dictsel_core.selection import replacement_greedy, sds_ma, sds_omp
from dictsel_core.selection.engine import OMPEngine, Problem, SelectedAtom

GROUND_SET = standard_ground_set()
SPARSITY = 5
SELECTORS: dict[str, Callable[..., Selection]] = {
    "replacement_omp": replacement_omp,
    "  with decay": partial(replacement_omp, decay=True),
    "replacement_ols": replacement_ols,
    "replacement_greedy": replacement_greedy,
    "sds_omp": sds_omp,
    "sds_ma": sds_ma,
}


def main() -> None:
    """Print all tables."""
    speed_of_selectors()
    quality_of_selectors(n_planted=20)
    quality_of_selectors(n_planted=40)
    constraints_against_individual()
    growth()


def speed_of_selectors(n_points: int = 100, n_atoms: int = 20) -> None:
    """Seconds of each selector on the paper's synthetic data."""
    data, _ = synthetic(GROUND_SET, n_points, n_atoms, SPARSITY, seed=0)
    constraint = IndividualSparsity(SPARSITY)
    seconds = seconds_in_turns(
        {name: partial(run, GROUND_SET, data, constraint, n_atoms) for name, run in SELECTORS.items()},
        rounds=15,
    )
    once = seconds_in_turns(
        {"literal": partial(literal_replacement_greedy, GROUND_SET, data, SPARSITY, n_atoms)}, rounds=1
    )["literal"][0]
    print_table(
        f"Selectors, speed: T = {n_points}, n = {len(GROUND_SET)}, k = {n_atoms}, s = {SPARSITY}, synthetic",
        ["selector", "seconds", "time / replacement_omp"],
        [
            *(
                [name, f"{median(seconds[name]):.4f}", f"{ratio(seconds, name, 'replacement_omp'):.1f}"]
                for name in SELECTORS
            ),
            [
                "replacement_greedy, one regression per swap",
                f"{once:.4f}",
                f"{once / median(seconds['replacement_omp']):.1f}",
            ],
        ],
    )


def quality_of_selectors(n_planted: int, n_points: int = 100, n_trials: int = 10) -> None:
    """Residual variance of OMP on test data, against the dictionary size.

    Where the dictionary can hold all planted atoms, next to nothing is left at its full size: that figure
    counts the trials in which an atom much like a planted one was taken for it. With more atoms planted
    than selected, it tells how well the selectors choose among them.
    """
    sizes = [5, 10, 15, 20]
    left: dict[str, list[Array]] = {name: [] for name in SELECTORS}
    constraint = IndividualSparsity(SPARSITY)
    for trial in range(n_trials):
        train, test = synthetic(GROUND_SET, n_points, n_planted, SPARSITY, seed=trial)
        for name, run in SELECTORS.items():
            dictionary = run(GROUND_SET, train, constraint, max(sizes)).dictionary
            energies = [omp(dictionary[:, :k], test, SPARSITY).residual_energy.sum() for k in sizes]
            left[name].append(np.array(energies) / (test**2).sum())
    print_table(
        f"Selectors, test residual variance: T = {n_points}, {n_planted} atoms planted, "
        f"s = {SPARSITY}, {n_trials} trials",
        ["selector", *(f"k = {k}" for k in sizes)],
        [[name, *(f"{value:.4f}" for value in np.mean(left[name], axis=0))] for name in SELECTORS],
    )


class _Counting(OMPEngine):
    """Replacement OMP that counts iterations, exact solves, and supports that change."""

    n_iterations = n_exact = n_changed = 0

    def iterate(self, eligible: Bools, new: Bools) -> SelectedAtom:
        pick = super().iterate(eligible, new)
        self.n_iterations += 1
        self.n_exact += pick.n_exact
        return pick

    def apply(self, replacement: Replacement, atom: int) -> None:
        self.n_changed += int(np.count_nonzero(replacement.added | (replacement.removed >= 0)))
        super().apply(replacement, atom)


def constraints_against_individual(n_points: int = 1000, n_atoms: int = 100) -> None:
    """Cost of all constraints, beside counts that do not depend on the machine.

    An iteration evaluates n atoms for T patches; what it costs beyond that is for the supports that change,
    O(n + ds) each, as in table 1 of the paper. The least of all rounds counts: other work can only slow them
    down.
    """
    budget, rows = SPARSITY * n_points, []
    groups = np.arange(len(GROUND_SET)) // 64
    constraints: dict[str, Constraint] = {
        "individual s = 5": IndividualSparsity(SPARSITY),
        "average s = 5, s' = 4T": AverageSparsity(SPARSITY, budget * 4 // 5),
        "average s = 8, s' = 5T": AverageSparsity(8, budget),
        "average no cap, s' = 5T": AverageSparsity(None, budget),
        "matroid, 2 of each basis": MatroidSparsity(PartitionMatroid(groups, 2)),
        "blocks of 4, s = 5": BlockSparsity.from_labels(np.arange(n_points) // 4, SPARSITY),
    }
    data_sets = {
        "synthetic": synthetic(GROUND_SET, n_points, n_atoms, SPARSITY, seed=0)[0],
        "photograph": image_patches(n_points, seed=0),
    }
    for source, data in data_sets.items():
        seconds: dict[str, list[float]] = {name: [] for name in constraints}
        for _, (name, constraint) in product(range(15), constraints.items()):
            start = time.process_time()
            replacement_omp(GROUND_SET, data, constraint, n_atoms)
            seconds[name].append(time.process_time() - start)
        base, first = min(seconds["individual s = 5"]), 0.0
        for name, constraint in constraints.items():
            engine = _Counting(Problem.of(GROUND_SET, data), constraint, n_atoms)
            for _ in range(n_atoms):
                engine.advance()
            each = min(seconds[name]) / engine.n_changed
            first = first or each
            rows.append(
                [
                    f"{source}, {name}",
                    f"{min(seconds[name]):.3f}",
                    f"{min(seconds[name]) / base:.2f}",
                    f"{engine.n_iterations}",
                    f"{engine.n_exact / engine.n_iterations:.1f}",
                    f"{engine.n_changed / n_points:.1f}",
                    f"{each / first:.2f}",
                ]
            )
    head = [
        "seconds",
        "time / individual",
        "iterations",
        "exact each",
        "changes / T",
        "time per change",
    ]
    print_table(
        f"Constraints: T = {n_points:,}, n = {len(GROUND_SET)}, k = {n_atoms}, processor time, best of 15",
        ["data, constraint", *head],
        rows,
    )


def growth(n_atoms: int = 100) -> None:
    """Cost per patch as T grows."""
    sizes = [1000, 2000, 4000, 8000, 16000]
    data, _ = synthetic(GROUND_SET, max(sizes), n_atoms, SPARSITY, seed=0)
    kinds: dict[str, Callable[[int], Constraint]] = {
        "individual": lambda size: IndividualSparsity(SPARSITY),
        "average": lambda size: AverageSparsity(8, SPARSITY * size),
    }
    rows = []
    for name, constraint in kinds.items():
        seconds = seconds_in_turns(
            {
                str(size): partial(replacement_omp, GROUND_SET, data[:size], constraint(size), n_atoms)
                for size in sizes
            },
            rounds=3,
        )
        for size in sizes:
            per_patch = ratio(seconds, str(size), str(sizes[0])) * sizes[0] / size
            rows.append([f"{name}, T = {size:,}", f"{median(seconds[str(size)]):.3f}", f"{per_patch:.2f}"])
    print_table(
        f"Growth: k = {n_atoms}, s = {SPARSITY}, synthetic",
        ["constraint", "seconds", "time per patch / that of T = 1,000"],
        rows,
    )
