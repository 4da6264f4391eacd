#!/usr/bin/env python3
"""Speed, side by side: rooco and its rivals on the same files, one after the other, on one core.

    python3 bench/speed.py [--rows 1.0] [--sets a,b,c] [--repeat 3] [--data bench/data]

Builds rooco, makes the three data sets (a: 1M x 20 dense regression, b: 500k x 100 dense classification, c: 400k rows with 75 of
50,000 features), installs the rivals in bench/data/venv (liblinear from the Debian package liblinear-tools, if it is there), runs every line pinned to one
processor, and rewrites the sections "Speed" and "Speed in memory" of bench/RESULTS.md. CPU seconds (user + system, start-up included) are the figure: wall time depends on who else uses the machine.
"""
import argparse
import datetime
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETS = {
    "a": dict(kind="regression", rows=1_000_000, note="1M x 20, dense, regression"),
    "b": dict(kind="classification", rows=500_000, note="500k x 100, dense, two classes"),
    "c": dict(kind="classification", rows=400_000, note="400k x 75 of 50,000, sparse, two classes"),
}
RIVALS = ["vowpalwabbit", "scikit-learn", "river", "numpy", "scipy", "pandas", "pyarrow"]


def run(command, **options):
    """Runs a command pinned to one core; returns (CPU seconds, peak MB) or None if it failed."""
    def pin():
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    process = subprocess.Popen([str(c) for c in command], preexec_fn=pin, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    error = process.stderr.read().decode(errors="replace")
    if process.returncode != 0:
        print("   failed:", " ".join(str(c) for c in command)[:120], error.strip().splitlines()[-1:] or "", file=sys.stderr)
        return None
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


SHORT = 5.0  # seconds: shorter runs are repeated three times as often, whoever makes them


def best(command, repeat):
    results = [r for r in (run(command) for _ in range(repeat)) if r]
    if results and min(results)[0] < SHORT:
        results += [r for r in (run(command) for _ in range(2 * repeat)) if r]
    return min(results) if results else None


def prepare(data, scale, sets):
    """Writes the data sets in every format that a rival reads."""
    for name in sets:
        formats = {"libsvm": "svm", "vw": "vw"} | ({} if name == "c" else {"csv": "csv"})
        for format, ending in formats.items():
            path = data / f"{name}.{ending}"
            if not path.exists():
                with open(path, "wb") as out:
                    subprocess.run([ROOT / "target/release/generate", name, format, str(int(SETS[name]["rows"] * scale))], check=True, stdout=out)
        parquet = data / f"{name}.parquet"
        if name != "c" and not parquet.exists():
            subprocess.run([data / "venv/bin/python", "-c", TO_PARQUET, data / f"{name}.csv", parquet], check=True)


TO_PARQUET = """
import sys, pyarrow.csv, pyarrow.parquet
pyarrow.parquet.write_table(pyarrow.csv.read_csv(sys.argv[1]), sys.argv[2])
"""

SKLEARN = """
import sys, numpy as np
from sklearn.linear_model import SGDRegressor, SGDClassifier
path, kind = sys.argv[1:3]
if path.endswith('.svm'):
    from sklearn.datasets import load_svmlight_file
    X, y = load_svmlight_file(path); X.indices = X.indices.astype(np.int32); X.indptr = X.indptr.astype(np.int32)
elif path.endswith('.parquet'):
    import pyarrow.parquet as pq
    t = pq.read_table(path); y = t['y'].to_numpy(); X = np.column_stack([t[c].to_numpy() for c in t.column_names if c != 'y'])
else:
    import pandas as pd
    t = pd.read_csv(path); y = t.pop('y').to_numpy(); X = np.ascontiguousarray(t.to_numpy())
if kind == 'regression':
    SGDRegressor(learning_rate='constant', eta0=0.01, penalty=None, average=True).partial_fit(X, y)
else:
    y = (y > 0).astype(int)
    SGDClassifier(loss='log_loss', learning_rate='constant', eta0=0.01, penalty=None, average=True).partial_fit(X, y, classes=[0, 1])
"""

RIVER = """
import sys, itertools
from river import linear_model, optim, stream
path, kind, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
model = linear_model.LinearRegression() if kind == 'regression' else linear_model.LogisticRegression()
for x, y in itertools.islice(stream.iter_libsvm(path, target_type=float), rows):
    model.learn_one(x, y if kind == 'regression' else y > 0)
"""


def measure(data, scale, sets, repeat):
    rooco = ROOT / "target/release/rooco"
    parse = ROOT / "target/release/parse_only"
    python = data / "venv/bin/python"
    lines = []
    for name in sets:
        kind, rows = SETS[name]["kind"], int(SETS[name]["rows"] * scale)
        svm, vw, parquet, csv = (data / f"{name}{e}" for e in (".svm", ".vw", ".parquet", ".csv"))
        fit = [rooco, "fit", "--quiet", "--threads", "1", "--model", data / "m"]
        loss = ["--loss_function", "logistic"] if kind == "classification" else []
        jobs = [
            ("parse only, libsvm", [parse, svm], rows),
            ("rooco --algorithm sgd, libsvm", fit + ["--algorithm", "sgd", svm], rows),
            ("rooco (default rule), libsvm", fit + [svm], rows),
            ("rooco --algorithm sgd, VW text", fit + ["--algorithm", "sgd", vw], rows),
            ("Vowpal Wabbit, default, VW text", [python, "-m", "vowpalwabbit", "-d", vw, "-f", data / "vw.m", "--quiet", "-b", "18"] + loss, rows),
            ("Vowpal Wabbit --sgd, VW text", [python, "-m", "vowpalwabbit", "-d", vw, "-f", data / "vw.m", "--quiet", "-b", "18", "--sgd"] + loss, rows),
            ("scikit-learn SGD, libsvm", [python, "-c", SKLEARN, svm, kind], rows),
            ("river, libsvm (30k rows)", [python, "-c", RIVER, svm, kind, "30000"], 30_000),
        ]
        if name != "c":
            jobs[4:4] = [("rooco --algorithm sgd, Parquet", fit + ["--algorithm", "sgd", "--target", "y", parquet], rows),
                         ("rooco --algorithm sgd, CSV", fit + ["--algorithm", "sgd", "--target", "y", csv], rows)]
            jobs += [("scikit-learn SGD, Parquet", [python, "-c", SKLEARN, parquet, kind], rows),
                     ("scikit-learn SGD, CSV by pandas", [python, "-c", SKLEARN, csv, kind], rows)]
        liblinear = subprocess.run(["which", "liblinear-train"], capture_output=True, text=True).stdout.strip()
        if liblinear:
            jobs.append(("liblinear, dual (not one pass)", [liblinear, "-q", "-s", "12" if kind == "regression" else "7", "-e", "100", svm, data / "l.m"], rows))
        results = {}
        for label, command, n in jobs:
            r = best(command, repeat)
            results[label] = (r, n)
            print(f"{name}  {label:38}", "failed" if r is None else f"{r[0]:8.2f} s {n / r[0]:12,.0f} rows/s {r[1]:8.0f} MB", flush=True)
        reference = results["rooco --algorithm sgd, libsvm"]
        rate = reference[1] / reference[0][0]
        lines += [f"**{name}**: {SETS[name]['note']}" + (f" (scaled to {rows:,} rows)" if scale != 1 else ""), "",
                  "| program, input | CPU s | rows per CPU s | peak MB | times the rate of rooco sgd |", "|---|---|---|---|---|"]
        for label, (r, n) in results.items():
            if r is None:
                lines.append(f"| {label} | failed | | | |")
            else:
                lines.append(f"| {label} | {r[0]:.2f} | {n / r[0]:,.0f} | {r[1]:.0f} | {n / r[0] / rate:.2f} |")
        lines.append("")
    return lines


IN_MEMORY = """
import sys, time, numpy as np, scipy.sparse as sp
from sklearn.linear_model import SGDRegressor, SGDClassifier
name, average, rng = sys.argv[1], sys.argv[2] == 'average', np.random.default_rng(1)
if name == 'c':
    n, width = 400_000, 75
    index = np.sort(rng.integers(0, 50_000, size=(n, width)), axis=1).astype(np.int32)
    X = sp.csr_matrix((rng.normal(size=n * width), index.ravel(), np.arange(0, n * width + 1, width, dtype=np.int32)), shape=(n, 50_000))
else:
    n, width = (1_000_000, 20) if name == 'a' else (500_000, 100)
    X = rng.normal(size=(n, width))
y = rng.normal(size=n)
options = dict(learning_rate='constant', eta0=0.01, penalty=None, average=average)
best = 1e9
for _ in range(3):
    started = time.process_time()
    if name == 'a':
        SGDRegressor(**options).partial_fit(X, y)
    else:
        SGDClassifier(loss='log_loss', **options).partial_fit(X, y > 0, classes=[False, True])
    best = min(best, time.process_time() - started)
print(1e9 * best / n)
"""


def in_memory(data, sets):
    """Rows in memory: rooco row by row, scikit-learn with the whole array in one call."""
    def output(command):
        pin = lambda: os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True, preexec_fn=pin, env=env).stdout
    lines = ["| set | rooco plain | scikit-learn SGD | times | rooco sgd (poly3 average) | scikit-learn SGD, averaged | times | rooco default rule | one AdaGrad | times |", "|---|---|---|---|---|---|---|---|---|---|"]
    for name in sets:
        own = {w[1]: float(w[2]) for w in (l.split() for l in output([ROOT / "target/release/in_memory", name]).splitlines())}
        rival = [float(output([data / "venv/bin/python", "-c", IN_MEMORY, name, kind])) for kind in ("last", "average")]
        lines.append(f"| {name} | {own['plain']:.0f} | {rival[0]:.0f} | {rival[0] / own['plain']:.1f} | {own['sgd']:.0f} | {rival[1]:.0f} | {rival[1] / own['sgd']:.1f} | {own['auto']:.0f} | {own['adagrad']:.0f} | {own['auto'] / own['adagrad']:.1f} |")
        print(lines[-1], flush=True)
    return ["## Speed in memory", "", "    python3 bench/speed.py", "",
            "CPU nanoseconds a row, best of 3, one core, rows of the shapes of the section \"Speed\" in memory. rooco observes row by row; "
            "scikit-learn gets the whole array in one `partial_fit`. The last column is the cost of the default rule in AdaGrads (bench/src/bin/adagrad).", ""] + lines


