"""Beyond one machine: shuffle, learn, certify and experiment on a Dask cluster. See docs/scale.md.

Rows come in parts: files that every worker can read, the partitions of a dask DataFrame, the blocks of a dask Array. A part is the unit of everything: results depend on the
parts and their order, never on how many workers there are or which of them did what, and a part whose worker dies is done again.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from rooco import _inputs, _rooco
from rooco._base import _OnePass, _Run
from rooco._rooco import Learner, Model, Rows
from rooco._tools import Audit

__all__ = ["audit", "certify", "fit", "lab", "local", "order_test", "predict", "shuffle"]

Progress = Callable[[int, int], object]


def local(workers: int = 2, memory: str = "1GiB", folder: str | os.PathLike[str] | None = None) -> Any:
    """A cluster of worker processes on this machine, bound to loopback: its ``Client``. Close it, or use it in a ``with``."""
    from distributed import Client

    return Client(
        n_workers=workers, threads_per_worker=1, processes=True, memory_limit=memory, host="127.0.0.1", dashboard_address="127.0.0.1:0",
        local_directory=None if folder is None else os.fspath(folder),
    )  # fmt: skip


def _client(client: Any) -> Any:
    if client is not None:
        return client
    try:
        from distributed import default_client
    except ImportError:
        raise ImportError("rooco.dask needs dask.distributed: pip install 'rooco[dask]'") from None
    try:
        return default_client()
    except ValueError:
        raise ValueError("there is no cluster: Client(address) of an existing one, or rooco.dask.local(workers=4)") from None


# ---------------------------------------------------------------------- parts


class _Parts:
    """Where the rows are: one entry a part, which `open` makes Rows of on a worker."""

    def __init__(self, client: Any, entries: list[Any], read: dict[str, Any] | None, arrays: dict[str, Any] | None = None) -> None:
        if not entries:
            raise ValueError("there are no parts: no file matches, or the frame has no partitions")
        self.client = client
        self.entries = entries
        self.read = None if read is None else json.dumps(read)
        self.arrays = arrays

    def submit(self, work: Callable[..., Any], *args: Any) -> list[Any]:
        """One task a part, in the order of the parts."""
        # `pure=False`: nobody else's results are taken for these.
        return [self.client.submit(_on_part, work, entry, self.read, self.arrays, *args, pure=False) for entry in self.entries]

    def gather(self, work: Callable[..., Any], *args: Any, progress: Progress | None = None) -> list[Any]:
        return _gather(self.client, self.submit(work, *args), progress)

    def added(self, work: Callable[..., Any], *args: Any, progress: Progress | None = None) -> bytes:
        """Sums of all parts, added on the workers in a tree of pairs that depends on the number of parts alone."""
        level = self.submit(work, *args)
        everything = list(level)
        while len(level) > 1:
            pairs = [level[k : k + 2] for k in range(0, len(level), 2)]
            level = [p[0] if len(p) == 1 else self.client.submit(_add, p, pure=False) for p in pairs]
            everything += level
        try:
            total: bytes = _gather(self.client, level, None)[0]
        except BaseException:
            self.client.cancel(everything)
            raise
        if progress is not None:
            progress(len(self.entries), len(self.entries))
        return total


def _add(parts: list[bytes]) -> bytes:
    return _rooco.add_sums(parts)


def _gather(client: Any, futures: list[Any], progress: Progress | None) -> list[Any]:
    """Results in the order of the futures. Whoever interrupts this leaves no work behind."""
    from distributed import as_completed

    try:
        if progress is not None:
            for done, _ in enumerate(as_completed(futures), 1):
                progress(done, len(futures))
        return list(client.gather(futures))
    except BaseException:
        client.cancel(futures)
        raise


def _on_part(work: Callable[..., Any], entry: Any, read: str | None, arrays: dict[str, Any] | None, *args: Any) -> Any:
    return work(_open(entry, read, arrays), *args)


def _open(entry: Any, read: str | None, arrays: dict[str, Any] | None) -> Rows:
    if arrays is not None:
        X, y, weight = entry
        X = X if hasattr(X, "indptr") else np.ascontiguousarray(X)
        if not hasattr(X, "indptr") and X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        y = np.zeros(X.shape[0]) if y is None else np.asarray(y)
        if arrays["classes"] is not None:
            classes = arrays["classes"]
            at = np.searchsorted(classes, y)
            if (at >= len(classes)).any() or (classes[at] != y).any():
                raise ValueError("y holds a class that was not there when the classes were counted")
            y = _inputs.class_numbers(at, len(classes))
        y = np.ascontiguousarray(y, dtype=np.float64)
        weight = None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
        names = None if arrays["classes"] is None else _inputs.class_names(arrays["classes"])
        return _inputs.array_rows(arrays["names"], X, intercept=arrays["intercept"], missing=arrays["missing"], y=y, weight=weight, classes=names)
    assert read is not None
    if isinstance(entry, str):
        return Rows.files([entry], read)
    return Rows.arrow(_arrow(entry), read)


def _arrow(frame: Any) -> Any:
    """A pandas partition as an Arrow table; what is one already stays."""
    if hasattr(frame, "__arrow_c_stream__") and not type(frame).__module__.startswith("pandas"):
        return frame
    import pyarrow as pa

    return pa.Table.from_pandas(frame, preserve_index=False)


def _files(paths: Any) -> list[str]:
    """Files by name or pattern; a folder stands for its Parquet files. Sorted, so that their order is the same everywhere."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found: list[str] = []
    for path in (os.fspath(g) for g in given):
        if os.path.isdir(path):
            path = os.path.join(path, "*.parquet")
        matches = sorted(glob.glob(path)) if glob.has_magic(path) else [path]
        if not matches:
            raise FileNotFoundError(f"no file matches {path}")
        found += [os.path.abspath(m) for m in matches]
    for path in found:
        if not os.path.isfile(path):
            raise FileNotFoundError(f"{path}: there is no such file")
    return found


