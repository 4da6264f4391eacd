"""Clusters: one that is there, or one of processes on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

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
