"""A random order of data that no worker could hold."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from rooco import _inputs
from rooco.dask._cluster import Progress, _client, _gather
from rooco.dask._parts import _arrow, _files, _is_paths


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
