#!/usr/bin/env python3
"""`rooco fit --to-optimum` beside scikit-learn's solvers: the same objective, the same minimum, CPU seconds with the file read.

    python3 bench/optimum.py [--rooco PROGRAM] [--only NAME] DATA      (needs numpy, scipy, scikit-learn; DATA: see quality_data.py)
    python3 bench/optimum.py --large [ROWS]                             (needs numpy, pyarrow; 20 numbers a row in a Parquet file, --memory 256MiB)

The objective is the mean loss a row plus (l2/2)|w|², the constant included. Signed versions: every other row twice more with the target of another
row, once with weight 1 and once with -1: 25 % of the mass is negative and the sum is that of the clean rows. scikit-learn gets the rows
with a constant column, and for each of its solvers the loosest tolerance of 1e-3 … 1e-10 that brings the objective within 1e-6 of the lowest seen, relatively; its CPU is that of a
process of its own that reads the file (npz or CSR written by numpy, which it reads faster than text) and solves once. rooco's CPU is that of the command on the text file.
"""
import argparse
import gzip
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np
import scipy.sparse as sp

ROOT = pathlib.Path(__file__).resolve().parent.parent


def acs(data):
    rows = np.genfromtxt(gzip.open(data / "acs-employment-ma.csv.gz"), delimiter=",", skip_header=1)
    return np.delete(rows, [0, 1], axis=1), np.where(rows[:, 0] > 0, 1.0, -1.0), "logistic", 0.0


def diamonds(data):
    rows = []
    with gzip.open(data / "diamonds.csv.gz", "rt") as f:
        head = f.readline().strip().replace('"', "").split(",")
        numbers = [i for i, name in enumerate(head) if name in ("carat", "depth", "table", "x", "y", "z")]
        price = head.index("price")
        for line in f:
            parts = line.split(",")
            rows.append([float(parts[i]) for i in numbers] + [float(parts[price])])
    rows = np.array(rows)
    return rows[:, :-1], rows[:, -1], "squared", 0.0


def svm(data, name, l2):
    from sklearn.datasets import load_svmlight_file

    x, y = load_svmlight_file(str(data / name))
    return x.tocsr(), np.where(y > 0, 1.0, -1.0), "logistic", l2


def mnist(data):
    images = np.frombuffer(gzip.open(data / "mnist-train-images-idx3-ubyte.gz").read(), np.uint8, offset=16).reshape(-1, 784)
    labels = np.frombuffer(gzip.open(data / "mnist-train-labels-idx1-ubyte.gz").read(), np.uint8, offset=8)
    return sp.csr_matrix(images / 255.0), np.where(labels >= 5, 1.0, -1.0), "logistic", 1e-4


SETS = {
    "acs": acs,
    "diamonds": diamonds,
    "nyclate": lambda d: svm(d, "nycflights13-late.svm.gz", 1e-6),
    "mnist": mnist,
    "clickbait": lambda d: svm(d, "clickbait.svm.gz", 1e-4),
}


def objective(x, y, weight, loss, l2, w):
    score = x @ w
    f = np.logaddexp(0, -y * score) if loss == "logistic" else 0.5 * (score - y) ** 2
    return float((weight * f).mean() + 0.5 * l2 * w @ w)


def write(folder, x, y, weight):
    """A libsvm file would have no weights; Vowpal Wabbit text has them, and VW text is what rooco reads for sparse rows with weights."""
    path = folder / "rows.vw"
    with open(path, "w") as f:
        if sp.issparse(x):
            for t in range(x.shape[0]):
                s = slice(x.indptr[t], x.indptr[t + 1])
                entries = " ".join(f"{i}:{v!r}" for i, v in zip(x.indices[s].tolist(), x.data[s].tolist()))
                f.write(f"{y[t]:.17g} {weight[t]:.17g} | {entries}\n")
            return path, []
    path = folder / "rows.csv"
    np.savetxt(path, np.column_stack([y, weight, x]), delimiter=",", fmt="%.17g",
               header=",".join(["y", "w", *(f"x{i}" for i in range(x.shape[1]))]), comments="")
    return path, ["--target", "y", "--weight", "w"]


SOLVE = """
import sys, json, resource, warnings
import numpy as np, scipy.sparse as sp
warnings.simplefilter("ignore")
path, solver, tol, loss, l2 = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4], float(sys.argv[5])
z = np.load(path, allow_pickle=False)
x = sp.csr_matrix((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"])) if "indptr" in z else z["x"]
y, weight = z["y"], z["weight"]
n = x.shape[0]
if loss == "logistic":
    from sklearn.linear_model import LogisticRegression
    m = LogisticRegression(C=np.inf if l2 == 0 else 1 / (l2 * n), fit_intercept=False, solver=solver, tol=tol, max_iter=5000)
else:
    from sklearn.linear_model import Ridge
    m = Ridge(alpha=l2 * n, fit_intercept=False, solver=solver, tol=tol)
m.fit(x, y, sample_weight=weight)
u = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"w": np.ravel(m.coef_).tolist(), "cpu": u.ru_utime + u.ru_stime}))
"""


