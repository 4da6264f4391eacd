"""Audit, certificate, shuffle, lab, PCA and losses of one's own."""

import gzip
import json
import math

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.utils.estimator_checks import check_estimator

import rooco
from rooco import OnePassClassifier, OnePassRegressor, ShiftInvertPCA

matplotlib.use("Agg")


def test_audit_says_what_the_command_says(program, tmp_path, regression, labels):
    x, y, weight = regression
    frame = pd.DataFrame(x, columns=["x0", "x1", "x2", "x3"]).assign(y=labels, weight=weight)
    frame.to_csv(tmp_path / "d.csv", index=False)
    printed = json.loads(
        program("audit", tmp_path / "d.csv", "--target", "y", "--weight", "weight", "--domain", "ball:2", "--l2", 5000, "--json")
    )
    for found in (
        rooco.audit(x, labels, sample_weight=weight, domain="ball:2", l2=5000.0),
        rooco.audit(frame, target="y", weight="weight", domain="ball:2", l2=5000.0),
        rooco.audit(tmp_path / "d.csv", target="y", weight="weight", domain="ball:2", l2=5000.0),
    ):
        for key in ("rows", "g", "beta", "lambda", "convex", "negative_rows", "kappa"):
            assert found[key] == printed[key], key
        assert found["order"]["random"] and "rows" in str(found)
    concave = rooco.audit(x, y, sample_weight=-np.ones(len(x)))
    assert concave["convex"] is False and concave["l2_needed"] > 0
    sorted_rows = np.argsort(y)
    assert not rooco.audit(x[sorted_rows], y[sorted_rows])["order"]["random"]


def test_a_certificate_bounds_the_gap_and_the_regret(regression):
    x, y, _ = regression
    x = x / [1, 100, 1, 1]
    model = OnePassRegressor(algorithm="sgd", l2=0.1).fit(x, y)
    found = rooco.certify(model, x, y)
    design = np.c_[np.ones(len(x)), x]
    best = np.linalg.solve(design.T @ design / len(x) + 0.1 * np.eye(5), design.T @ y / len(x))
    value = lambda w: 0.5 * np.mean((design @ w - y) ** 2) + 0.05 * w @ w
    w = np.r_[model.intercept_, model.coef_]
    assert found["value"] == pytest.approx(value(w)) and found["gap"] >= value(w) - value(best) - 1e-12
    assert found["regret"] is not None and rooco.certify(model, x[:100], y[:100])["regret"] is None


def test_shuffle(program, tmp_path):
    lines = [f"{i},{i * i}" for i in range(5000)]
    (tmp_path / "in.csv").write_text("a,b\n" + "\n".join(lines) + "\n")
    assert rooco.shuffle(tmp_path / "in.csv", tmp_path / "out.csv.gz", seed=7) == 5000
    header, *shuffled = gzip.open(tmp_path / "out.csv.gz", "rt").read().splitlines()
    assert header == "a,b" and sorted(shuffled) == sorted(lines) and shuffled != lines
    program("shuffle", tmp_path / "in.csv", "-o", tmp_path / "again.csv", "--seed", 7)
    assert (tmp_path / "again.csv").read_text().splitlines()[1:] == shuffled
    with pytest.raises(ValueError, match="lines, csv or tsv"):
        rooco.shuffle(tmp_path / "in.csv", tmp_path / "out", records="xml")


def test_the_lab_gives_frames_and_curves(tmp_path):
    from rooco import lab

    assert "study" in lab.experiments()
    (tmp_path / "small.toml").write_text(
        'name = "small"\nabout = "two algorithms"\nseed = 1\nt = [99]\norders = [4]\nproblems = ["convex"]\n'
        'algorithms = ["convex1", "constant:1"]\n'
    )
    results = lab.run(tmp_path / "small.toml")
    assert {"regret", "se", "algorithm", "problem", "t"} <= set(results.points.columns) and len(results.points) == 2
    axes = results.plot()
    assert len(axes.get_lines()) == 2 and axes.get_xlabel() == "round"
    with pytest.raises(ValueError, match="there is no problem"):
        results.plot("nothing")


def test_an_own_loss_runs_and_its_errors_come_through(regression):
    x, y, _ = regression
    x = x / [1, 100, 1, 1]
    own = rooco.learn(lambda p, y: 0.5 * (p - y) ** 2, lambda p, y: p - y, (1.0, 1.0), x, y, algorithm="sgd", beta=40.0, lambda_=0.05)
    same = OnePassRegressor(algorithm="sgd", beta=40.0, lambda_=0.05).fit(x, y)
    assert np.allclose(own.coef, same.coef_) and own.intercept == pytest.approx(same.intercept_[0])
    assert own.progressive_loss == pytest.approx(same.progressive_loss_) and own.rows == 3000
    cosh = rooco.learn(lambda p, y: math.log(math.cosh(p - y)), lambda p, y: math.tanh(p - y), (0.0, 1.0), x, y, lambda_=0.05)
    assert np.abs(cosh.coef - same.coef_).max() < 1.0

    def broken(p, y):
        raise ZeroDivisionError("my own fault")

    with pytest.raises(ZeroDivisionError, match="my own fault"):
        rooco.learn(broken, broken, (0.0, 1.0), x, y)
    with pytest.raises(ValueError, match="algorithm by name"):
        rooco.learn(lambda p, y: 0.0, lambda p, y: 0.0, (0.0, 1.0), x, y, algorithm="auto")


