"""What holds for all parts: audits, the order, certificates; and predictions."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any

import numpy as np

from rooco import _rooco
from rooco._rooco import Rows
from rooco._tools import Audit
from rooco.dask._cluster import Progress, _client, _gather
from rooco.dask._learn import _audit_part, _certified
from rooco.dask._parts import _Known, _of_table, _on_part, _open
from rooco.dask._shuffle import _whole


def _read(target: str | None, weight: str | None, missing: str, loss: str | None, labels: str = "required") -> dict[str, Any]:
    from rooco._tools import _kind

    return dict(target=target, weight=weight, missing=missing, target_kind=_kind(loss), labels=labels)


def audit(
    data: Any,
    *,
    target: str | None = None,
    weight: str | None = None,
    loss: str | None = None,
    l2: float = 0.0,
    domain: str = "none",
    missing: str = "error",
    random_state: int = 1,
    client: Any = None,
    progress: Progress | None = None,
) -> Audit:
    """:func:`rooco.audit` of rows in parts: counts and maxima are those of one machine, sums differ in the last digits. The order test reads the parts one after the other."""
    client = _client(client)
    loss = None if loss is None else loss.replace("_", "-")
    known = _Known(_of_table(client, data, _read(target, weight, missing, loss)), progress)
    options = json.dumps(dict(loss=loss, l2=l2, domain=domain, seed=random_state))
    order = _order(known, random_state)
    sums = known.parts.gather(_audit_part, known.schema, options, progress=progress)
    return Audit(json.loads(_rooco.join_audits(sums, known.schema, options, _gather(client, [order], None)[0])))


def _order_part(before: bytes | None, entry: Any, read: str | None, schema: str, seed: int) -> bytes:
    return _rooco.part_order(_open(entry, read, None), schema, seed, before)


def _order(known: _Known, seed: int) -> Any:
    """A chain: the test of a part goes on where that of the part before it ended. What travels is a few kilobytes."""
    state: Any = None
    for entry in known.parts.entries:
        state = known.parts.client.submit(_order_part, state, entry, known.parts.read, known.schema, seed, pure=False)
    return state


def order_test(
    data: Any, *, target: str | None = None, weight: str | None = None, loss: str | None = None, missing: str = "error", random_state: int = 1, client: Any = None
) -> dict[str, Any]:
    """Are the rows in random order, part after part? The test of one machine, to the last bit."""
    client = _client(client)
    known = _Known(_of_table(client, data, _read(target, weight, missing, loss)))
    found: dict[str, Any] = json.loads(_rooco.order_of(_gather(client, [_order(known, random_state)], None)[0], random_state))
    return found


def certify(model: Any, data: Any, *, domain: str | None = None, client: Any = None, progress: Progress | None = None) -> dict[str, Any]:
    """How far a fitted estimator is at most from the best model of rows in parts, with certainty: :func:`rooco.certify`, pass by pass over the parts."""
    client = _client(client)
    return _certified(_of_table(client, data, _model_read(model)), model.model_, domain, progress)


def _model_read(model: Any, labels: str = "required") -> dict[str, Any]:
    return dict(labels=labels, intercept=model.model_.intercept, missing=model.model_.missing, target_kind=model._target_kind())


def _predict_part(rows: Rows, model: Any, out: str | None, proba: bool) -> tuple[Any, int]:
    """Predictions by the estimator's own rule, or how many were written; and how many rows lie outside the range of the training data."""
    classify = hasattr(model, "classes_")
    scores, clamped = model.model_.scores(rows, proba or not classify, bool(model.clamp))
    if not classify:
        predicted = scores[:, 0]
    elif not proba:
        predicted = model._classes_of(scores)
    else:
        predicted = np.hstack([1.0 - scores, scores]) if scores.shape[1] == 1 else scores
    if out is None:
        return predicted, clamped
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"prediction": predicted} if predicted.ndim == 1 else {f"p_{name}": predicted[:, k] for k, name in enumerate(model.classes_)}
    _whole(out, lambda path: pq.write_table(pa.table(columns), path))
    return len(predicted), clamped


def predict(model: Any, data: Any, *, out: str | os.PathLike[str] | None = None, proba: bool = False, client: Any = None, progress: Progress | None = None) -> Any:
    """Predictions for rows in parts, part after part, as one array; or, with ``out``, a Parquet file for each part, and their number of rows. ``proba``: of each class."""
    client = _client(client)
    if proba and not (hasattr(model, "classes_") and model.model_.has_probabilities):
        raise ValueError("proba=True is for classifiers of the logistic and softmax losses")
    parts = _of_table(client, data, _model_read(model, "optional"))
    if out is not None:
        os.makedirs(out, exist_ok=True)
        if os.listdir(out):
            raise FileExistsError(f"{out}: the folder is not empty")
    held = client.scatter(model, broadcast=True, hash=False)
    futures = []
    for k, entry in enumerate(parts.entries):
        name = None if out is None else os.path.join(os.path.abspath(out), f"part-{k:06}.parquet")
        futures.append(client.submit(_on_part, _predict_part, entry, parts.read, parts.arrays, held, name, proba, pure=False))
    found = _gather(client, futures, progress)
    clamped = sum(n for _, n in found)
    if clamped:
        warnings.warn(f"{clamped} rows lie outside the range of the training data, where this model's predictions are flat; clamp=False makes them linear", UserWarning, stacklevel=2)
    return sum(n for n, _ in found) if out is not None else np.concatenate([p for p, _ in found])
