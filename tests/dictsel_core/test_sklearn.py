"""The estimator, by scikit-learn's own checks and in its own tools."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator
from synthetic import planted

from dictsel_core import IndividualSparsity, ground_set_from_array, omp, replacement_omp, standard_ground_set
from dictsel_core.sklearn import DictionarySelector

CHECKS = [
    *estimator_checks_generator(DictionarySelector(random_state=0), legacy=True),
    *estimator_checks_generator(DictionarySelector(selector="ols", n_components=2), legacy=True),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=lambda part: getattr(getattr(part, "func", part), "__name__", "")
)
def test_scikit_learn_approves(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    ground_set = standard_ground_set((4, 4))
    return planted(np.random.default_rng(0), ground_set, 150, 6, 3)[0]


def test_it_is_replacement_omp_and_omp(data):
    ground_set = standard_ground_set((4, 4))
    selector = DictionarySelector(6, 3, ground_set=ground_set).fit(data)
    selection = replacement_omp(ground_set, data, IndividualSparsity(3), 6)
    np.testing.assert_array_equal(selector.components_, selection.dictionary.T)
    np.testing.assert_array_equal(selector.indices_, selection.indices)
    assert selector.certificate_ == selection.certificate
    rebuilt = selector.inverse_transform(selector.transform(data))
    np.testing.assert_allclose(rebuilt, omp(selection.dictionary, data, 3).rebuilt, atol=1e-9)
    expected = 1 - np.square(data - rebuilt).sum() / np.square(data).sum()
    assert selector.score(data) == pytest.approx(expected)
    names = selector.get_feature_names_out().tolist()
    assert names == [f"dictionaryselector{j}" for j in range(6)]


def test_nan_is_missing(data):
    rng = np.random.default_rng(1)
    mask = rng.random(data.shape) < 0.3
    mask[0] = True
    damaged = np.where(mask, np.nan, data)
    ground_set = standard_ground_set((4, 4))
    selector = DictionarySelector(6, 3, ground_set=ground_set).fit(damaged)
    expected = replacement_omp(ground_set, data, IndividualSparsity(3), 6, mask=mask)
    np.testing.assert_array_equal(selector.indices_, expected.indices)
    codes = selector.transform(damaged)
    assert (codes[0] == 0).all()
    rebuilt = selector.inverse_transform(codes)
    assert np.isfinite(rebuilt).all()
    np.testing.assert_allclose(rebuilt, omp(expected.dictionary, data, 3, mask=mask).rebuilt, atol=1e-9)


@pytest.mark.parametrize("selector", ["omp", "ols", "greedy"])
def test_a_weight_counts_samples(data, selector):
    counts = np.arange(len(data)) % 3
    repeated = np.repeat(data, counts, axis=0)
    estimator = DictionarySelector(6, 3, selector=selector, ground_set=standard_ground_set((4, 4)))
    weighted = clone(estimator).fit(data, sample_weight=counts)
    np.testing.assert_array_equal(weighted.indices_, clone(estimator).fit(repeated).indices_)
    assert weighted.score(data, sample_weight=counts) == pytest.approx(weighted.score(repeated))


def test_a_weight_multiplies_the_gains_online(data):
    weights = np.linspace(0, 2, len(data))
    estimator = DictionarySelector(6, 3, ground_set=standard_ground_set((4, 4)), random_state=0)
    weighted = clone(estimator).partial_fit(data, sample_weight=weights)
    scaled = clone(estimator).partial_fit(data * np.sqrt(weights)[:, None])
    np.testing.assert_array_equal(weighted.indices_, scaled.indices_)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        clone(estimator).fit(data, sample_weight=-weights)


def test_candidates_may_be_rows_of_an_array_and_must_fit(data):
    candidates = standard_ground_set((4, 4)).atoms.T
    by_rows = DictionarySelector(6, 3, ground_set=candidates).fit(data)
    np.testing.assert_allclose(by_rows.ground_set_.atoms, ground_set_from_array(candidates.T).atoms)
    with pytest.raises(ValueError, match="atoms of 9 features, but X has 16"):
        DictionarySelector(ground_set=np.eye(9)).fit(data)
    with pytest.raises(ValueError, match="selector must be one of omp, ols, greedy"):
        DictionarySelector(selector="sds").fit(data)
    with pytest.raises(ValueError, match="X has 5 columns, but there are 6 components"):
        by_rows.inverse_transform(np.zeros((2, 5)))


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"n_components": 0}, ValueError, "n_components must be at least 1"),
        ({"n_components": 33}, ValueError, "n_components must be at most the number of candidate atoms, 32"),
        ({"sparsity": 1.5}, TypeError, "sparsity must be a whole number"),
        ({"mean_sparsity": "a"}, TypeError, "mean_sparsity must be a number"),
        ({"mean_sparsity": np.nan}, ValueError, "mean_sparsity must be positive"),
        ({"mean_sparsity": -1}, ValueError, "mean_sparsity must be positive"),
        ({"mean_sparsity": 2, "selector": "greedy"}, ValueError, "'greedy' cannot share a budget"),
        ({"ground_set": "dct"}, TypeError, "ground_set must hold real numbers"),
        ({"ground_set": [[1, 2], [1]]}, ValueError, "ground_set must be an array"),
    ],
)
def test_parameters_are_refused_by_their_own_names(data, options, error, sentence):
    for fit in (DictionarySelector(**options).fit, DictionarySelector(**options).partial_fit):
        with pytest.raises(error, match=sentence):
            fit(data)


def test_what_a_masked_array_hides_is_missing(data):
    mask = np.random.default_rng(0).random(data.shape) < 0.3
    selector = DictionarySelector(6, 3, ground_set=standard_ground_set((4, 4)))
    with_nan = clone(selector).fit(np.where(mask, np.nan, data))
    masked = clone(selector).fit(np.ma.array(data, mask=mask))
    np.testing.assert_array_equal(masked.indices_, with_nan.indices_)


def test_online_selection_finds_what_samples_are_made_of(data):
    ground_set = standard_ground_set((4, 4))
    selector = DictionarySelector(6, 3, ground_set=ground_set, random_state=0)
    scores = []
    for batch in np.array_split(np.concatenate([data] * 4), 6):
        scores.append(selector.partial_fit(batch).score(data))
    assert selector.components_.shape == (6, 16)
    assert min(scores[2:]) > 0.75
    again = clone(selector)
    for batch in np.array_split(np.concatenate([data] * 4), 3):
        again.partial_fit(batch)
    np.testing.assert_array_equal(again.indices_, selector.indices_)  # batches do not matter
    assert selector.fit(data).certificate_.ratio > 0  # and fit starts again


def test_a_shared_budget_gives_more_to_those_who_need_more(data):
    mixed = np.vstack([data, 0.01 * data])
    selector = DictionarySelector(6, 3, mean_sparsity=1.5, ground_set=standard_ground_set((4, 4))).fit(mixed)
    used = (selector.transform(mixed) != 0).sum(axis=1)
    assert used.sum() <= 1.5 * len(mixed)
    assert used[: len(data)].mean() > 2.5 > used[len(data) :].mean()


def test_it_works_in_a_pipeline_and_a_grid_search(data):
    target = data @ np.arange(16.0)
    pipeline = make_pipeline(StandardScaler(), DictionarySelector(n_components=16, sparsity=8), Ridge())
    grid = GridSearchCV(pipeline, {"dictionaryselector__sparsity": [1, 8]}, cv=3).fit(data, target)
    assert grid.best_params_ == {"dictionaryselector__sparsity": 8}
    own = GridSearchCV(DictionarySelector(ground_set=np.eye(16)), {"n_components": [2, 10]}, cv=3).fit(data)
    assert own.best_params_ == {"n_components": 10}


def test_the_core_does_not_need_scikit_learn_and_the_estimator_says_so():
    code = (
        "import sys; import dictsel_core\n"
        "assert 'sklearn' not in sys.modules\n"
        "sys.modules['sklearn'] = None\n"
        "try:\n    import dictsel_core.sklearn\nexcept ImportError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == (
        "dictsel_core.sklearn needs scikit-learn: install it with pip install 'dictsel[sklearn]'."
    )
