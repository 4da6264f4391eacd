"""Rows in parts: where they are, how a worker opens one, what their columns mean together."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from rooco import _inputs, _rooco
from rooco._rooco import Rows
from rooco.dask._cluster import Progress, _gather


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