def replace(text, title, lines):
    """The text with this section put in the place of the old one, or at the end."""
    text = re.sub(rf"## {title}\n.*?(?=\n## |\Z)", "", text, flags=re.S).rstrip()
    return text + "\n\n" + "\n".join(lines).rstrip() + "\n"


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--rows", type=float, default=1.0, help="scale of the data sets")
    a.add_argument("--sets", default="a,b,c")
    a.add_argument("--repeat", type=int, default=3, help="best of so many runs")
    a.add_argument("--data", type=Path, default=ROOT / "bench/data")
    a = a.parse_args()
    a.data.mkdir(parents=True, exist_ok=True)
    sets = a.sets.split(",")
    subprocess.run(["cargo", "build", "--release", "--package", "rooco-cli"], check=True, cwd=ROOT)
    subprocess.run(["cargo", "build", "--release", "--package", "rooco-bench", "--bin", "parse_only", "--bin", "generate", "--bin", "in_memory"], check=True, cwd=ROOT)
    if not (a.data / "venv").exists():
        subprocess.run([sys.executable, "-m", "venv", a.data / "venv"], check=True)
        subprocess.run([a.data / "venv/bin/pip", "install", "--quiet"] + RIVALS, check=True)
    prepare(a.data, a.rows, sets)
    load = os.getloadavg()[0]
    lines = measure(a.data, a.rows, sets, a.repeat)
    versions = subprocess.run([a.data / "venv/bin/pip", "list", "--format=freeze"], capture_output=True, text=True).stdout
    used = ", ".join(sorted(l.replace("==", " ") for l in versions.splitlines() if l.split("==")[0] in RIVALS))
    head = ["## Speed", "", f"    python3 bench/speed.py --rows {a.rows} --sets {a.sets} --repeat {a.repeat}", "",
            f"{datetime.date.today()}, {os.cpu_count()} cores ({platform.machine()}), load {load:.1f} at the start; everything pinned to one core, so that rooco parses on the thread that learns "
            f"(it takes a second one only where there is a processor for it); best of {a.repeat}, of {3 * a.repeat} for runs below {SHORT:.0f} s. CPU seconds include start-up and imports. Step sizes are not matched between programs: this is speed, not quality. {used}.", ""]
    path = ROOT / "bench/RESULTS.md"
    text = path.read_text() if path.exists() else "# Measured results\n\nEvery table names the command that makes it.\n\n"
    text = replace(text, "Speed", head + lines)
    path.write_text(replace(text, "Speed in memory", in_memory(a.data, sets)))


if __name__ == "__main__":
    main()
