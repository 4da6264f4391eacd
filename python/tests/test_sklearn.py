"""What scikit-learn and its users expect of an estimator."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # before scipy is imported: one of the checks wants it

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from rooco import OnePassClassifier, OnePassRegressor

# What scikit-learn itself expects its SGD classes to fail: one pass over a row of weight 2 is not two rows. In its place:
# test_a_weight_is_a_number_of_rows below.
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "a step of weight 2 is not two steps",
    "check_sample_weight_equivalence_on_sparse_data": "a step of weight 2 is not two steps",
}


def failures_that_sklearn_declares(estimator):
    """scikit-learn's own list for its SGD classes."""
    from sklearn.utils._test_common.instance_generator import PER_ESTIMATOR_XFAIL_CHECKS

    return PER_ESTIMATOR_XFAIL_CHECKS[estimator]


@pytest.mark.parametrize(
    "estimator",
    [
        OnePassRegressor(),
        OnePassClassifier(),
        OnePassRegressor(loss="huber"),
        OnePassClassifier(loss="softmax"),
        OnePassRegressor(missing="mean"),
    ],
)
def test_check_estimator(estimator):
    done = check_estimator(estimator, expected_failed_checks=EXPECTED, on_fail=None, on_skip=None)
    assert len(done) > 50
    assert [(d["check_name"], d["exception"]) for d in done if d["status"] not in ("passed", "xfail")] == []
    assert {d["check_name"] for d in done if d["status"] == "xfail"} <= set(EXPECTED)


@pytest.mark.parametrize("ours", [SGDClassifier, SGDRegressor])
def test_no_more_failures_than_scikit_learn_declares(ours):
    assert set(EXPECTED) <= set(failures_that_sklearn_declares(ours))


def test_a_weight_is_a_number_of_rows():
    """The statistical form of the check above: weights 0, 1 and 2, and rows left out or repeated, lead to the same model.

    20,000 rows, 20 orders each; the mean coefficients agree within four standard errors of their difference.
    """
    r = np.random.default_rng(1)
    x = r.normal(size=(20_000, 3))
    y = x @ [1.0, -2.0, 0.5] + r.normal(size=20_000)
    weight = r.integers(0, 3, size=20_000)
    # Heavier rows follow another rule, so that ignoring the weights would show.
    y[weight == 2] += 1.5 * x[weight == 2, 0]
    rows = np.repeat(np.arange(20_000), weight)
    weighted, repeated = [], []
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(20_000)
        weighted.append(OnePassRegressor(features="linear").fit(x[order], y[order], weight[order]).coef_)
        order = np.random.default_rng(seed).permutation(rows)
        repeated.append(OnePassRegressor(features="linear").fit(x[order], y[order]).coef_)
    difference = np.mean(weighted, axis=0) - np.mean(repeated, axis=0)
    error = np.sqrt((np.var(weighted, axis=0, ddof=1) + np.var(repeated, axis=0, ddof=1)) / 20)
    assert np.all(np.abs(difference) < 4 * error + 1e-4), (difference, error)
    assert abs(np.mean(weighted, axis=0)[0] - 2.0) < 0.02  # (1·1 + 2·2.5)/3


def test_pipelines_searches_and_clones(regression, labels):
    x, y, _ = regression
    pipe = make_pipeline(StandardScaler(), OnePassRegressor())
    assert cross_val_score(pipe, x, y, cv=3).min() > 0.8
    search = GridSearchCV(OnePassClassifier(), {"l2": [0.0, 0.01, 10.0]}, cv=3).fit(x, labels)
    assert search.best_params_["l2"] < 10
    copy = clone(OnePassClassifier(l2=0.3, domain="ball:1", label_noise=(0.1, 0.2)))
    assert copy.get_params()["label_noise"] == (0.1, 0.2) and copy.l2 == 0.3


def test_a_column_transformer_and_frames_keep_names(regression, labels):
    x, _, _ = regression
    frame = pd.DataFrame(x, columns=list("abcd")).assign(colour=np.array(["red", "blue"])[np.arange(len(x)) % 2])
    columns = ColumnTransformer([("n", StandardScaler(), list("abcd")), ("c", OneHotEncoder(), ["colour"])])
    columns.set_output(transform="default")
    model = make_pipeline(columns, OnePassClassifier()).fit(frame, labels)
    assert model.score(frame, labels) > 0.6
    for kind in (pd.DataFrame, pl.DataFrame):
        table = kind({name: x[:, i] for i, name in enumerate("abcd")})
        model = OnePassClassifier().fit(table, labels)
        assert list(model.feature_names_in_) == list("abcd") and model.n_features_in_ == 4
        assert model.model_.names() == ["(intercept)", "a", "b", "c", "d"]
        assert model.predict(table).shape == (len(x),)


def test_pickles_go_on_with_the_same_bits(regression, labels):
    x, y, weight = regression
    x = x / [1, 100, 1, 1]
    for estimator in (
        OnePassRegressor(),
        OnePassRegressor(algorithm="sgd", l2=0.01),
        OnePassRegressor(algorithm="reservoir-sgd", horizon=3000, holdout=0.1, l2=0.5, beta=30.0),
    ):
        estimator.partial_fit(x[:1500], y[:1500], weight[:1500])
        copy = pickle.loads(pickle.dumps(estimator))
        assert np.array_equal(copy.predict(x), estimator.predict(x))
        assert copy.order_test_ == estimator.order_test_
        for model in (estimator, copy):
            model.partial_fit(x[1500:], y[1500:], weight[1500:])
        assert copy.model_.to_bytes() == estimator.model_.to_bytes()
    words = np.where(labels, "b", "a")
    model = OnePassClassifier().fit(x, words)
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(x), model.predict(x)) and copy.classes_.dtype == model.classes_.dtype
    # An algorithm that waits for the rows of its constants can be pickled while it waits.
    waiting = OnePassRegressor(algorithm="sgd").partial_fit(x[:10], y[:10])
    copy = pickle.loads(pickle.dumps(waiting)).partial_fit(x[10:], y[10:])
    assert copy.model_.to_bytes() == OnePassRegressor(algorithm="sgd").fit(x, y).model_.to_bytes()


def test_coefficients_are_those_of_the_predictions(regression, labels):
    x, y, _ = regression
    model = OnePassRegressor(features="linear").fit(x, y)
    assert np.allclose(x @ model.coef_ + model.intercept_, model.predict(x), rtol=1e-12)
    three = np.digitize(y, [0, 3])
    for target, shape in [(labels, (1, 4)), (three, (3, 4))]:
        model = OnePassClassifier(features="linear").fit(x, target)
        assert model.coef_.shape == shape
        scores = (x @ model.coef_.T + model.intercept_).reshape(model.decision_function(x).shape)
        assert np.allclose(scores, model.decision_function(x), rtol=1e-9, atol=1e-12)
        assert np.allclose(model.predict_proba(x).sum(axis=1), 1)
        assert np.array_equal(model.classes_[model.predict_proba(x).argmax(axis=1)], model.predict(x))
    plain = OnePassRegressor(fit_intercept=False, features="linear").fit(x, y - 2)
    assert plain.model_.names() == ["x0", "x1", "x2", "x3"]
