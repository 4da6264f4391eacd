"""Metrics with weights of either sign: against scikit-learn where it can, against brute force where it cannot."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss, r2_score, roc_auc_score

import rooco
from rooco import metrics


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    score = rng.normal(size=600)
    y = (rng.random(600) < 1 / (1 + np.exp(-score))).astype(int)
    return y, score, 1 / (1 + np.exp(-score)), rng.random(600) + 0.2


def test_positive_weights_agree_with_scikit_learn(rows):
    y, score, p, w = rows
    assert metrics.log_loss(y, p, w).value == pytest.approx(log_loss(y, p, sample_weight=w), rel=1e-12)
    assert metrics.brier(y, p, w).value == pytest.approx(brier_score_loss(y, p, sample_weight=w), rel=1e-12)
    assert metrics.auc(y, score, w).value == pytest.approx(roc_auc_score(y, score, sample_weight=w), rel=1e-12)
    target = score + 0.1
    assert metrics.r2(target, p, w).value == pytest.approx(r2_score(target, p, sample_weight=w), rel=1e-12)
    assert 0 < metrics.calibration_error(y, p, w).value < 0.2


def test_rows_taken_back_leave_no_trace(rows):
    y, score, p, w = rows
    both = np.r_[w, np.ones(50), -np.ones(50)]
    again = lambda v: np.r_[v, v[:50], v[:50]]  # noqa: E731
    for metric, answer in [(metrics.log_loss, p), (metrics.brier, p), (metrics.auc, score)]:
        assert metric(again(y), again(answer), both).value == pytest.approx(metric(y, answer, w).value, rel=1e-9)


def test_errors_and_what_is_not_defined(rows):
    y, score, p, w = rows
    found = metrics.auc(y, score)
    assert 0 < found.standard_error < 0.05 and found.effective == pytest.approx(600)
    with pytest.raises(ValueError, match="not defined"):
        metrics.log_loss(y, p, np.zeros(600))
    with pytest.raises(ValueError, match="two classes"):
        metrics.auc(np.zeros(600), score)
    with pytest.raises(ValueError, match="predictions"):
        metrics.auc(y, score[:10])


def test_scorers(rows):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(800, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=800) > 0).astype(int)
    model = rooco.OnePassClassifier().fit(X, y)
    assert metrics.scorer(metrics.auc)(model, X, y) > 0.9
    assert metrics.scorer(metrics.log_loss)(model, X, y) < 0
