"""Learning from parts: the mean of their models, its bound, and the optimum of all rows."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from rooco import _inputs, _rooco
from rooco._base import _OnePass
from rooco._rooco import Learner, Model, Rows
from rooco._run import _Run
from rooco.dask._cluster import Progress, _client, _gather
from rooco.dask._parts import _Known, _Parts, _files, _is_paths, _of_arrays, _of_table, _on_part


def _seed_of(seed: int, part: int) -> int:
    """The seed of a part: the first 63 bits of a hash of both."""
    return int.from_bytes(hashlib.sha256(f"rooco part {seed} {part}".encode()).digest()[:8], "little") >> 1


def _learn(rows: Rows, options: str, schema: str) -> bytes:
    learner = Learner(options)
    learner.begin_with(schema)
    learner.run(rows)
    return learner.model()[0].to_bytes()


def _audit_part(rows: Rows, schema: str, options: str) -> bytes:
    return _rooco.part_audit(rows, schema, options)


def _sums_part(rows: Rows, model: bytes, at: np.ndarray, hessian: bool, squares: bool) -> bytes:
    # What came over the wire need not be aligned.
    return _rooco.part_sums(rows, Model.from_bytes(model), np.array(at), hessian, squares)


def _product_part(rows: Rows, model: bytes, at: np.ndarray, v: np.ndarray) -> np.ndarray | None:
    return _rooco.part_product(rows, Model.from_bytes(model), np.array(at), np.array(v))


def _certificate_part(rows: Rows, model: bytes, domain: str | None, stand: bytes | None) -> bytes:
    return _rooco.part_certificate(rows, Model.from_bytes(model), domain, stand)


def _average(known: _Known, options: dict[str, Any], guarantee: bool, progress: Progress | None) -> Model:
    parts, bound = known.parts, None
    each = dict(options, order_test=False)
    extra: list[dict[str, Any]] = [{} for _ in parts.entries]
    if guarantee:
        if any(options.get(key) is not None for key in ("label_noise", "positive_unlabelled", "feature_noise", "missing_rate", "randomised_response")):
            raise ValueError("guarantee=True over parts is for losses without a correction: their constants are audited first, and the audit of parts takes none")
        asked = json.dumps(dict(loss=options["loss"], l2=options["l2"], domain=options["domain"], seed=options["seed"]))
        sums = parts.gather(_audit_part, known.schema, asked)
        bound = _rooco.workers_bound(sums, known.schema, asked, known.sizes)
        found = json.loads(bound)
        if not found["applies"] or found["value"] is None:
            why = "; ".join(found["failed"]) or "the domain has no end: give domain='ball:R'"
            raise ValueError(f"Theorem 12 promises nothing for these rows: {why}")
        each |= {"algorithm": "worker-sgd", "features": "linear", "beta": found["beta"], "lambda": found["lambda"], "total": sum(known.sizes)}
        extra = [{"horizon": n} for n in known.sizes]
    # The curves of two parts would bend at places of their own.
    if each.get("features") == "auto":
        each["features"] = "linear"
    futures = []
    for k, entry in enumerate(parts.entries):
        one = json.dumps(each | extra[k] | {"seed": _seed_of(int(options["seed"]), k)}, allow_nan=False)
        futures.append(parts.client.submit(_on_part, _learn, entry, parts.read, parts.arrays, one, known.schema, pure=False))
    models = _gather(parts.client, futures, progress)
    return _rooco.average_models([Model.from_bytes(m) for m in models], bound)


def _to_optimum(known: _Known, model: Model, tolerance: float, progress: Progress | None) -> Model:
    parts = known.parts
    start = parts.client.scatter(model.to_bytes(), broadcast=True, hash=False)

    def sums(at: np.ndarray, hessian: bool, squares: bool) -> bytes:
        return parts.added(_sums_part, start, at, hessian, squares, progress=progress)

    def product(at: np.ndarray, v: np.ndarray) -> list[float] | None:
        found = parts.gather(_product_part, start, at, v, progress=progress)
        if any(f is None for f in found):
            return None
        total = np.zeros(len(v))
        for f in found:
            total += f
        return total.tolist()

    return _rooco.optimum_of_parts(model, tolerance, 1 << 30, sums, product)


def _certified(parts: _Parts, model: Model, domain: str | None, progress: Progress | None = None) -> dict[str, Any]:
    held = parts.client.scatter(model.to_bytes(), broadcast=True, hash=False)
    certificate = _rooco.Certificate(model, parts.gather(_certificate_part, held, domain, None, progress=progress), domain)
    while (stand := certificate.stand()) is not None:
        certificate.join(parts.gather(_certificate_part, held, domain, stand, progress=progress))
    answer: dict[str, Any] = json.loads(certificate.json())
    return answer


def fit(
    estimator: _OnePass,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    target: str | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    schema: str | os.PathLike[str] | None = None,
    positive: str | None = None,
    guarantee: bool = False,
    certify: bool = False,
    client: Any = None,
    progress: Progress | None = None,
) -> Any:
    """Learn from rows in parts: each part by itself, in its own order, and the mean of the models. Returns the estimator.

    ``X`` is files (names or patterns; ``target`` names the column), a dask DataFrame that holds its ``target``, or a dask Array with ``y``. The parts should be random
    ones of the rows (:func:`shuffle` makes such): then the mean of their models is as good as theory says.

    With ``guarantee`` every part runs line 4 of Algorithm 1 with the number of *all* rows, and Theorem 12 bounds the mean of the models (``guarantee_``), although
    the sum of a part's own rows need not be convex. The estimator's ``domain`` must be bounded. With ``to_optimum`` of the estimator the mean goes on to the optimum of all rows, by
    sums of gradients and Hessians over the parts, and its certificate is ``certificate_``. ``certify`` makes one for the mean itself.
    """
    client = _client(client)
    if estimator.missing == "mean":
        raise ValueError("missing='mean' is the mean of the rows before, which parts do not know: use 'typical', 'zero', or fill in")
    if estimator.holdout:
        raise ValueError("holdout is for one machine: keep some parts back and score them with rooco.dask.predict")
    if estimator._has_horizon():
        raise ValueError(f"algorithm={estimator.algorithm!r} must know the number of rows: on parts use guarantee=True, or the default")
    if str(estimator.features) not in ("auto", "linear"):
        raise ValueError("over parts a model is linear in its columns: features='auto' or 'linear'")
    if str(estimator.features) == "auto":
        warnings.warn("over parts the model is linear in its columns, without curves and pairs; features='linear' asks for that", UserWarning, stacklevel=2)
    if y is not None:
        parts, classes = _arrays(client, estimator, X, y, sample_weight)
    else:
        if target is None and not (_is_paths(X) and str(_files(X)[0]).split(".")[-1] in ("svm", "libsvm", "vw", "gz")):
            raise ValueError("target: name the column that is to be predicted")
        read = estimator._read_options(
            target=target, weight=weight, drop=list(drop), categorical=list(categorical), numeric=list(numeric),
            schema=None if schema is None else os.fspath(schema), target_kind=estimator._target_kind() if positive is None else {"positive": positive},
        )  # fmt: skip
        parts, classes = _of_table(client, X, read), None
    known = _Known(parts, progress)
    options = estimator._options(0 if classes is None else len(classes), None)
    model = _average(known, options, guarantee, progress)
    certificate = None
    if estimator.to_optimum is not None and estimator.to_optimum is not False:
        tolerance = 1e-8 if estimator.to_optimum is True else float(estimator.to_optimum)
        model = _to_optimum(known, model, tolerance, progress)
        certificate = _certified(parts, model, None, progress)
        found = json.loads(model.about())["optimum"]
        if not found["converged"]:
            warnings.warn(f"no optimum was reached: {found['end']}", UserWarning, stacklevel=2)
    elif certify:
        certificate = _certified(parts, model, None, progress)
    estimator._run = _Run(None, json.dumps(options), model, None)
    estimator.certificate_ = certificate
    if classes is not None or y is not None:
        estimator.n_features_in_ = int(X.shape[1])
        if hasattr(X, "columns"):
            estimator.feature_names_in_ = np.array([str(c) for c in X.columns], dtype=object)
    else:
        estimator._table_names(estimator._run)
    if classes is not None:
        estimator.classes_ = classes
    elif y is None:
        estimator._set_classes()
    return estimator


def _arrays(client: Any, estimator: _OnePass, X: Any, y: Any, weight: Any) -> tuple[_Parts, np.ndarray | None]:
    """Parts of a dask Array (or a frame of numbers) beside its y."""
    if not _inputs.is_dask(X) or not _inputs.is_dask(y):
        raise TypeError("X and y must both be dask collections")
    columns = getattr(X, "columns", None)
    if columns is not None:
        words = [str(c) for c, t in X.dtypes.items() if getattr(t, "kind", "O") not in "iufb"]
        if words:
            raise TypeError(f"column {words[0]!r} holds no numbers: beside y columns are numbers only; put y into the frame and name it, fit(estimator, frame, target=...)")
    # What the columns are called, as an estimator would say it.
    names = SimpleNamespace() if columns is None else SimpleNamespace(feature_names_in_=[str(c) for c in columns])
    X, y, weight = (v.to_dask_array(lengths=True) if hasattr(v, "to_dask_array") else v for v in (X, y, weight))
    arrays: dict[str, Any] = dict(names=names, classes=None, intercept=bool(estimator.fit_intercept), missing=estimator._missing())
    parts = _of_arrays(client, X, y, weight, arrays)
    if estimator._target_kind() == "number":
        return parts, None
    found = _gather(client, [client.submit(np.unique, entry[1], pure=False) for entry in parts.entries], None)
    classes = np.unique(np.concatenate(found))
    if len(classes) < 2:
        raise ValueError("there is one class alone in y")
    arrays["classes"] = classes
    return parts, classes
