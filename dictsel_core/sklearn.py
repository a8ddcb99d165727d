"""Dictionary selection as a scikit-learn estimator. It needs scikit-learn, which is an extra."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import dct

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import _check_sample_weight, check_array, check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        "dictsel_core.sklearn needs scikit-learn: install it with pip install 'dictsel[sklearn]'."
    ) from error

from dictsel_core._util.validation import as_count, as_matrix, as_positive, masked_entries
from dictsel_core.atoms import GroundSet, ground_set_from_array
from dictsel_core.constraints import AverageSparsity, Constraint, IndividualSparsity
from dictsel_core.online import OnlineReplacementOMP
from dictsel_core.pursuit import SparseCodes, constrained_omp
from dictsel_core.selection import Selection, replacement_greedy, replacement_ols, replacement_omp

__all__ = ["DictionarySelector"]

Array = NDArray[Any]

_SELECTORS = {"omp": replacement_omp, "ols": replacement_ols, "greedy": replacement_greedy}


class DictionarySelector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Select a dictionary from candidate atoms, and code data sparsely in it.

    `fit` selects by Replacement OMP (or OLS, or Greedy), `partial_fit` by online Replacement OMP, one sample
    after the other. `transform` codes by orthogonal matching pursuit. NaN is a missing entry: selection and
    codes depend on the others only.

    Parameters
    ----------
    n_components : int or None, optional
        The dictionary size k. Default is the number of features.
    sparsity : int or None, optional
        Maximum number of atoms per sample. Default is a tenth of the number of features, at least 1.
    mean_sparsity : float or None, optional
        Average number of atoms per sample, if all samples share a budget (`AverageSparsity`). The codes of
        samples then depend on each other, and `partial_fit` does not use it. By default they share none.
    selector : {"omp", "ols", "greedy"}, optional
        Default is "omp". "greedy" cannot be used with `mean_sparsity`.
    ground_set : GroundSet, (n_candidates, n_features) array_like, or None, optional
        The candidate atoms. Default is the orthonormal discrete cosine basis and the unit vectors.
    random_state : int, RandomState or None, optional
        For `partial_fit`. Default is None.

    Attributes
    ----------
    components_ : (n_components, n_features) ndarray
        The selected atoms as rows.
    indices_ : (n_components,) ndarray of int
        Their indices in the ground set.
    ground_set_ : GroundSet
        The candidate atoms.
    certificate_ : Certificate
        How much of the best possible `fit` has reached at least.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from dictsel_core.sklearn import DictionarySelector
    >>> rng = np.random.default_rng(0)
    >>> data = rng.normal(size=(200, 4)) @ np.eye(16)[[2, 3, 5, 7]]
    >>> data[rng.random(data.shape) < 0.1] = np.nan  # missing
    >>> selector = DictionarySelector(n_components=4, sparsity=4).fit(data)
    >>> sorted(selector.components_.argmax(axis=1).tolist())
    [2, 3, 5, 7]
    >>> selector.transform(data).shape
    (200, 4)
    """

    def __init__(
        self,
        n_components: int | None = None,
        sparsity: int | None = None,
        *,
        mean_sparsity: float | None = None,
        selector: Literal["omp", "ols", "greedy"] = "omp",
        ground_set: GroundSet | ArrayLike | None = None,
        random_state: Any = None,  # noqa: ANN401  (as scikit-learn has it)
    ) -> None:
        self.n_components = n_components
        self.sparsity = sparsity
        self.mean_sparsity = mean_sparsity
        self.selector = selector
        self.ground_set = ground_set
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Select the dictionary from all samples.

        Parameters
        ----------
        X : (n_samples, n_features) array_like
            NaN where missing.
        y : None
            Ignored.
        sample_weight : (n_samples,) array_like, optional
            How many times each sample counts; its place in a shared budget (`mean_sparsity`) is one.
            Default is 1.
        """
        data, mask = self._checked(X, reset=True)
        weights = _weights(sample_weight, data)
        self._prepare()
        self._player: OnlineReplacementOMP | None = None
        select: Any = _SELECTORS[self.selector]
        constraint = self._constraint(len(data))
        selection: Selection = select(
            self.ground_set_, data, constraint, self._n_atoms, mask=mask, weights=weights
        )
        self.certificate_ = selection.certificate
        self._keep(selection.indices, data.dtype)
        return self

    def partial_fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Continue online selection with more samples, in their order (section 5 of the paper).

        The parameters are those of `fit`; weights multiply what the learners gain from each sample.
        """
        player: OnlineReplacementOMP | None = getattr(self, "_player", None)
        data, mask = self._checked(X, reset=player is None)
        if player is None:
            self._prepare()
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
            player = OnlineReplacementOMP(self.ground_set_, self._n_atoms, self._max_atoms, rng=seed)
        weights = _weights(sample_weight, data)
        for t, sample in enumerate(data if weights is None else data * np.sqrt(weights)[:, None]):
            player.observe(sample, None if mask is None else mask[t])
        self._player = player
        self._keep(player.play(), data.dtype)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Return the codes of samples: (n_samples, n_components)."""
        check_is_fitted(self)
        return self._codes(*self._checked(X, reset=False)).dense()

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return samples rebuilt from codes (n_samples, n_components), nothing missing."""
        check_is_fitted(self)
        codes = check_array(X, dtype=[np.float64, np.float32])
        if codes.shape[1] != len(self.components_):
            raise ValueError(
                f"X has {codes.shape[1]} columns, but there are {len(self.components_)} components."
            )
        return np.asarray(codes @ self.components_)

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the fraction of the energy of the observed entries that the codes explain.

        The parameters are those of `fit`; weights say how many times the energy of each sample counts.
        """
        check_is_fitted(self)
        data, mask = self._checked(X, reset=False)
        weights = _weights(sample_weight, data)
        counts: Array = np.ones(len(data)) if weights is None else weights
        energy = float(counts @ np.square(data if mask is None else np.where(mask, 0, data)).sum(axis=1))
        if energy == 0:
            return 1.0
        return 1.0 - float(counts @ self._codes(data, mask).residual_energy) / energy

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_atoms(self) -> int:
        return self.n_features_in_ if self.n_components is None else self.n_components

    @property
    def _max_atoms(self) -> int:
        return max(1, self.n_features_in_ // 10) if self.sparsity is None else self.sparsity

    def _constraint(self, n_samples: int) -> Constraint:
        if self.mean_sparsity is None:
            return IndividualSparsity(self._max_atoms)
        return AverageSparsity(self._max_atoms, max(1, round(self.mean_sparsity * n_samples)))

    def _checked(self, X: ArrayLike, *, reset: bool) -> tuple[Array, NDArray[np.bool_] | None]:
        """Return samples and their mask, None if nothing is missing."""
        hidden = masked_entries(X)
        if hidden is not None:
            X = np.where(hidden, np.nan, np.asarray(X))
        dtypes = [np.float64, np.float32]
        data = validate_data(self, X, dtype=dtypes, ensure_all_finite="allow-nan", reset=reset)
        missing = np.isnan(data)
        return data, missing if missing.any() else None

    def _prepare(self) -> None:
        """Check the parameters, and make the ground set for the number of features."""
        self._check_parameters()
        given, size = self.ground_set, self.n_features_in_
        if isinstance(given, GroundSet):
            self.ground_set_ = given
        elif given is None:
            self.ground_set_ = ground_set_from_array(
                np.hstack([dct(np.eye(size), norm="ortho"), np.eye(size)])
            )
        else:
            self.ground_set_ = ground_set_from_array(
                as_matrix(given, "ground_set", "(candidates, features)").T
            )
        if self.ground_set_.n_features != size:
            raise ValueError(
                f"ground_set has atoms of {self.ground_set_.n_features} features, but X has {size}."
            )
        if self._n_atoms > len(self.ground_set_):
            raise ValueError(
                f"n_components must be at most the number of candidate atoms, {len(self.ground_set_)}, "
                f"but is {self._n_atoms}."
            )

    def _check_parameters(self) -> None:
        if self.selector not in _SELECTORS:
            raise ValueError(f"selector must be one of {', '.join(_SELECTORS)}, not {self.selector!r}.")
        as_count(self._n_atoms, "n_components")
        as_count(self._max_atoms, "sparsity")
        if self.mean_sparsity is not None:
            as_positive(self.mean_sparsity, "mean_sparsity")
            if self.selector == "greedy":
                raise ValueError(
                    "mean_sparsity needs the selector 'omp' or 'ols': 'greedy' cannot share a budget."
                )

    def _keep(self, indices: NDArray[np.intp], dtype: np.dtype[Any]) -> None:
        self.indices_ = np.array(indices)
        self.components_ = np.ascontiguousarray(self.ground_set_.atoms[:, self.indices_].T, dtype=dtype)

    def _codes(self, data: Array, mask: NDArray[np.bool_] | None) -> SparseCodes:
        dictionary = self.components_.T.astype(data.dtype)
        return constrained_omp(dictionary, data, self._constraint(len(data)), mask=mask, threads=1)


def _weights(sample_weight: ArrayLike | None, data: Array) -> Array | None:
    """Return one weight per sample, checked; None if none are given."""
    if sample_weight is None:
        return None
    return np.asarray(_check_sample_weight(sample_weight, data, dtype=np.float64, ensure_non_negative=True))
