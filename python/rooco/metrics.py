"""Metrics for rows whose weights may be negative, each with its standard error, and scorers for scikit-learn.

A weight says how much a row counts; negative ones take rows back (event weights, sWeights, twins of corrected labels). What is estimated is the
metric of the population that the signed rows stand for. Errors are those of the first order (the familiar Σw² error for means); rows that
belong together, such as a row and its twin, share a number in ``units``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rooco import _rooco

__all__ = ["Estimated", "auc", "brier", "calibration_error", "log_loss", "r2", "scorer"]


class Estimated(NamedTuple):
    """A metric and its error."""

    value: float
    standard_error: float
    effective: float
    """Σw squared over Σw²: about how many rows of equal weight say as much."""


def _judge(metric: str, y: Any, prediction: Any, sample_weight: Any, units: Any, bins: int = 10) -> Estimated:
    y = np.asarray(y)
    p = np.ascontiguousarray(prediction, dtype=np.float64).ravel()
    if metric != "r2":
        classes = np.unique(y)
        if len(classes) != 2:
            raise ValueError(f"{metric} is for two classes, and y has {len(classes)}.")
        y = y == classes[1]
    y = np.ascontiguousarray(y, dtype=np.float64).ravel()
    if len(p) != len(y):
        raise ValueError(f"there are {len(y)} targets and {len(p)} predictions.")
    w = None if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64).ravel()
    u = None if units is None else np.ascontiguousarray(np.unique(np.asarray(units), return_inverse=True)[1], dtype=np.uint64).ravel()
    for name, other in (("sample_weight", w), ("units", u)):
        if other is not None and len(other) != len(y):
            raise ValueError(f"there are {len(y)} targets and {len(other)} numbers in {name}.")
    found = _rooco.judge(metric, p, y, w, u, bins)
    if found is None:
        raise ValueError(f"{metric} is not defined here: the weights, or those of a class, sum to zero, or the target does not vary.")
    return Estimated(*found)


def log_loss(y: Any, probability: Any, sample_weight: Any = None, *, units: Any = None) -> Estimated:
    """-log of the probability of what happened; ``probability`` is that of the larger class."""
    return _judge("log_loss", y, probability, sample_weight, units)


def brier(y: Any, probability: Any, sample_weight: Any = None, *, units: Any = None) -> Estimated:
    """The mean squared difference of probability and outcome."""
    return _judge("brier", y, probability, sample_weight, units)


def auc(y: Any, score: Any, sample_weight: Any = None, *, units: Any = None) -> Estimated:
    """The chance that a row of the larger class has the higher score; ties count half."""
    return _judge("auc", y, score, sample_weight, units)


def calibration_error(y: Any, probability: Any, sample_weight: Any = None, *, units: Any = None, bins: int = 10) -> Estimated:
    """Σ over bins of the probability of |Σw(p - y)|, over Σw."""
    return _judge("calibration", y, probability, sample_weight, units, bins)


def r2(y: Any, prediction: Any, sample_weight: Any = None, *, units: Any = None) -> Estimated:
    """1 - (squared error)/(squared error of the mean)."""
    return _judge("r2", y, prediction, sample_weight, units)


def scorer(metric: Any) -> Any:
    """A scorer for scikit-learn (``cross_val_score(..., scoring=rooco.metrics.scorer(rooco.metrics.auc))``): larger is better."""
    names = {log_loss: -1.0, brier: -1.0, calibration_error: -1.0, auc: 1.0, r2: 1.0}
    if metric not in names:
        raise ValueError("choose one of log_loss, brier, auc, calibration_error, r2.")

    def score(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        if metric is r2:
            answer = estimator.predict(X)
        elif metric is auc and hasattr(estimator, "decision_function"):
            answer = estimator.decision_function(X)
        else:
            answer = estimator.predict_proba(X)[:, 1]
        return names[metric] * metric(y, answer, sample_weight).value

    return score
