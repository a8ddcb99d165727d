"""Dictionary learners of other packages, with which selection is compared: each takes patches as rows."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from dictsel_core.learning import ksvd
from experiments.data import PATCH, Array

#: Points of a mini-batch, and the weight of the absolute values in the lasso.
BATCH, PENALTY = 256, 1.0


class Learner(NamedTuple):
    """A learner: its package, the most points that it is asked to learn from, and how it is called."""

    package: str
    most_points: int
    learn: Callable[[Array, int], Array]

    @property
    def is_installed(self) -> bool:
        """Whether its package can be imported."""
        return find_spec(self.package) is not None


def _mini_batch(data: Array, n_atoms: int) -> Array:
    from sklearn.decomposition import MiniBatchDictionaryLearning

    learner = MiniBatchDictionaryLearning(
        n_atoms, alpha=PENALTY, max_iter=1, batch_size=BATCH, tol=0, max_no_improvement=None, random_state=0
    )
    return np.asarray(learner.fit(data).components_.T)


def _spams(data: Array, n_atoms: int) -> Array:
    import spams

    options = {"K": n_atoms, "lambda1": PENALTY, "batchsize": BATCH, "iter": -(-len(data) // BATCH)}
    return np.asarray(
        spams.trainDL(np.asfortranarray(data.T, np.float64), mode=2, numThreads=1, verbose=False, **options)
    )


def _ksvd(data: Array, n_atoms: int) -> Array:
    return np.asarray(ksvd(data, n_atoms, 5, max_iterations=20, rng=np.random.default_rng(0)).dictionary)


def _convolutional(data: Array, n_atoms: int) -> Array:
    """Learn filters of the size of a patch, from pictures of 32 x 32 patches."""
    from sporco.dictlrn.onlinecdl import OnlineConvBPDNDictLearn

    inner = {"MaxMainIter": 50, "rho": 5.0, "AutoRho": {"Enabled": False}}
    options = OnlineConvBPDNDictLearn.Options({"Verbose": False, "CBPDN": inner})
    start = np.random.default_rng(0).normal(size=(PATCH, PATCH, n_atoms))
    learner = OnlineConvBPDNDictLearn(start, 0.2, options)
    for picture in _mosaics(data):
        learner.solve(picture)
    return np.asarray(learner.getdict().reshape(PATCH**2, n_atoms))


def _mosaics(data: Array) -> list[Array]:
    """Put patches beside each other, as many as fit into squares of at most 32 x 32."""
    side = min(32, int(np.sqrt(len(data))))
    count = len(data) // side**2
    tiles = data[: count * side**2].reshape(count, side, side, PATCH, PATCH).swapaxes(2, 3)
    return list(tiles.reshape(count, side * PATCH, side * PATCH))


LEARNERS = {
    "K-SVD": Learner("dictsel_core", 10_000, _ksvd),
    "scikit-learn": Learner("sklearn", 10_000, _mini_batch),
    "SPAMS": Learner("spams", 1_000_000, _spams),
    "SPORCO": Learner("sporco", 1_000, _convolutional),
}