def large(rooco, rows):
    """A Parquet file of generated rows, far larger than the memory that the command may use; nothing else can read it there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    r = np.random.default_rng(1)
    truth = r.normal(size=20)
    with tempfile.TemporaryDirectory(dir=ROOT / "target") as folder:
        path, left, writer = pathlib.Path(folder) / "rows.parquet", rows, None
        while left > 0:
            x = r.normal(size=(min(left, 200_000), 20))
            columns = {f"x{i}": x[:, i] for i in range(20)} | {"y": x @ truth + r.normal(size=len(x))}
            table = pa.table(columns)
            writer = writer or pq.ParquetWriter(path, table.schema, compression="snappy", use_dictionary=False)
            writer.write_table(table)
            left -= len(x)
        writer.close()
        command = [rooco, "fit", str(path), "--target", "y", "--features", "linear", "--memory", "256MiB", "--to-optimum=1e-7", "--json", "--quiet", "--no-order-test",
                   "--model", f"{folder}/m"]
        out = subprocess.run(command, capture_output=True, text=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        if out.returncode == 2:
            sys.exit(out.stderr)
        fit = json.loads(out.stdout.strip().splitlines()[-1])
        print(f"{rows} rows, {path.stat().st_size / 1e9:.1f} GB: {fit['optimum']['passes']} passes, {used.ru_utime + used.ru_stime:.1f} CPU s, "
              f"{used.ru_maxrss / 1000:.0f} MB at most, {fit['optimum']['end']}, certified gap {fit['certificate']['gap']:.1e}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rooco", default=str(ROOT / "target/release/rooco"))
    p.add_argument("--only")
    p.add_argument("--limit", type=float, default=300, help="seconds that a solver may take")
    p.add_argument("--large", type=int, nargs="?", const=20_000_000, metavar="ROWS")
    p.add_argument("data", type=pathlib.Path, nargs="?")
    a = p.parse_args()
    if a.large:
        return large(a.rooco, a.large)
    if a.data is None:
        p.error("DATA is missing")
    print("| set | rows | weights | rooco CPU s | passes | certified gap | its objective above the lowest | fastest scikit-learn | CPU s | above the lowest |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, load in SETS.items():
        if a.only not in (None, name):
            continue
        x, y, loss, l2 = load(a.data)
        n = x.shape[0]
        ones = np.ones((n, 1))
        full = sp.hstack([ones, x], format="csr") if sp.issparse(x) else np.hstack([ones, x])
        for signed in (False, True):
            weight = np.ones(n)
            if signed:
                r = np.random.default_rng(1)
                wrong = r.permutation(y)[::2]
                stack = sp.vstack if sp.issparse(x) else np.vstack
                order = r.permutation(n + 2 * len(wrong))
                weight = np.concatenate([weight, np.ones(len(wrong)), -np.ones(len(wrong))])[order]
                y = np.concatenate([y, wrong, wrong])[order]
                x, full = stack([x, x[::2], x[::2]])[order], stack([full, full[::2], full[::2]])[order]
                if sp.issparse(x):
                    x, full = x.tocsr(), full.tocsr()
                n = len(y)
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                path, options = write(folder, x, y, weight)
                command = [a.rooco, "fit", str(path), *options, "--loss", loss, "--l2", str(l2), "--to-optimum=1e-7", "--features", "linear", "--roles", "typed", "--json", "--quiet",
                           "--no-order-test", "--model", str(folder / "m")]
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                out = subprocess.run(command, capture_output=True, text=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                if out.returncode == 2:
                    print(f"| {name} | {n} | | {out.stderr.strip()} |")
                    continue
                fit = json.loads(out.stdout.strip().splitlines()[-1])
                mine = fit["optimum"]["value"]
                arrays = dict(y=y, weight=weight)
                if sp.issparse(full):
                    arrays |= dict(data=full.data, indices=full.indices, indptr=full.indptr, shape=np.array(full.shape))
                else:
                    arrays |= dict(x=full)
                np.savez(folder / "rows.npz", **arrays)
                found = []
                for solver in ("lbfgs", "newton-cholesky", "newton-cg") if loss == "logistic" else ("cholesky", "lsqr", "sparse_cg"):
                    for tol in (1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10):
                        try:
                            done = subprocess.run([sys.executable, "-c", SOLVE, str(folder / "rows.npz"), solver, str(tol), loss, str(l2)],
                                                  capture_output=True, text=True, timeout=a.limit)
                        except subprocess.TimeoutExpired:
                            break
                        if done.returncode != 0:
                            break
                        answer = json.loads(done.stdout)
                        value = objective(full, y, weight, loss, l2, np.array(answer["w"]))
                        found.append((answer["cpu"], value, f"{solver} tol {tol:g}"))
                        if value <= mine * (1 + 1e-6) + 1e-300:
                            break
                lowest = min([mine, *(v for _, v, _ in found if np.isfinite(v))])
                good = [f for f in found if f[1] <= lowest + 1e-6 * abs(lowest)]
                best = min(good, default=None)
                theirs = f"{best[2]} | {best[0]:.2f} | {(best[1] - lowest) / abs(lowest):.1e}" if best else "none reached it | | "
                gap = fit["certificate"]["gap"]
                print(f"| {name}{' signed' if signed else ''} | {n} | {full.shape[1]} | {cpu:.2f} | {fit['optimum']['passes']} | "
                      f"{'none' if gap is None else f'{gap:.1e}'} | {(mine - lowest) / abs(lowest):.1e} | {theirs} |", flush=True)


if __name__ == "__main__":
    main()
