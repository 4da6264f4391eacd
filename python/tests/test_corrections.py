"""The corrections undo what the data suffer from. Fixed seeds; the bounds are a few standard errors."""

import numpy as np
import pandas as pd
import pytest

from rooco import OnePassClassifier, OnePassRegressor

W = np.array([1.0, -0.8, 0.5])


def two_classes(n, seed):
    r = np.random.default_rng(seed)
    x = r.normal(size=(n, 3))
    y = (r.random(n) < 1 / (1 + np.exp(-2 * (x @ W)))).astype(int)
    return r, x, y


def distance(model):
    return np.abs(model.coef_[0] - 2 * W).max()


def test_label_noise():
    r, x, y = two_classes(100_000, 1)
    seen = np.where(r.random(len(y)) < np.where(y == 1, 0.3, 0.1), 1 - y, y)
    assert distance(OnePassClassifier(features="linear").fit(x, seen)) > 0.5
    assert distance(OnePassClassifier(label_noise=(0.3, 0.1), features="linear").fit(x, seen)) < 0.15
    # One number is randomised response; for two classes half of the replaced labels stay what they were.
    seen = np.where(r.random(len(y)) < 0.4, r.integers(0, 2, len(y)), y)
    one, two = (OnePassClassifier(label_noise=rate, features="linear").fit(x, seen) for rate in (0.4, (0.2, 0.2)))
    assert distance(one) < 0.15 and one.model_.to_bytes() == two.model_.to_bytes()


def test_randomised_response_of_many_classes():
    r = np.random.default_rng(2)
    x = r.normal(size=(60_000, 3))
    w = np.array([[1.5, 0, 0], [0, 1.5, 0], [0, 0, 1.5]])
    p = np.exp(x @ w)
    y = (r.random((len(x), 1)) > (p / p.sum(1, keepdims=True)).cumsum(1)).sum(1)
    seen = np.where(r.random(len(y)) < 0.5, r.integers(0, 3, len(y)), y)

    def spread(model):
        return np.mean([model.coef_[k, k] - model.coef_[k].sum() / 2 + model.coef_[k, k] / 2 for k in range(3)])

    parameters = dict(algorithm="sgd", l2=1e-4, beta=3.0, lambda_=0.02)
    naive = OnePassClassifier(**parameters).fit(x, seen)
    corrected = OnePassClassifier(**parameters, label_noise=0.5).fit(x, seen)
    clean = OnePassClassifier(**parameters).fit(x, y)
    assert spread(naive) < 0.6 * spread(clean) and spread(corrected) == pytest.approx(spread(clean), rel=0.15)


def test_positive_unlabeled():
    r, x, y = two_classes(100_000, 3)
    # A third of the rows are known positives, the others are a fair sample of all.
    positive = r.choice(np.flatnonzero(y == 1), 30_000, replace=False)
    unlabelled = r.choice(len(y), 60_000, replace=False)
    rows = np.concatenate([positive, unlabelled])
    label = np.repeat([1, 0], [30_000, 60_000])
    order = r.permutation(len(rows))
    rows, label = rows[order], label[order]
    model = OnePassClassifier(positive_unlabeled=y.mean(), features="linear").fit(x[rows], label)
    assert distance(model) < 0.3 and abs(model.intercept_[0]) < 0.2
    assert abs(OnePassClassifier(features="linear").fit(x[rows], label).intercept_[0]) > 0.3
    partial = OnePassClassifier(positive_unlabeled=(y.mean(), 1 / 3), features="linear").partial_fit(x[rows], label, classes=[0, 1])
    assert distance(partial) < 0.3
    with pytest.raises(ValueError, match="prior, share"):
        OnePassClassifier(positive_unlabeled=0.5).partial_fit(x, y, classes=[0, 1])


NAMED = dict(algorithm="sgd", beta=20.0, lambda_=0.3)


