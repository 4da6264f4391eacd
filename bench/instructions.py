#!/usr/bin/env python3
"""Instructions a row of the default learner, counted by valgrind: nobody else's load changes them.

    cargo build --release -p rooco-bench --bin measure
    bench/instructions.py DIR [BINARY ...] [--sets a,b,c]

BINARY: one or more builds of `measure`, say of two commits, target/release/measure if none is named. Needs valgrind and numpy. The sets are made in DIR and have the shapes of
bench/speed.py: a, 20 dense columns (squared loss); b, 100 dense columns (logistic); c, 75 of 50,000 columns (logistic). `a40` and `b40`: every row twice, with weights 3 and -2. Only the
learner's round is counted: neither reading nor scoring.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Rows, columns, non-zeros a row, kind of rows, and a name by which every version of `measure` knows the loss.
SETS = {
    "a": (40_000, 20, 20, "clean", "diamonds"),
    "b": (20_000, 100, 100, "clean", "acs"),
    "c": (60_000, 50_000, 75, "clean", "acs"),
    "a40": (20_000, 20, 20, "n40", "diamonds"),
    "b40": (10_000, 100, 100, "n40", "acs"),
}
# The round, in this and in earlier versions.
ROUND = "*with_avx2*"


def write(path, index, value, y, width):
    with open(path, "wb") as f:
        np.array([len(y), value.size], "<u8").tofile(f)
        y.astype("<f8").tofile(f)
        np.ones(len(y), "<f8").tofile(f)
        np.arange(width, width * len(y) + 1, width, dtype="<u8").tofile(f)
        index.astype("<u4").tofile(f)
        value.astype("<f8").tofile(f)


def make(dir, name):
    rows, columns, entries, _, loss = SETS[name]
    rng, there = np.random.default_rng(1), dir / f"instructions-{name}"
    there.mkdir(exist_ok=True, parents=True)
    w = rng.normal(size=columns)
    for part, n in (("train", rows), ("test", 100)):
        index = np.sort(np.argsort(rng.random((n, columns)), axis=1)[:, :entries]) if columns < 1000 else np.sort(rng.integers(0, columns // entries, (n, entries)) + np.arange(entries) * (columns // entries))
        value = rng.normal(size=(n, entries))
        score = (w[index] * value).sum(axis=1) + 0.5 * rng.normal(size=n)
        # The intercept.
        index, value = np.c_[index, np.full(n, columns)], np.c_[value, np.ones(n)]
        write(there / f"{loss}.{part}", index, value, score if loss == "diamonds" else np.sign(score), entries + 1)
    return there


def count(binary, dir, name):
    rows, _, _, kind, loss = SETS[name]
    with tempfile.NamedTemporaryFile() as out:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", f"--toggle-collect={ROUND}", str(binary), str(dir), loss, kind, "0", "threads=1"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    total = int(re.search(r"Collected : (\d+)", said)[1])
    return total / (rows * (2 if kind == "n40" else 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("binaries", nargs="*", type=pathlib.Path, default=[ROOT / "target/release/measure"])
    parser.add_argument("--sets", default=",".join(SETS))
    args = parser.parse_args()
    names = [b.name for b in args.binaries]
    print("| set | " + " | ".join(names) + " | last / first |")
    print("|---" * (len(names) + 2) + "|")
    for name in args.sets.split(","):
        there = make(args.dir, name)
        counts = [count(b, there, name) for b in args.binaries]
        print(f"| {name} | " + " | ".join(f"{c:,.0f}" for c in counts) + f" | {counts[-1] / counts[0]:.3f} |", flush=True)


if __name__ == "__main__":
    main()
