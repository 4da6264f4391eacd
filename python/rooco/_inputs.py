"""From what users have (arrays, sparse matrices, tables) to the rows that the compiled half reads. Nothing is copied that need not be."""

from __future__ import annotations

import importlib.util
import json
import os
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, validate_data

from rooco._rooco import Rows, number_name

TEXT = (
    "; a column holds text. Encode it first (OneHotEncoder in a ColumnTransformer), or use fit_stream or fit_file, which make a "
    "feature of every value"
)


def is_table(X: Any) -> bool:
    """True for objects with an Arrow stream (polars, pyarrow, duckdb), and for pandas frames with columns that are no numbers.

    pandas keeps numbers as numpy arrays already, and scikit-learn knows how to take them. Text, categories and dates of a frame need pyarrow.
    """
    if is_lazy(X):
        return True
    if not hasattr(X, "__arrow_c_stream__"):
        return False
    if not type(X).__module__.startswith("pandas"):
        return True
    numbers = all(getattr(dtype, "kind", "O") in "biuf" for dtype in getattr(X, "dtypes", []))
    return not numbers and importlib.util.find_spec("pyarrow") is not None


def is_dask(X: Any) -> bool:
    """A dask DataFrame or Array."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "to_delayed")


def is_lazy(X: Any) -> bool:
    """A polars LazyFrame: a query that has not run yet."""
    return type(X).__name__ == "LazyFrame" and type(X).__module__.startswith("polars")


def collected(X: Any) -> Any:
    """The table of a LazyFrame; everything else as it is."""
    return X.collect() if is_lazy(X) else X


def check_x(estimator: Any, X: Any, y: Any = "no_validation", *, reset: bool, **options: Any) -> Any:
    """scikit-learn's checks of X (and y), without a copy. Whether numbers are finite is seen when a row is read."""
    wanted: dict[str, Any] = dict(
        accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False, reset=reset, **options
    )
    try:
        sound(X)
        return validate_data(estimator, X, y, **wanted)
    except ValueError as e:
        if "could not convert string" in str(e):
            raise ValueError(str(e) + TEXT) from e
        raise


def column_names(estimator: Any, n: int) -> list[str]:
    """The names of the columns: the user's, or x0, x1, … as elsewhere in scikit-learn."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{i}" for i in range(n)] if names is None else [str(name) for name in names]


def sound(X: Any) -> None:
    """Raises if a sparse matrix points outside its own arrays: scipy would read there, and the process might end."""
    if hasattr(X, "indptr") and hasattr(X, "check_format"):
        X.check_format(full_check=True)


def array_rows(
    estimator: Any,
    X: Any,
    *,
    intercept: bool,
    missing: str,
    y: Any = None,
    weight: Any = None,
    classes: list[str] | None = None,
) -> Rows:
    """Rows of a checked array or sparse matrix."""
    if hasattr(X, "indptr"):
        sound(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        index, pointer = X.indices, X.indptr
        if index.dtype != pointer.dtype or index.dtype.kind != "i" or index.dtype.itemsize < 4:
            index, pointer = index.astype(np.int64), pointer.astype(np.int64)
        return Rows.csr(pointer, index, X.data, X.shape[1], y, weight, classes, intercept)
    X = np.asarray(X)
    if not (X.flags.aligned and X.dtype.isnative):
        X = X.astype(X.dtype.newbyteorder("="))
    return Rows.dense(X, column_names(estimator, X.shape[1]), y, weight, classes, intercept, missing)


def table_rows(table: Any, options: dict[str, Any], y: Any = None, weight: Any = None) -> Rows:
    """Rows of anything with ``__arrow_c_stream__``, or of a polars LazyFrame."""
    table = collected(table)
    if not hasattr(table, "__arrow_c_stream__"):
        raise TypeError(
            f"A table is needed: an object with __arrow_c_stream__ (polars, pyarrow, pandas, duckdb), not {type(table).__name__}."
        )
    return Rows.arrow(table, json.dumps(options), y, weight)


def class_names(classes: np.ndarray) -> list[str]:
    """The classes as model files spell them."""
    if classes.dtype.kind == "b":
        return ["true" if c else "false" for c in classes]
    if classes.dtype.kind in "iuf":
        return [number_name(float(c)) for c in classes]
    return [str(c) for c in classes]


def class_numbers(at: np.ndarray, n_classes: int) -> np.ndarray:
    """y of the library for the places of classes: ±1 for two of them, 0..K-1 for more."""
    return 2.0 * at - 1.0 if n_classes == 2 else at.astype(np.float64)


def classes_from_names(names: list[str]) -> np.ndarray:
    """The classes of a model file: numbers, if all of them are."""
    if names == ["false", "true"]:
        return np.array([False, True])
    for kind in (int, float):
        try:
            return np.array([kind(name) for name in names])
        except ValueError:
            continue
    return np.array(names)


def weights(sample_weight: Any, X: Any, total: bool) -> Any:
    """The weights, of either sign; for a whole run their sum must be positive."""
    if sample_weight is None:
        return None
    weight = np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if total and not weight.sum() > 0:
        raise ValueError(
            f"The weights sum to {weight.sum():g}, but their total must be positive: otherwise no sum of losses is convex. Single weights "
            "may be negative; check their signs, or add the rows that the negative ones are to be taken from."
        )
    return weight


def check_finite(X: Any, missing: str) -> None:
    """A batch is learned whole or not at all."""
    values: Any = X.data if hasattr(X, "indptr") else X
    bad = np.isinf(values).any() if missing != "error" else not np.isfinite(values).all()
    if bad:
        raise ValueError(
            "Input X contains NaN or infinity; every number must be finite. Fill NaN in first, or choose missing='zero' or 'mean'. "
            "Nothing was learned from this batch."
        )


def paths(path: Any) -> list[str]:
    """The names of one file or of several."""
    if isinstance(path, (str, os.PathLike)):
        path = [path]
    return [os.fspath(p) for p in path]
