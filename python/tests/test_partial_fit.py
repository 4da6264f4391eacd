"""Row by row, batch by batch, at once: the same model."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from rooco import OnePassClassifier, OnePassRegressor

ALGORITHMS = [
    dict(),
    dict(features="linear"),
    dict(features="shapes"),
    dict(holdout=0.2, random_state=3),
    dict(algorithm="sgd", l2=0.1),
    dict(algorithm="reservoir-sgd", horizon=3000, domain="ball:20", lambda_=0.5, beta=30.0),
    dict(missing="mean"),
]


@pytest.mark.parametrize("parameters", ALGORITHMS)
def test_partial_fit_is_fit(regression, parameters):
    x, y, weight = regression
    x = x / [1, 100, 1, 1]
    whole = OnePassRegressor(**parameters).fit(x, y, weight).model_.to_bytes()
    for sizes in ([1] * 300 + [2700], [7, 993, 2000], [3000]):
        model, at = OnePassRegressor(**parameters), 0
        for n in sizes:
            part = slice(at, at + n)
            model.partial_fit(x[part], y[part], weight[part])
            at += n
        assert model.model_.to_bytes() == whole, sizes
    # A look on the way changes nothing, and is what fit says of these rows.
    model = OnePassRegressor(**parameters)
    model.partial_fit(x[:1200], y[:1200], weight[:1200])
    looked = model.predict(x)
    if "horizon" not in parameters:
        assert np.array_equal(looked, OnePassRegressor(**parameters).fit(x[:1200], y[:1200], weight[:1200]).predict(x))
    assert model.partial_fit(x[1200:], y[1200:], weight[1200:]).model_.to_bytes() == whole


def test_labels_of_any_kind(regression, labels):
    x, y, weight = regression
    three = np.digitize(y, [0, 3])
    for target in (labels, labels * 2 - 1, labels.astype(float), labels.astype(bool), np.where(labels, "yes", "no"), three):
        whole = OnePassClassifier().fit(x, target, weight)
        model = OnePassClassifier()
        for t in range(0, 3000, 1 if target is labels else 250):
            part = slice(t, t + (1 if target is labels else 250))
            model.partial_fit(x[part], target[part], classes=np.unique(target) if t == 0 else None, sample_weight=weight[part])
        assert model.model_.to_bytes() == whole.model_.to_bytes()
        assert np.array_equal(model.predict(x), whole.predict(x))


def test_kinds_of_rows_may_follow_each_other(regression):
    x, y, _ = regression
    whole = OnePassRegressor(features="linear").fit(x, y)
    model = OnePassRegressor(features="linear")
    frame = pd.DataFrame(x).rename(columns=str)
    model.partial_fit(x[:500], y[:500]).partial_fit(sp.csr_array(x[500:1000]), y[500:1000])
    model.partial_fit(np.asfortranarray(x[1000:2000]), y[1000:2000]).partial_fit(x[2000:].tolist(), y[2000:].tolist())
    assert np.allclose(model.coef_, whole.coef_, rtol=1e-12)
    named = OnePassRegressor(features="linear")
    table = pl.from_pandas(frame)
    named.partial_fit(table[:1000], y[:1000]).partial_fit(table[1000:], y[1000:])
    assert np.array_equal(named.coef_, whole.coef_)


def test_it_says_what_it_runs(regression):
    x, y, _ = regression
    model = OnePassRegressor().partial_fit(x, y)
    assert model.guarantee_.startswith("horizon-free default") and "no theorem" in model.guarantee_
    with pytest.raises(ValueError, match="give horizon=T, use fit"):
        OnePassRegressor(algorithm="reservoir-sgd").partial_fit(x, y)
    with_proof = OnePassRegressor(algorithm="provable", horizon=3000, domain="ball:20", beta=1e9, lambda_=0.01, G=1e12)
    with_proof.partial_fit(x, y)
    assert with_proof.constants_["horizon"] == 3000 and "regret" in with_proof.guarantee_.lower()
    assert with_proof.constants_["beta"] == {"value": 1e9, "source": "given", "certain": True}
    # What is not given is read off the first rows, and said to be; rows beyond it take the bound away.
    guessed = OnePassRegressor(algorithm="provable", horizon=3000, domain="ball:20", lambda_=0.01).partial_fit(x, y)
    assert guessed.constants_["beta"]["source"] == "from the first 1000 rows" and not guessed.promise_["is_guarantee"]
    with pytest.raises(ValueError, match="T = 3000"):
        with_proof.partial_fit(x[:1], y[:1])


def test_unlearning():
    """A log of additions and removals in random order: the model is near that of the rows that were never removed.

    30,000 rows, a fifth of them spoiled and taken back. The order matters: removals that all come late are not a random order.
    """
    r = np.random.default_rng(5)
    x = r.normal(size=(30_000, 4))
    y = x @ [1.0, -2.0, 0.5, 0.0] + 2.0 + 0.3 * r.normal(size=30_000)
    bad = r.choice(30_000, 6000, replace=False)
    spoiled = y.copy()
    spoiled[bad] = 5.0
    row = np.concatenate([np.arange(30_000), bad])
    weight = np.concatenate([np.ones(30_000), -np.ones(6000)])
    order = r.permutation(len(row))
    row, weight = row[order], weight[order]

    def error(model):
        return np.abs(model.predict(x) - (x @ [1.0, -2.0, 0.5, 0.0] + 2.0)).mean()

    model = OnePassRegressor()
    for t in range(0, len(row), 500):
        part = slice(t, t + 500)
        model.partial_fit(x[row[part]], spoiled[row[part]], weight[part])
    assert error(model) < 0.2 * error(OnePassRegressor().fit(x, spoiled))
