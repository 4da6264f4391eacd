#!/usr/bin/env python3
"""Speed of the Python package beside scikit-learn, in the same process.

    python3 bench/python_speed.py [--rows 1000000] [--repeat 3]

Makes target/bench-venv, installs the package there as a user would (`pip install ./python`, release profile), measures, and rewrites the section
"Python" of bench/RESULTS.md. CPU seconds of the process (user + system) are the figure; the best of the repeats counts.
"""
import argparse
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "target/bench-venv"


def measure(rows, repeat):
    """Runs inside the venv; prints a table."""
    import resource

    import numpy as np
    import sklearn
    from sklearn.linear_model import SGDRegressor

    from rooco import OnePassRegressor

    r = np.random.default_rng(1)
    x = r.normal(size=(rows, 20))
    y = x @ r.normal(size=20) + 0.1 * r.normal(size=rows)

    def best(work):
        times = []
        for _ in range(repeat):
            started = time.process_time()
            work()
            times.append(time.process_time() - started)
        return min(times)

    def one_by_one(model, n):
        model.partial_fit(x[:1], y[:1])

        def work():
            for t in range(n):
                model.partial_fit(x[t : t + 1], y[t : t + 1])

        return work

    lines = []
    sgd = best(lambda: SGDRegressor(max_iter=1, tol=None, shuffle=False).fit(x, y))
    shuffled = best(lambda: SGDRegressor(max_iter=1, tol=None).fit(x, y))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ours = {
        "default": best(lambda: OnePassRegressor().fit(x, y)),
        "default, no order test": best(lambda: OnePassRegressor(order_test=False).fit(x, y)),
        "sgd": best(lambda: OnePassRegressor(algorithm="sgd").fit(x, y)),
        "sgd, constants given": best(lambda: OnePassRegressor(algorithm="sgd", beta=60.0, lambda_=0.5, order_test=False).fit(x, y)),
    }
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024
    lines.append(("scikit-learn SGDRegressor, one pass (as it comes: it shuffles)", "fit", shuffled / rows, 1.0))
    lines.append(("scikit-learn SGDRegressor, one pass, shuffle=False", "fit", sgd / rows, shuffled / sgd))
    lines += [(f"rooco {name}", "fit", t / rows, shuffled / t) for name, t in ours.items()]
    slow, quick = 2000, 50_000
    theirs = best(one_by_one(SGDRegressor(), slow)) / slow
    mine = best(one_by_one(OnePassRegressor(), quick)) / quick
    lines.append(("scikit-learn SGDRegressor", "partial_fit, a row a call", theirs, 1.0))
    lines.append(("rooco default", "partial_fit, a row a call", mine, theirs / mine))
    print(f"{rows:,} x 20 float64, {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, scikit-learn {sklearn.__version__}; "
          f"best of {repeat}. Peak memory grew by {grown:.0f} MiB over all of rooco's fits ({x.nbytes / 2**20:.0f} MiB of data).\n")
    print("| learner | call | CPU ns/row | rows/s | x scikit-learn as it comes |\n|---|---|---|---|---|")
    for name, call, seconds, ratio in lines:
        print(f"| {name} | {call} | {seconds * 1e9:,.0f} | {1 / seconds:,.0f} | {ratio:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.inside:
        return measure(a.rows, a.repeat)
    if not VENV.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([VENV / "bin/pip", "install", "--quiet", "--disable-pip-version-check", ROOT / "python"], check=True)
    command = [VENV / "bin/python", __file__, "--inside", "--rows", str(a.rows), "--repeat", str(a.repeat)]
    one = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    table = subprocess.run(command, check=True, capture_output=True, text=True, env=one).stdout
    section = f"## Python\n\n    python3 bench/python_speed.py\n\n{table}"
    path = ROOT / "bench/RESULTS.md"
    text = path.read_text()
    text = re.sub(r"## Python\n.*?(?=\n## |\Z)", "", text, flags=re.S).rstrip() + "\n\n" + section
    path.write_text(text)
    print(table)


if __name__ == "__main__":
    main()