def _is_paths(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike)) or (isinstance(data, (list, tuple)) and bool(data) and isinstance(data[0], (str, os.PathLike)))


def _blocks(array: Any) -> list[Any]:
    """The row blocks of a dask array, each with all columns."""
    if array.ndim == 2 and array.numblocks[1] > 1:
        array = array.rechunk({1: -1})
    return list(array.to_delayed().reshape(-1))


def _of_arrays(client: Any, X: Any, y: Any, weight: Any, arrays: dict[str, Any]) -> _Parts:
    columns = [_blocks(X)] + [None if v is None else _blocks(v) for v in (y, weight)]
    n = len(columns[0] or [])
    for what, blocks in (("y", columns[1]), ("the weights", columns[2])):
        if blocks is not None and len(blocks) != n:
            raise ValueError(f"{what} comes in {len(blocks)} blocks, X in {n}: rechunk it like X")
    # The blocks are worked out once and stay on the workers, who write to disk what does not fit.
    held = [None if blocks is None else client.compute(blocks) for blocks in columns]
    entries = [[None if blocks is None else blocks[k] for blocks in held] for k in range(n)]
    return _Parts(client, entries, None, arrays)


def _of_table(client: Any, data: Any, read: dict[str, Any]) -> _Parts:
    if _is_paths(data):
        return _Parts(client, list(_files(data)), read)
    if _inputs.is_dask(data):
        return _Parts(client, list(client.compute(list(data.to_delayed()))), read)
    raise TypeError(f"parts are files, a dask DataFrame or a dask Array, not {type(data).__name__}")


def _look(rows: Rows) -> str:
    return _rooco.part_look(rows)


def _grown(rows: Rows, base: str) -> tuple[str, int]:
    return _rooco.part_schema(rows, base)


class _Known:
    """Parts whose columns have one meaning: categories of all parts have their coordinates."""

    def __init__(self, parts: _Parts, progress: Progress | None = None) -> None:
        self.parts = parts
        first = parts.client.submit(_on_part, _look, parts.entries[0], parts.read, parts.arrays, pure=False)
        base = _gather(parts.client, [first], None)[0]
        found = parts.gather(_grown, base, progress=progress)
        self.schema = _rooco.join_schemas(base, [schema for schema, _ in found])
        self.sizes = [n for _, n in found]


# ---------------------------------------------------------------------- learning


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


# ---------------------------------------------------------------------- what holds


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


# ---------------------------------------------------------------------- shuffling


def _generator(seed: int, stream: int, index: int) -> Any:
    """Random 64-bit numbers of their own for every piece and every bucket: Philox's own output, which no version of numpy changes."""
    return np.random.Philox(key=np.array([seed, (stream << 48) | index], dtype=np.uint64))


def _bucket_of(raw: np.ndarray, buckets: int) -> np.ndarray:
    # 32 bits times a number below 2^31: exact in 64 bits. A bucket is off its share by buckets/2^32 of it at most.
    return ((raw >> np.uint64(32)) * np.uint64(buckets) >> np.uint64(32)).astype(np.int64)