def test_feature_noise():
    r = np.random.default_rng(4)
    x = r.normal(size=(200_000, 3))
    y = x @ W + 0.2 * r.normal(size=len(x))
    seen = x + r.normal(size=x.shape) * np.sqrt([0.5, 0.0, 0.2])
    assert abs(OnePassRegressor(**NAMED).fit(seen, y).coef_[0] - W[0]) > 0.25
    for noise, data in [([0.5, 0.0, 0.2], seen), ({"a": 0.5, "c": 0.2}, pd.DataFrame(seen, columns=list("abc")))]:
        assert np.abs(OnePassRegressor(feature_noise=noise, **NAMED).fit(data, y).coef_ - W).max() < 0.05
    with pytest.raises(ValueError, match="there is no numeric column \"dose\"; there are a, b, c"):
        OnePassRegressor(feature_noise={"dose": 1.0}).fit(pd.DataFrame(seen, columns=list("abc")), y)
    with pytest.raises(ValueError, match="feature_noise has 2 entries where 3"):
        OnePassRegressor(feature_noise=[1.0, 2.0]).fit(seen, y)
    with pytest.raises(ValueError, match="two corrections"):
        OnePassRegressor(feature_noise=[1.0, 2.0, 3.0], missing="debias").fit(seen, y)
    with pytest.raises(ValueError, match="OnePassRegressor"):
        OnePassClassifier(feature_noise=[1.0, 2.0, 3.0]).fit(seen, y > 0)


def test_missing_values():
    r = np.random.default_rng(5)
    x = r.normal(size=(200_000, 3))
    x[:, 1] += 0.7 * x[:, 0]
    y = x @ W + 0.2 * r.normal(size=len(x))
    holes = np.where(r.random(x.shape) < [0.4, 0.1, 0.0], np.nan, x)
    naive = OnePassRegressor(missing="zero", **NAMED).fit(holes, y)
    debiased = OnePassRegressor(missing="debias", **NAMED).fit(holes, y)
    assert np.abs(naive.coef_ - W).max() > 0.1 and np.abs(debiased.coef_ - W).max() < 0.05
    given = OnePassRegressor(missing="debias", missing_rate=np.isnan(holes).mean(axis=0), **NAMED)
    assert given.fit(holes, y).model_.to_bytes() == debiased.model_.to_bytes()
    with pytest.raises(ValueError, match="give missing_rate"):
        OnePassRegressor(missing="debias", **NAMED).partial_fit(holes, y)
    # The mean of what was seen so far; NaN is taken in predictions, too.
    mean = OnePassRegressor(missing="mean").fit(holes + 10, y)
    assert np.isfinite(mean.predict(holes + 10)).all()
    assert np.array_equal(mean.predict(np.array([[np.nan, 1.0, 1.0]])), mean.predict(np.array([[mean_of(mean, 0), 1.0, 1.0]])))


def mean_of(model, column):
    """The mean that the model fills in."""
    import json

    head = model.model_.to_bytes()
    n = int.from_bytes(head[:8], "little")
    about = json.loads(json.loads(head[8 : 8 + n])["__metadata__"]["rooco"])["about"]
    return about["schema"]["columns"][column]["role"]["Numeric"]["stats"]["mean"]


def test_signed_weights_are_a_difference_of_two_samples():
    """Weight 1 on rows of a mixture and -1 on rows of one part of it: the model is that of the other part."""
    r = np.random.default_rng(6)
    x = r.normal(size=(90_000, 3))
    kind = np.repeat([0, 1, 1], 30_000)  # wanted, unwanted, the unwanted to be taken away
    y = np.where(kind == 0, x @ W, -(x @ W)) + 0.1 * r.normal(size=len(x))
    weight = np.repeat([1.0, 0.5, -0.5], 30_000)
    order = r.permutation(len(x))
    model = OnePassRegressor(features="linear").fit(x[order], y[order], weight[order])
    assert np.abs(model.coef_ - W).max() < 0.05
    assert model.report_["negative_rows"] == 30_000
