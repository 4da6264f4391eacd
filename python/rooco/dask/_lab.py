"""Trials of an experiment, spread over a cluster."""

from __future__ import annotations

import os
from typing import Any

from rooco import _rooco
from rooco.dask._cluster import Progress, _client


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
