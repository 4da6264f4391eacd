#!/usr/bin/env python3
"""rooco.dask at full size, on worker processes of this machine: what docs/scale.md says.

    python3 bench/scale.py shuffle [--gigabytes 10] [--folder F]     every row once, the order test, the same bytes with 2 and 3 workers of 512 MB
    python3 bench/scale.py fit DATA                                  4 parts on 4 workers against one pass on one machine, signed and not; and the optimum
    python3 bench/scale.py cost [--folder F]                         four sizes: seconds and bytes of shuffle, fit and one pass of sums; the plan for 10^11 rows
    python3 bench/scale.py loses                                     many small parts: averaging loses, the optimum does not
    python3 bench/scale.py shards                                    a shard whose own sum is not convex: T12's horizon and its own

Needs the package with its test extras; DATA: see quality_data.py.
"""
import argparse
import gzip
import hashlib
import json
import os
import pathlib
import resource
import shutil
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import rooco
import rooco.dask as rd
from rooco.dask._learn import _average, _sums_part
from rooco.dask._parts import _Known, _of_table
from rooco import OnePassClassifier, OnePassRegressor

COLUMNS = 20


def generate(folder, rows, file_rows=1_000_000, seed=1):
    """y sorted within each file: nothing about the order is random."""
    folder.mkdir(parents=True, exist_ok=True)
    truth = np.random.default_rng(seed).normal(size=COLUMNS)
    for k, start in enumerate(range(0, rows, file_rows)):
        n = min(file_rows, rows - start)
        r = np.random.default_rng([seed, k])
        x = r.normal(size=(n, COLUMNS))
        y = np.sort(x @ truth + r.normal(size=n))
        columns = {"y": y, "id": np.arange(start, start + n)} | {f"x{i}": x[:, i] for i in range(COLUMNS)}
        pq.write_table(pa.table(columns), folder / f"in-{k:05}.parquet", compression="none", row_group_size=1 << 18)


def size(folder):
    return sum(os.path.getsize(f) for f in pathlib.Path(folder).glob("*.parquet"))


def shuffle(a):
    with tempfile.TemporaryDirectory(dir=a.folder) as work:
        work = pathlib.Path(work)
        rows = int(a.gigabytes * 1e9 / (8 * (COLUMNS + 2)))
        generate(work / "in", rows)
        print(f"{rows} rows, {size(work / 'in') / 1e9:.2f} GB in {len(list((work / 'in').iterdir()))} files", flush=True)
        sums = {}
        for workers in (2, 3):
            start = time.time()
            with rd.local(workers=workers, memory="512MB", folder=work / "w") as client:
                n = rd.shuffle(work / "in", work / f"out{workers}", client=client)
                print(f"{workers} workers of 512 MB: {n} rows in {time.time() - start:.0f} s", flush=True)
                assert n == rows
            shutil.rmtree(work / "w", ignore_errors=True)
            sums[workers] = {f: hashlib.sha256((work / f"out{workers}" / f).read_bytes()).hexdigest() for f in os.listdir(work / f"out{workers}")}
            if workers == 3:
                # Three copies of the rows are enough for a disk.
                shutil.rmtree(work / "out3")
        assert sums[2] == sums[3]
        seen, files = np.zeros(rows, dtype=bool), sorted(sums[2])
        for f in files:
            ids = pq.read_table(work / "out2" / f, columns=["id"])["id"].to_numpy()
            assert not seen[ids].any() and len(np.unique(ids)) == len(ids)
            seen[ids] = True
        assert seen.all()
        print(f"{len(files)} parts: the same bytes with 2 and 3 workers, every row once")
        with rd.local(workers=2, memory="1GB", folder=work / "w") as client:
            print("order test:", rd.order_test(str(work / "out2"), target="y", loss="squared", client=client))


def sets(data):
    acs = np.genfromtxt(gzip.open(data / "acs-employment-ma.csv.gz"), delimiter=",", skip_header=1)
    yield "acs", OnePassClassifier, np.delete(acs, [0, 1], axis=1), np.where(acs[:, 0] > 0, 1, 0)
    rows = []
    with gzip.open(data / "diamonds.csv.gz", "rt") as f:
        head = f.readline().strip().replace('"', "").split(",")
        keep = [i for i, name in enumerate(head) if name in ("carat", "depth", "table", "x", "y", "z")]
        for line in f:
            parts = line.split(",")
            rows.append([float(parts[i]) for i in keep] + [np.log(float(parts[head.index("price")]))])
    diamonds = np.array(rows)
    yield "diamonds", OnePassRegressor, diamonds[:, :-1], diamonds[:, -1]
    flights = pq.read_table(data / "flights-3m.parquet").slice(0, 400_000).to_pandas().select_dtypes("number").dropna()
    target = next(c for c in flights.columns if "delay" in c.lower())
    yield f"flights ({target})", OnePassRegressor, flights.drop(columns=[target]).to_numpy(float), flights[target].to_numpy(float)