def _whole(path: str, write: Callable[[str], None]) -> None:
    """Writes beside its place and renames: a killed worker leaves no half file under this name."""
    temporary = f"{path}.{uuid.uuid4().hex}.tmp"
    try:
        write(temporary)
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)


def _batches(piece: Any, schema: Any, rows: int) -> Any:
    """The rows of a piece, some at a time."""
    import pyarrow as pa

    if isinstance(piece, tuple):
        path, group = piece
        if group is None:
            import pyarrow.csv as csv

            options = csv.ConvertOptions(column_types=schema)
            parse = csv.ParseOptions(delimiter="\t" if ".tsv" in os.path.basename(path) else ",")
            with csv.open_csv(path, convert_options=options, parse_options=parse) as reader:
                yield from reader
            return
        import pyarrow.parquet as pq

        with pq.ParquetFile(path, memory_map=False) as file:
            yield from file.iter_batches(batch_size=rows, row_groups=[group])
        return
    table = piece if isinstance(piece, pa.Table) else _arrow(piece)
    yield from table.to_batches(max_chunksize=rows)


def _plain(schema: Any) -> Any:
    """Dictionaries become what they stand for: each part has its own."""
    import pyarrow as pa

    return pa.schema([pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in schema])


def _deal(piece: Any, index: int, seed: int, buckets: int, schema: Any, chunk: int, scratch: str) -> int:
    """Deals the rows of a piece to the buckets: a file of record batches, `buckets` of them for every chunk of rows."""
    import pyarrow as pa

    done, random = 0, _generator(seed, 1, index)

    def write(path: str) -> None:
        nonlocal done
        waiting: list[Any] = []
        size = 0
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, schema) as out:

            def flush() -> None:
                nonlocal done, waiting, size
                if not waiting:
                    return
                table = pa.Table.from_batches(waiting).cast(schema)
                n = table.num_rows
                to = _bucket_of(random.random_raw(n), buckets)
                order = np.argsort(to, kind="stable")
                ends = np.searchsorted(to[order], np.arange(buckets + 1))
                table = table.take(pa.array(order)).combine_chunks()
                batch = table.to_batches()[0] if n else None
                for j in range(buckets):
                    assert batch is not None
                    out.write_batch(batch.slice(int(ends[j]), int(ends[j + 1] - ends[j])))
                done, waiting, size = done + n, [], 0

            for batch in _batches(piece, schema, 1 << 14):
                waiting.append(batch)
                size += batch.nbytes
                if size >= chunk:
                    flush()
            flush()

    _whole(os.path.join(scratch, f"{index:08}.arrow"), write)
    pa.default_memory_pool().release_unused()
    return done


