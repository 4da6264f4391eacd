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

import quality_data as data

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = {"negative25": "25 %", "negative40": "40 %", "noisy-two": "noisy, two rows"}
FEW = 4500


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
                        part = data.signed(kind, x[pick], y[pick], np.random.default_rng(2000 + repeat))
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
