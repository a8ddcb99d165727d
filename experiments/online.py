"""Figure 2: online selection and online learning, k = 20 and s = 5."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import sklearn

from benchmarks.measure import print_table
from dictsel_core import IndividualSparsity, replacement_omp
from dictsel_core.online import (
    AdaptiveHedge,
    ExpertBank,
    FixedHedge,
    OnlineReplacementGreedy,
    OnlineReplacementOMP,
    OnlineSDSMA,
    OnlineSelector,
    alpha_regret,
)
from dictsel_core.pursuit.codes import code_data
from experiments.coding import residuals_of_rounds
from experiments.data import GROUND_SET, Array, Photographs, seed, synthetic_sample
from experiments.options import Options
from experiments.plots import curve, label, legend, logarithmic, panels, save
from experiments.results import Row, column, values, where
from experiments.runner import Experiment, Task

N_ATOMS, SPARSITY = 20, 5
SELECTORS: dict[str, Callable[..., OnlineSelector]] = {
    "SDS_MA": OnlineSDSMA,
    "RG": OnlineReplacementGreedy,
    "ROMP": OnlineReplacementOMP,
    "ROMP, M = 1": partial(OnlineReplacementOMP, smoothness=1.0),
}
#: Learning rates: from the bound in the paper, the same for all, or adapted to the gains.
RATES = {"printed": "Hedge", "adaptive": "AdaHedge"}
LEARNER = "Mairal et al."
#: The same with the dictionary update of scikit-learn in 2018, when the paper was written.
OLD_LEARNER = "Mairal et al., as in 2018"
#: Rounds that are averaged into one point of a curve.
_BINS = 20
#: Columns of the printed table: residual of the last rounds and of all, average regret.
_QUANTITIES = ("residual", "all rounds", "regret T/4", "regret T")


class OnlineExperiment(Experiment):
    """Residual variance and average regret against the number of rounds."""

    name = "online"
    title = "Online selection, k = 20, s = 5"

    def tasks(self, options: Options) -> list[Task]:
        """One task per trial and data set."""
        photographs = Photographs(options.images)
        rounds = options.at_scale(2000, 1000, 40)
        tasks = []
        for trial in range(options.n_trials(50, 2)):
            for data in ("synthetic", "images"):
                run = partial(_trial, data, rounds, trial, photographs)
                tasks.append(Task(f"{data} T={rounds} trial={trial}", run))
        return tasks

    def report(self, rows: list[Row], folder: Path) -> list[Path]:
        """Draw residuals and regrets, one column per rate and data set, and print the ends of the curves."""
        kinds = list(product(RATES, ("synthetic", "images")))
        figure, axes = panels(2, len(kinds))
        for place, (rate, data) in enumerate(kinds):
            part = [row for row in where(rows, data=data) if row["rate"] in (rate, "")]
            title = f"{'synthetic' if data == 'synthetic' else 'photographs'}, {RATES[rate]}"
            for line, quantity in zip(axes, ("residual", "regret"), strict=True):
                for method in values(part, "method"):
                    trials = where(part, method=method)
                    rounds = values(trials, "round")
                    table = column(trials, quantity).reshape(-1, len(rounds))
                    curve(line[place], method, rounds, table, band=data == "synthetic")
            label(axes[0, place], title, "round", "residual variance")
            axes[0, place].set_ylim(bottom=0)
            label(axes[1, place], title, "round", "average regret / energy")
            logarithmic(axes[1, place], "x", "y")
        legend(figure, list(axes.flat))
        _print(rows)
        return save(figure, folder, self.name)


def _trial(data: str, rounds: int, trial: int, photographs: Photographs) -> list[Row]:
    if data == "synthetic":
        points = synthetic_sample(rounds, N_ATOMS, SPARSITY, trial).train
    else:
        sample = photographs.sample(rounds // 2, trial)
        points = np.concatenate([sample.train, sample.test])
    energy = np.square(points).sum(axis=1)
    offline = replacement_omp(GROUND_SET, points, IndividualSparsity(SPARSITY), N_ATOMS)
    reference = (energy - code_data(offline.dictionary, points, SPARSITY).residual_energy) / 2
    rows = []
    for method, rate, dictionaries in _games(points, trial):
        residuals = residuals_of_rounds(dictionaries, points, SPARSITY)
        regret = alpha_regret((energy - residuals) / 2, reference)
        bins = np.array_split(np.arange(rounds), _BINS)
        rows += [
            {
                "data": data,
                "trial": trial,
                "method": method,
                "rate": rate,
                "round": int(part[-1]) + 1,
                "residual": round(float(residuals[part].sum() / energy[part].sum()), 8),
                "regret": round(float(regret[part[-1]] / (energy[: part[-1] + 1].sum() / 2)), 8),
            }
            for part in bins
        ]
    return rows


def _games(points: Array, trial: int) -> Iterator[tuple[str, str, Array]]:
    """Yield (method, rate, dictionary of every round)."""
    for rate in RATES:
        for number, (name, selector) in enumerate(SELECTORS.items()):
            learners = _learners(rate, len(points), np.random.default_rng(seed(trial, number)))
            yield name, rate, _play(selector(GROUND_SET, N_ATOMS, SPARSITY, learners=learners), points)
    # Its checks of every single point would take as long as the learning.
    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        yield LEARNER, "", _learn(points, trial)
        yield OLD_LEARNER, "", _learn_as_in_2018(points, trial)


def _learners(rate: str, rounds: int, rng: np.random.Generator) -> ExpertBank:
    n = len(GROUND_SET)
    if rate == "adaptive":
        return AdaptiveHedge(n, n_learners=N_ATOMS, rng=rng)
    return FixedHedge(n, n_learners=N_ATOMS, rate=np.sqrt(2 * np.log(n) / rounds), rng=rng)


def _play(player: OnlineSelector, points: Array) -> Array:
    dictionaries = np.zeros((*points.shape, N_ATOMS))
    for y, dictionary in zip(points, dictionaries, strict=True):
        atoms = player.play()
        dictionary[:, : len(atoms)] = GROUND_SET.atoms[:, atoms]
        player.observe(y)
    return dictionaries


def _learn(points: Array, trial: int) -> Array:
    """Online dictionary learning of Mairal et al. (2010), by scikit-learn, one point at a time.

    Its penalty of 1, scikit-learn's own, did better on both data sets than 0.1 and 1.2 / sqrt(d).
    """
    from sklearn.decomposition import MiniBatchDictionaryLearning

    learner = MiniBatchDictionaryLearning(N_ATOMS, alpha=1.0, batch_size=1, random_state=trial)
    dictionaries = np.zeros((*points.shape, N_ATOMS))
    for t, y in enumerate(points):
        if t:  # before the first point it has no dictionary
            atoms = learner.components_.T
            lengths = np.linalg.norm(atoms, axis=0)
            dictionaries[t] = atoms / np.where(lengths > 0, lengths, 1)
        learner.partial_fit(y[None])
    return dictionaries


def _learn_as_in_2018(points: Array, trial: int) -> Array:
    """Online dictionary learning with the dictionary update that scikit-learn had in 2018.

    An atom j of the dictionary D becomes the unit vector along R A_j, where R = B - D A without the j-th atom
    and A, B are the sums over codes and points, instead of along the j-th column of R, which is the minimizer
    (scikit-learn issue 4866). Atoms that are not used become random.
    """
    from sklearn.decomposition import sparse_encode

    rng = np.random.default_rng(seed(trial))
    size = points.shape[1]
    dictionary = np.zeros((N_ATOMS, size))
    dictionary[0] = points[0] / np.linalg.norm(points[0])  # the SVD of a single point
    codes, products = np.zeros((N_ATOMS, N_ATOMS)), np.zeros((size, N_ATOMS))
    played = np.zeros((*points.shape, N_ATOMS))
    for t, y in enumerate(points):
        if t:
            played[t] = dictionary.T
        code = sparse_encode(y[None], dictionary, algorithm="lasso_lars", alpha=1.0)[0]
        codes = codes * (t + 1) / (t + 2) + np.outer(code, code)
        products = products * (t + 1) / (t + 2) + np.outer(y, code)
        residual = products - dictionary.T @ codes
        for j in range(N_ATOMS):
            residual += np.outer(dictionary[j], codes[j])
            atom = residual @ codes[j]
            if np.square(atom).sum() < 1e-20:
                atom = rng.normal(size=size)
                codes[j] = 0.0
            dictionary[j] = atom / np.linalg.norm(atom)
            residual -= np.outer(dictionary[j], codes[j])
    return played


def _print(rows: list[Row]) -> None:
    last = max(values(rows, "round"))
    lines = []
    for method, rate in dict.fromkeys((row["method"], row["rate"]) for row in rows):
        line = [method, RATES.get(rate, "")]
        for data in ("synthetic", "images"):
            mine = where(rows, method=method, rate=rate, data=data)
            early = min(values(mine, "round"), key=lambda number: abs(number - last / 4))
            line += [
                f"{column(where(mine, round=last), 'residual').mean():.3f}",
                f"{column(mine, 'residual').mean():.3f}",
                f"{column(where(mine, round=early), 'regret').mean():.3f}",
                f"{column(where(mine, round=last), 'regret').mean():.3f}",
            ]
        lines.append(line)
    kinds = [f"{what}, {data}" for data in ("syn.", "phot.") for what in _QUANTITIES]
    print_table(
        f"Online: T = {last:,}, {len(values(rows, 'trial'))} trials; average regret over energy",
        ["method", "learners", *kinds],
        lines,
    )


EXPERIMENT = OnlineExperiment()