def test_principal_components():
    r = np.random.default_rng(1)
    turn = np.linalg.qr(r.normal(size=(12, 12)))[0]
    x = (r.normal(size=(20_000, 12)) * np.sqrt([9.0, 4.0, 2.0, *[0.5] * 9])) @ turn + 3.0
    exact = PCA(3).fit(x)
    for data in (x, np.asfortranarray(x), x.astype(np.float32)):
        found = ShiftInvertPCA(3, random_state=1).fit(data)
        cosines = np.abs(np.sum(found.components_ * exact.components_, axis=1))
        assert np.all(cosines > 0.999), cosines
        assert np.allclose(found.explained_variance_, exact.explained_variance_, rtol=0.005)
        assert np.allclose(found.components_ @ found.components_.T, np.eye(3), atol=1e-9)
    scores = found.transform(x)
    assert np.allclose(scores.mean(axis=0), 0, atol=1e-4) and list(found.get_feature_names_out()) == ["shiftinvertpca0", "shiftinvertpca1", "shiftinvertpca2"]
    # Most rows are not convex: ‖x‖² exceeds the shift.
    assert np.mean(np.sum((x - x.mean(0)) ** 2, axis=1) > 9.5) > 0.7


def test_pca_is_an_estimator():
    done = check_estimator(ShiftInvertPCA(), on_fail=None, on_skip=None)
    assert [(d["check_name"], d["exception"]) for d in done if d["status"] != "passed"] == []



def test_the_clamp_is_counted_and_can_be_switched_off(regression):
    """Outside the range of the training data the default is flat: that is said, counted, and can be switched off without a new fit."""
    x, y, _ = regression
    model = OnePassRegressor(features="linear").fit(x, y)
    far = np.vstack([x[:5], 1e3 * x[:3]])
    with pytest.warns(UserWarning, match="3 of 8 rows lie outside the range of the training data.*clamp=False"):
        flat = model.predict(far)
    assert model.clamped_rows(far) == 3 and model.clamped_rows(x) == 0
    linear = model.set_params(clamp=False).predict(far)
    assert np.allclose(flat[:5], linear[:5]) and np.allclose(linear, far @ model.coef_ + model.intercept_)
    assert np.abs(linear[5:] - flat[5:]).max() > 1.0


def test_the_limit_on_features_is_a_parameter(tmp_path):
    path = tmp_path / "far.svm"
    path.write_text("1 1:1 2000:1\n-1 1:-1 3:1\n" * 20)
    with pytest.raises(ValueError, match="beyond the limit of 1000 features"):
        OnePassRegressor(max_features=1000).fit_file(path)
    assert OnePassRegressor(max_features=3000).fit_file(path).n_features_in_ >= 2000


def test_to_optimum_gives_the_best_model_and_its_errors(program, tmp_path, regression):
    """Least squares by its closed form, signed weights included; the errors are the sandwich; the numbers are the command's, bit for bit."""
    x, y, weight = regression
    x, y, weight = x[:2000], y[:2000], weight[:2000]
    model = OnePassRegressor(to_optimum=True).fit(x, y, sample_weight=weight)
    a = np.column_stack([np.ones(len(x)), x])
    h = (a * weight[:, None]).T @ a
    best = np.linalg.solve(h, (a * weight[:, None]).T @ y)
    assert np.allclose(np.r_[model.intercept_, model.coef_], best, rtol=1e-7, atol=1e-9)
    g = a * (weight * (a @ best - y))[:, None]
    errors = np.sqrt(np.diag(np.linalg.inv(h) @ (g.T @ g) @ np.linalg.inv(h)) * len(x) / (len(x) - 5))
    assert np.allclose(np.r_[model.intercept_std_, model.coef_std_], errors, rtol=1e-6)
    o = model.optimum_
    assert o["converged"] and 0 <= o["gap"] < 1e-6 * abs(o["value"]) and o["passes"] <= 4
    pd.DataFrame(x, columns=["x0", "x1", "x2", "x3"]).assign(y=y, weight=weight).to_csv(tmp_path / "d.csv", index=False)
    program("fit", tmp_path / "d.csv", "--target", "y", "--weight", "weight", "--to-optimum", "--model", tmp_path / "m", "--quiet")
    again = rooco.load(tmp_path / "m")
    assert np.array_equal(again.coef_, model.coef_) and np.array_equal(again.coef_std_, model.coef_std_)
    with pytest.raises(ValueError, match="to_optimum reads all rows again"):
        OnePassRegressor(to_optimum=True).partial_fit(x, y)
    with pytest.raises(AttributeError, match="fit with to_optimum=True"):
        OnePassRegressor().fit(x, y).coef_std_


def test_to_optimum_of_classifiers(regression):
    from scipy.optimize import minimize

    x, y, _ = regression
    two = np.where(y > np.median(y), "b", "a")
    model = OnePassClassifier(to_optimum=1e-10, l2=0.01).fit(x, two)
    s = np.where(two == "b", 1.0, -1.0)
    a = np.column_stack([np.ones(len(x)), x])
    best = minimize(lambda w: np.logaddexp(0, -s * (a @ w)).mean() + 0.005 * w @ w, np.zeros(5), method="BFGS", options={"gtol": 1e-9})
    assert abs(model.optimum_["value"] - best.fun) < 1e-9
    assert np.allclose(np.r_[model.intercept_, model.coef_[0]], best.x, atol=1e-4)
    three = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    many = OnePassClassifier(to_optimum=True, l2=0.01).fit(x, three)
    assert many.coef_std_.shape == many.coef_.shape == (3, 4) and (many.coef_std_ > 0).all()
    # A sum that falls without end says so.
    weight = np.where(x[:, 0] > 0, -1.0, 1.0)
    weight[:50] = 60.0
    with pytest.warns(UserWarning, match="no optimum was reached"):
        OnePassRegressor(to_optimum=True).fit(x, y, sample_weight=weight)