def _collect(bucket: int, pieces: int, seed: int, buckets: int, scratch: str, out: str) -> int:
    """The rows of a bucket, from every piece, in random order: a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    batches, schema = [], None
    for index in range(pieces):
        with pa.OSFile(os.path.join(scratch, f"{index:08}.arrow"), "rb") as source:
            reader = pa.ipc.open_file(source)
            schema = reader.schema
            batches += [reader.get_batch(c) for c in range(bucket, reader.num_record_batches, buckets)]
    table = pa.Table.from_batches(batches, schema)
    del batches
    order = np.argsort(_generator(seed, 2, bucket).random_raw(table.num_rows), kind="stable")
    table = table.combine_chunks().take(pa.array(order))
    _whole(os.path.join(out, f"part-{bucket:06}.parquet"), lambda path: pq.write_table(table, path, row_group_size=1 << 17))
    rows = int(table.num_rows)
    del table
    pa.default_memory_pool().release_unused()
    return rows


def shuffle(
    data: Any,
    out: str | os.PathLike[str],
    *,
    seed: int = 1,
    part_bytes: int = 32 << 20,
    scratch: str | os.PathLike[str] | None = None,
    client: Any = None,
    progress: Progress | None = None,
) -> int:
    """Put rows in a uniformly random order, whatever their number: Parquet parts in the folder ``out``, read one after the other. Returns the number of rows.

    ``data`` is Parquet, CSV or TSV files, or a dask DataFrame. Every row goes to a random part, and the rows of a part are put in random order: a uniformly random order of all.
    The files depend on the data, the seed and ``part_bytes`` (about the memory that the rows of a part take) alone, not on the workers. ``scratch`` (beside ``out``) holds the rows
    once more meanwhile. Both must be folders that all workers see.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    client = _client(client)
    if not 0 <= seed < 1 << 63:
        raise ValueError(f"seed must be in 0..2^63, got {seed}")
    out = os.path.abspath(out)
    os.makedirs(out, exist_ok=True)
    if os.listdir(out):
        raise FileExistsError(f"{out}: the folder is not empty")
    pieces: list[Any] = []
    size = 0
    schema: Any = None
    if _is_paths(data):
        for path in _files(data):
            if path.endswith((".parquet", ".pq")):
                about = pq.read_metadata(path)
                pieces += [(path, g) for g in range(about.num_row_groups)]
                size += sum(about.row_group(g).total_byte_size for g in range(about.num_row_groups))
                own = _plain(about.schema.to_arrow_schema())
            else:
                import pyarrow.csv as csv

                pieces.append((path, None))
                size += os.path.getsize(path) * (4 if path.endswith(".gz") else 1)
                with csv.open_csv(path, parse_options=csv.ParseOptions(delimiter="\t" if ".tsv" in os.path.basename(path) else ",")) as reader:
                    own = reader.schema
            if schema is None:
                schema = own
            elif schema.names != own.names:
                raise ValueError(f"{path}: its columns are not those of the first file")
    elif _inputs.is_dask(data):
        pieces = list(client.compute(list(data.to_delayed())))
        about = _gather(client, [client.submit(_frame_size, p, pure=False) for p in pieces], None)
        size = sum(n for n, _ in about)
        schema = _plain(about[0][1])
    else:
        raise TypeError(f"what is shuffled is files or a dask DataFrame, not {type(data).__name__}")
    if not pieces:
        raise ValueError("there are no rows to shuffle")
    buckets = max(1, -(-size // part_bytes))
    beside = os.path.dirname(out)
    own_scratch = tempfile.mkdtemp(prefix=".rooco-shuffle-", dir=beside if scratch is None else scratch)
    # Parts come into `out` when all of them are there: nobody should take some of the rows for all of them.
    ready = tempfile.mkdtemp(prefix=".rooco-shuffle-", dir=beside)
    try:
        total = len(pieces) + buckets
        told = None if progress is None else lambda done, _: progress(done, total)
        chunk = max(1 << 20, part_bytes // 2)
        dealt = _gather(client, [client.submit(_deal, p, k, seed, buckets, schema, chunk, own_scratch, pure=False) for k, p in enumerate(pieces)], told)
        told = None if progress is None else lambda done, _: progress(len(pieces) + done, total)
        rows = _gather(client, [client.submit(_collect, j, len(pieces), seed, buckets, own_scratch, ready, pure=False) for j in range(buckets)], told)
        if sum(rows) != sum(dealt):
            raise RuntimeError(f"{sum(dealt)} rows went in and {sum(rows)} came out: the data changed meanwhile")
        for name in sorted(os.listdir(ready)):
            os.replace(os.path.join(ready, name), os.path.join(out, name))
        return sum(rows)
    finally:
        for folder in (own_scratch, ready):
            # Under another name first: a task that is still under way finds no folder to write to, and nothing stays behind.
            gone = f"{folder}.gone"
            os.replace(folder, gone)
            shutil.rmtree(gone, ignore_errors=True)


def _frame_size(frame: Any) -> tuple[int, Any]:
    table = _arrow(frame)
    return table.nbytes, table.schema


# ---------------------------------------------------------------------- the lab


def lab(experiment: str | os.PathLike[str], folder: str | os.PathLike[str], *, client: Any = None, progress: Progress | None = None) -> Any:
    """Run an experiment of the lab on the cluster, a task for every problem, T and data set: :class:`rooco.lab.Results`, and in ``folder`` the files of
    ``rooco lab run``, byte for byte. What a folder holds already is not run again."""
    from distributed import as_completed

    from rooco import lab as one_machine

    client = _client(client)
    name = os.fspath(experiment)
    if os.path.exists(name):
        name = os.path.abspath(name)
    groups = _rooco.lab_groups(name)
    os.makedirs(folder, exist_ok=True)
    note = os.path.join(folder, "groups.txt")
    done = set(map(int, open(note).read().split())) if os.path.exists(note) else set()
    futures = {client.submit(_rooco.lab_group, name, g, pure=False): g for g in range(groups) if g not in done}
    try:
        for n, future in enumerate(as_completed(list(futures)), 1):
            _rooco.lab_append(folder, future.result())
            with open(note, "a") as f:
                f.write(f"{futures[future]}\n")
            if progress is not None:
                progress(len(done) + n, groups)
    except BaseException:
        client.cancel(list(futures))
        raise
    # Everything is there: this only writes the results, and runs what an older version of the program left.
    results = one_machine.run(name, folder)
    os.remove(note) if os.path.exists(note) else None
    return results
