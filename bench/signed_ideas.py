#!/usr/bin/env python3
"""Ways to score candidates on signed rows: held-out log-loss on clickbait, few rows and all rows. Prints a table for docs/default.md.

    bench/signed_ideas.py DATA [--draws 4] [--orders 2]

DATA holds the files that bench/quality_data.py names. What each idea does is in bench/src/bin/signed_ideas.rs.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import numpy as np
import scipy.sparse as sp

import quality_data as data

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = {"negative25": "25 %", "negative40": "40 %", "noisy-two": "noisy, two rows"}
FEW = 4500


def signed(kind, x, y, rng):
    """Training rows whose signed sum is the clean problem, shuffled; (x, y, weight)."""
    n = len(y)
    if kind.startswith("negative"):
        plus, minus = {"negative25": (1.5, -0.5), "negative40": (3.0, -2.0), "negative48": (13.0, -12.0)}[kind]
        y2, w2 = np.concatenate([y, y]), np.concatenate([np.full(n, plus), np.full(n, minus)])
    else:
        flip = rng.random(n) < np.where(y > 0, 0.3, 0.1)
        noisy = np.where(flip, -y, y)
        if kind == "noisy-one":
            return x, noisy, np.ones(n)
        delta = 1 - 0.3 - 0.1
        own, other = np.where(noisy > 0, 0.3, 0.1), np.where(noisy > 0, 0.1, 0.3)
        y2 = np.concatenate([noisy, -noisy])
        w2 = np.concatenate([(1 - other) / delta, -own / delta])
    order = rng.permutation(2 * n)
    x2 = sp.vstack([x, x], format="csr")
    return x2[order], y2[order], w2[order]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--draws", type=int, default=4, help="draws of 4,500 rows")
    parser.add_argument("--orders", type=int, default=2, help="orders of all rows")
    args = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "-q", "-p", "rooco-bench", "--bin", "signed_ideas"], cwd=ROOT, check=True)
    x, y, x_test, y_test = data.load("clickbait", args.data)
    columns = {}
    with tempfile.TemporaryDirectory() as folder:
        train, test = pathlib.Path(folder) / "train", pathlib.Path(folder) / "test"
        data.write_prepared(test, x_test, y_test, np.ones(len(y_test)))
        for rows, repeats in ((FEW, args.draws), (len(y), args.orders)):
            for kind in ["clean", *KINDS]:
                for repeat in range(repeats):
                    pick = np.random.default_rng(1000 + repeat).permutation(len(y))[:rows]
                    part = (x[pick], y[pick], np.ones(rows))
                    if kind != "clean":
                        part = signed(kind, x[pick], y[pick], np.random.default_rng(2000 + repeat))
                    data.write_prepared(train, *part)
                    command = [str(ROOT / "target/release/signed_ideas"), str(train), str(test)]
                    out = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                    for idea, loss in out.items():
                        columns.setdefault((rows, kind), {}).setdefault(idea, []).append(loss)
    clean = {rows: statistics.fmean(columns[rows, "clean"]["as shipped"]) for rows in (FEW, len(y))}
    keys = [(rows, kind) for rows in (FEW, len(y)) for kind in KINDS]
    print(f"{FEW:,} rows of clickbait ({args.draws} draws; clean {clean[FEW]:.4f}), then all {len(y):,} ({args.orders} orders; clean {clean[len(y)]:.4f}).")
    print()
    print("| idea | " + " | ".join(("" if r == FEW else "all: ") + KINDS[k] for r, k in keys) + " |")
    print("|---" * (len(keys) + 1) + "|")
    for idea in columns[keys[0]]:
        print(f"| {idea} | " + " | ".join(f"{statistics.fmean(columns[key][idea]):.4f}" for key in keys) + " |")


if __name__ == "__main__":
    main()
