"""Audits, shuffles and losses of one's own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rooco import _inputs, _rooco
from rooco._estimators import OnePassClassifier, OnePassRegressor
from rooco._rooco import Rows


def _kind(loss: str | None) -> str:
    """What the target of a loss is."""
    if loss is None:
        return "guess"
    base = loss.split(":")[0]
    return "number" if base in ("squared", "huber", "quantile", "poisson", "gamma", "tweedie") else "classes" if base == "softmax" else "two"


def _rows(X: Any, y: Any, sample_weight: Any, target: str | None, weight: str | None, missing: str, loss: str | None) -> Rows:
    """Rows of an array with y, of a table or files that hold their target."""
    kind = _kind(loss)
    read = dict(target=target, weight=weight, missing=missing, target_kind=kind)
    if isinstance(X, (str, os.PathLike)) or (isinstance(X, (list, tuple)) and X and isinstance(X[0], (str, os.PathLike))):
        return Rows.files(_inputs.paths(X), json.dumps(read))
    if y is None:
        return _inputs.table_rows(X, read)
    y = np.asarray(y)
    classify = kind in ("two", "classes") or (kind == "guess" and (y.dtype.kind not in "f" or np.isin(y, [0, 1]).all()) and len(np.unique(y)) < 100)
    estimator = OnePassClassifier() if classify else OnePassRegressor()
    weights = None if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64)
    if not classify:
        X, y = _inputs.check_x(estimator, X, y, reset=True, y_numeric=True)
        y = np.ascontiguousarray(y, dtype=np.float64)
        return _inputs.array_rows(estimator, X, intercept=True, missing=missing, y=y, weight=weights)
    X, y = _inputs.check_x(estimator, X, y, reset=True)
    classes, at = np.unique(y, return_inverse=True)
    y = _inputs.class_numbers(at, len(classes))
    return _inputs.array_rows(
        estimator, X, intercept=True, missing=missing, y=y, weight=weights, classes=_inputs.class_names(classes)
    )


class Audit(dict[str, Any]):
    """What an audit found; prints as the report of ``rooco audit``."""

    def __str__(self) -> str:
        return str(self["text"])


def audit(
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    target: str | None = None,
    weight: str | None = None,
    loss: str | None = None,
    l2: float = 0.0,
    domain: str = "none",
    missing: str = "error",
    random_state: int = 1,
) -> Audit:
    """Measure, in one pass, what the theorems need: G, β, λ, is the sum of losses convex, is the order random; and say what is promised.

    ``X`` is an array or sparse matrix with ``y``, a table with ``target`` inside, or a file.
    """
    loss = None if loss is None else loss.replace("_", "-")
    rows = _rows(X, y, sample_weight, target, weight, missing, loss)
    return Audit(json.loads(_rooco.audit(rows, json.dumps(dict(loss=loss, l2=l2, domain=domain, seed=random_state)))))


def certify(model: OnePassClassifier | OnePassRegressor, X: Any, y: Any, sample_weight: Any = None, domain: str | None = None) -> dict[str, Any]:
    """How far a fitted model is at most from the best one on these rows, and its regret at most; certain, whatever the order.

    One pass over the rows that it was learned from.
    """
    X, y = _inputs.check_x(model, X, y, reset=False)
    if isinstance(model, OnePassClassifier):
        y = model._encode(y, model.classes_)
    weight = None if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64)
    rows = _inputs.array_rows(
        model, X, intercept=model.model_.intercept, missing=model.model_.missing, y=np.ascontiguousarray(y, dtype=np.float64), weight=weight
    )
    answer: dict[str, Any] = json.loads(_rooco.certify(rows, model.model_, domain))
    return answer


def shuffle(
    inputs: Any,
    output: str | os.PathLike[str],
    *,
    seed: int = 1,
    memory: int = 1 << 30,
    records: str | None = None,
    header: bool | None = None,
    temporary: str | os.PathLike[str] | None = None,
) -> int:
    """Shuffle the lines of files into one, exactly uniformly, whatever their size; as ``rooco shuffle``. Returns the number of records."""
    paths = _inputs.paths(inputs)
    name = paths[0].removesuffix(".gz").removesuffix(".zst")
    if records is None:
        records = "csv" if name.endswith(".csv") else "tsv" if name.endswith(".tsv") else "lines"
    if header is None:
        header = records != "lines"
    return _rooco.shuffle(paths, output, seed, memory, records, header, temporary)


def merge(models: Any, without: Any = ()) -> tuple[_rooco.Model, dict[str, Any]]:
    """One model of the rows of several, from the sums that models at the optimum of their rows carry (``to_optimum``); those of ``without`` are taken out again.

    For the squared loss the model of exactly these rows; for the logistic loss near to it, and how near is in the second answer. ``a + b`` does the same for two models.
    """
    plain = [[getattr(m, "model_", m) for m in group] for group in (models, without)]
    model, known = _rooco.merge_models(*plain)
    return model, json.loads(known)


class Learned(NamedTuple):
    """What :func:`learn` returns."""

    intercept: float
    coef: np.ndarray
    progressive_loss: float
    rows: int


def learn(
    value: Callable[[float, float], float],
    slope: Callable[[float, float], float],
    curvature: tuple[float, float],
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    algorithm: str = "sgd",
    domain: str = "none",
    l2: float = 0.0,
    lambda_: float | None = None,
    beta: float | None = None,
    random_state: int = 1,
) -> Learned:
    """Run an algorithm on a loss of one's own, φ(p, y) of a prediction p: ``value`` is φ, ``slope`` its derivative in p, and its second
    derivative lies in ``curvature``.

    For experiments: every row calls into Python twice or more, some hundred times slower than a built-in loss. A loss that is here to stay is one
    file in Rust (CONTRIBUTING.md). Two passes: the first measures β.
    """
    rows = _rows(X, np.asarray(y, dtype=float), sample_weight, None, None, "error", "squared")
    options: dict[str, Any] = dict(algorithm=algorithm.replace("_", "-"), domain=domain, l2=l2, seed=random_state)
    options |= {k: v for k, v in (("lambda", lambda_), ("beta", beta)) if v is not None}
    w, loss, n = _rooco.own_loss(rows, value, slope, curvature, json.dumps(options))
    return Learned(float(w[0]), w[1:], loss, n)
