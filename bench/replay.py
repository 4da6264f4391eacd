#!/usr/bin/env python3
"""Algorithm 1 through the program, on a file larger than its memory, beside the same pass without replay.

    python3 bench/replay.py [--rows 20000000] [--data bench/data]

Writes the data (20 columns, about 250 bytes a row) once, runs `rooco fit` pinned to one core: ogd (fresh rows), sgd (fresh rows, averaged play),
reservoir-sgd with --memory 256MiB (the rows wait on disk) and with --reservoir memory, and rewrites the section "Replay through the
program" of bench/RESULTS.md.
"""
import argparse
import os
import subprocess
import time
from pathlib import Path

from speed import ROOT, replace, run

CONSTANTS = ["--loss", "squared", "--domain", "ball:10", "--lambda", "0.5", "--beta", "60"]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--rows", type=int, default=20_000_000)
    a.add_argument("--data", type=Path, default=ROOT / "bench/data")
    a = a.parse_args()
    a.data.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cargo", "build", "--release", "--package", "rooco-cli"], check=True, cwd=ROOT)
    subprocess.run(["cargo", "build", "--release", "--package", "rooco-bench", "--bin", "generate"], check=True, cwd=ROOT)
    file = a.data / f"replay-{a.rows}.svm"
    if not file.exists():
        with open(file, "wb") as out:
            subprocess.run([ROOT / "target/release/generate", "a", "libsvm", str(a.rows)], check=True, stdout=out)
    jobs = [
        ("ogd (fresh rows, last iterate)", ["--algorithm", "ogd"]),
        ("sgd (fresh rows, averaged play)", ["--algorithm", "sgd"]),
        ("reservoir-sgd --memory 256MiB", ["--algorithm", "reservoir-sgd", "--memory", "256MiB"]),
        ("reservoir-sgd --reservoir memory", ["--algorithm", "reservoir-sgd", "--reservoir", "memory"]),
    ]
    lines, first = ["| run | CPU s | x ogd | wall s | x ogd | peak MB |", "|---|---|---|---|---|---|"], None
    load = os.getloadavg()[0]
    for name, options in jobs:
        command = [ROOT / "target/release/rooco", "fit", file, "--quiet", "--threads", "1", "--horizon", a.rows, "--model", a.data / "m"]
        started = time.time()
        cpu, peak = run(command + CONSTANTS + options)
        wall = time.time() - started
        first = first or (cpu, wall)
        lines.append(f"| {name} | {cpu:.1f} | {cpu / first[0]:.2f} | {wall:.1f} | {wall / first[1]:.2f} | {peak:.0f} |")
        print(lines[-1], flush=True)
    head = ["## Replay through the program", "", f"    python3 bench/replay.py --rows {a.rows}", "",
            f"{a.rows:,} rows x 20 columns, {file.stat().st_size / 1e9:.1f} GB of libsvm text; one run each, one core, load {load:.1f} at the start.", ""]
    path = ROOT / "bench/RESULTS.md"
    path.write_text(replace(path.read_text(), "Replay through the program", head + lines))


if __name__ == "__main__":
    main()