def loss(model, x, y):
    if isinstance(model, OnePassClassifier):
        p = np.clip(model.predict_proba(x)[:, 1], 1e-15, 1 - 1e-15)
        return float(-np.mean(np.where(y == 1, np.log(p), np.log(1 - p))))
    return float(0.5 * np.mean((model.predict(x) - y) ** 2))


def fit(a):
    print("| set | rows | one pass | mean of 4 parts | optimum of the parts | s: one pass | s: schema pass of the parts | s: learning of the parts | "
          "CPU s of the workers: schema pass | learning | s of a task that does nothing |")
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    with rd.local(workers=4, memory="2GB") as client:
        used = lambda: sum(c for c, _ in client.run(cpu).values())  # noqa: E731
        for name, kind, x, y in sets(a.data):
            for signed in (False, True):
                found, spent = {"one": [], "mean": [], "best": []}, []
                for order in range(a.orders):
                    r = np.random.default_rng(order)
                    at = r.permutation(len(y))
                    test, train = at[: len(y) // 5], at[len(y) // 5 :]
                    xs, ys, w = x[train], y[train], np.ones(len(train))
                    if signed:
                        # A quarter of the rows once more with a random label, and once more to take that away.
                        extra = r.random(len(train)) < 0.25
                        wrong = r.permutation(ys[extra])
                        xs = np.concatenate([xs, xs[extra], xs[extra]])
                        ys, w = np.concatenate([ys, wrong, wrong]), np.concatenate([w, np.ones(extra.sum()), -np.ones(extra.sum())])
                        again = r.permutation(len(ys))
                        xs, ys, w = xs[again], ys[again], w[again]
                    with tempfile.TemporaryDirectory() as folder:
                        cuts = np.linspace(0, len(ys), 5).astype(int)
                        for k in range(4):
                            s = slice(cuts[k], cuts[k + 1])
                            columns = {"y": ys[s], "w": w[s]} | {f"x{i}": xs[s, i] for i in range(x.shape[1])}
                            pq.write_table(pa.table(columns), f"{folder}/{k}.parquet")
                        how = dict(target="y", weight="w", numeric=[f"x{i}" for i in range(x.shape[1])])
                        t0 = time.time()
                        one = kind(features="linear").fit_file(f"{folder}/*.parquet", **how)
                        t1, c1 = time.time(), used()
                        estimator = kind(features="linear")
                        read = estimator._read_options(target="y", weight="w", drop=[], categorical=[], numeric=how["numeric"], schema=None, target_kind=estimator._target_kind())
                        t2 = time.time()
                        known = _Known(_of_table(client, f"{folder}/*.parquet", read))
                        t3, c2 = time.time(), used()
                        t4 = time.time()
                        _average(known, estimator._options(0, None), False, None)
                        t5, c3 = time.time(), used()
                        client.submit(int, order, pure=False).result()
                        t6 = time.time()
                        client.submit(int, order + 1, pure=False).result()
                        spent.append([t1 - t0, t3 - t2, t5 - t4, c2 - c1, c3 - c2, time.time() - t6])
                        mean = rd.fit(estimator, f"{folder}/*.parquet", client=client, **how)
                        best = rd.fit(kind(features="linear", to_optimum=True), f"{folder}/*.parquet", client=client, **how)
                        cols = [f"x{i}" for i in range(x.shape[1])]
                        frame = pa.table({c: x[test, i] for i, c in enumerate(cols)})
                        for key, m in (("one", one), ("mean", mean), ("best", best)):
                            found[key].append(loss(m, frame, y[test]))
                line = [f"{np.mean(v):.5f} ± {np.std(v) / max(1, len(v) - 1) ** 0.5:.5f}" for v in found.values()]
                print(f"| {name}{' signed' if signed else ''} | {len(ys)} | {' | '.join(line)} | {' | '.join(f'{v:.3f}' for v in np.mean(spent, axis=0))} |", flush=True)


def shards(_):
    """The rows of one shard alone curve down: with T of all rows the worker still learns; with its own T it may not."""
    from rooco._rooco import Learner, Rows

    r = np.random.default_rng(1)
    n, m = 4000, 20
    lost = {"global": [], "own": []}
    bad = 0
    for trial in range(20):
        x, w = r.normal(size=(n, 3)), np.where(r.random(n) < 0.42, -1.0, 1.0)
        y = x @ [1.0, -1.0, 0.5] + 0.3 * r.normal(size=n)
        sums = lambda s: (x[s] * w[s][:, None]).T @ x[s] / len(w[s])  # noqa: E731
        lam = np.linalg.eigvalsh(sums(slice(None)))[0]
        beta = (x**2).sum(1).max()
        best = np.linalg.solve(sums(slice(None)), (x * w[:, None]).T @ y / n)
        models = {"global": [], "own": []}
        for k in range(m):
            s = slice(k * n // m, (k + 1) * n // m)
            bad += np.linalg.eigvalsh(sums(s))[0] < 0
            for key, total in (("global", n), ("own", n // m)):
                o = dict(loss="squared", algorithm="worker-sgd", domain="ball:4", beta=beta, horizon=n // m, total=total, seed=trial * m + k, order_test=False)
                learner = Learner(json.dumps(o | {"lambda": lam, "features": "linear"}))
                learner.run(Rows.dense(np.ascontiguousarray(x[s]), ["a", "b", "c"], y[s].copy(), w[s].copy(), None, False))
                models[key].append(learner.model()[0].weights()[:, 0])
        for key, ms in models.items():
            v = np.mean(ms, axis=0) - best
            lost[key].append(0.5 * v @ sums(slice(None)) @ v)
    print(f"{bad} of {20 * m} shards are not convex")
    for key, v in lost.items():
        print(f"T of {'all rows' if key == 'global' else 'the shard'}: F(w) - F* = {np.mean(v):.4f} ± {np.std(v) / 19**0.5:.4f}")


def loses(_):
    """100 features and 200 rows a part: each part knows too little."""
    r = np.random.default_rng(2)
    d, n, m = 100, 8000, 40
    truth = r.normal(size=d)
    x = r.normal(size=(n + 4000, d)) @ (np.eye(d) + 0.3 * r.normal(size=(d, d)) / d**0.5)
    y = np.where(x @ truth / 5 + r.logistic(size=len(x)) > 0, 1, 0)
    cols = [f"x{i}" for i in range(d)]
    with tempfile.TemporaryDirectory() as folder, rd.local(workers=2, memory="2GB") as client:
        for k in range(m):
            s = slice(k * n // m, (k + 1) * n // m)
            pq.write_table(pa.table({"y": y[s]} | {c: x[s, i] for i, c in enumerate(cols)}), f"{folder}/{k:03}.parquet")
        how, files = dict(target="y", numeric=cols), f"{folder}/*.parquet"
        found = {
            "one pass": OnePassClassifier(features="linear").fit_file(files, **how),
            f"mean of {m} parts": rd.fit(OnePassClassifier(features="linear"), files, client=client, **how),
            "optimum of the parts": rd.fit(OnePassClassifier(features="linear", to_optimum=True), files, client=client, **how),
        }
        test = pa.table({c: x[n:, i] for i, c in enumerate(cols)})
        for name, model in found.items():
            print(f"{name}: {loss(model, test, y[n:]):.4f}")


def cpu():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime, use.ru_maxrss / 1000


def cost(a):
    """CPU seconds of the workers: what does not depend on who else uses the machine."""
    print("| rows | bytes of the parts | CPU s: shuffle | schema pass | learning | a pass of sums | largest worker MB | wall s of all |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for rows in (250_000, 1_000_000, 4_000_000, 16_000_000)[: a.sizes]:
        with tempfile.TemporaryDirectory(dir=a.folder) as work:
            work = pathlib.Path(work)
            generate(work / "in", rows)
            with rd.local(workers=2, memory="1GB", folder=work / "w") as client:
                used = lambda: sum(c for c, _ in client.run(cpu).values())  # noqa: E731
                t, start = [used()], time.time()
                rd.shuffle(work / "in", work / "out", client=client)
                t.append(used())
                read = dict(target="y", drop=["id"], target_kind="number")
                known = _Known(_of_table(client, str(work / "out"), read))
                t.append(used())
                model = _average(known, OnePassRegressor(features="linear")._options(0, None), False, None)
                t.append(used())
                known.parts.added(_sums_part, model.to_bytes(), np.zeros(COLUMNS + 1), True, False)
                t.append(used())
                peak = max(m for _, m in client.run(cpu).values())
                wall = time.time() - start
            d = np.diff(t)
            line = [f"{v:.1f}" for v in d]
            print(f"| {rows} | {size(work / 'out')} | {' | '.join(line)} | {peak:.0f} | {wall:.0f} |", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["shuffle", "fit", "cost", "shards", "loses"])
    p.add_argument("data", nargs="?", type=pathlib.Path)
    p.add_argument("--gigabytes", type=float, default=10)
    p.add_argument("--orders", type=int, default=5)
    p.add_argument("--folder")
    p.add_argument("--sizes", type=int, default=4)
    a = p.parse_args()
    globals()[a.what](a)


if __name__ == "__main__":
    main()
