#!/usr/bin/env python3
"""The constants of `rooco audit` beside brute force by numpy: real files, and a dense spectrum with d = 2000.

    python3 bench/audit_check.py          (needs numpy and pandas; builds rooco)

Every row is written out as the model sees it (constant feature, one-hot categories), and G, β, β_rms, λ and L are computed from
their definitions: with the squared loss on a ball of radius R, G = max|w|(R‖x‖+|y|)‖x‖, β = max|w|‖x‖², λ the smallest eigenvalue of
the mean of w·xxᵀ. Exits with 1 if one differs by more than 1 % (λ: of λ, or 1e-9 of β where it vanishes).
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOCO = ROOT / "target/release/rooco"
RADIUS = 3.0


def audit(path, *options):
    command = [str(ROOCO), "audit", str(path), "--json", "--domain", f"ball:{RADIUS}", *options]
    started = time.time()
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode not in (0, 1):
        sys.exit(out.stderr)
    return json.loads(out.stdout), time.time() - started


def brute_force(x, y, weight, logistic):
    norm = np.linalg.norm(x, axis=1)
    size = np.abs(weight)
    if logistic:
        # The slope is largest at the end of the range of scores, the curvature at its middle, and smallest at its ends.
        sigmoid = 1 / (1 + np.exp(-RADIUS * norm))
        g, beta = (size * sigmoid * norm).max(), size * norm**2 / 4
        least = np.where(weight > 0, sigmoid * (1 - sigmoid), 0.25)
    else:
        g, beta, least = (size * (RADIUS * norm + np.abs(y)) * norm).max(), size * norm**2, np.ones(len(y))
    mean = (x * (weight * least)[:, None]).T @ x / len(y)
    # The root of the largest eigenvalue of the mean of H², H the Hessian of a row; of β² where H depends on w.
    rms = (beta**2).mean() if logistic else np.linalg.eigvalsh((x * (size * beta)[:, None]).T @ x / len(y))[-1]
    return {"g": g, "beta": beta.max(), "beta_rms": np.sqrt(rms), "lambda": np.linalg.eigvalsh(mean)[0]}


def written_out(table, target, categorical, weight=None):
    y = table.pop(target)
    w = np.ones(len(table)) if weight is None else table.pop(weight).to_numpy()
    x = pd.get_dummies(table.astype({c: str for c in categorical}), columns=categorical).to_numpy(dtype=float)
    return np.hstack([np.ones((len(x), 1)), x]), y.to_numpy(), w


def problems(folder):
    rng = np.random.default_rng(1)
    diamonds = pd.read_csv(ROOT / "data/diamonds.csv.gz")
    names = ["cut", "color", "clarity"]
    x, y, w = written_out(diamonds.copy(), "price", names)
    yield "diamonds, squared", ROOT / "data/diamonds.csv.gz", ["--target", "price"], (x, y, w, False)
    x, y, w = written_out(diamonds.drop(columns=names), "price", [])
    yield "diamonds, numbers only", ROOT / "data/diamonds.csv.gz", ["--target", "price", "--drop", ",".join(names)], (x, y, w, False)
    signed = diamonds.assign(w=rng.choice([1.5, -0.5], size=len(diamonds), p=[0.8, 0.2]))
    signed.to_csv(folder / "signed.csv", index=False)
    x, y, w = written_out(signed, "price", names, "w")
    yield "diamonds, signed weights", folder / "signed.csv", ["--target", "price", "--weight", "w"], (x, y, w, False)
    acs = pd.read_csv(ROOT / "crates/rooco-cli/data/acs-employment-ma.csv.gz")
    target = [c for c in acs.columns if c.lower().startswith("employ")][0]
    columns = [c for c in acs.columns if c not in (target, "AGEP", "year")]
    # Every eighth row, written anew: the dense matrix of all takes 200 MB.
    acs = acs.iloc[::8]
    acs.to_csv(folder / "acs.csv", index=False)
    x, y, w = written_out(acs.drop(columns="year"), target, columns)
    options = ["--target", target, "--drop", "year", "--categorical", ",".join(columns)]
    yield "census, logistic", folder / "acs.csv", options, (x, y, w, True)
    d, rows = 2000, 6000
    x = rng.normal(size=(rows, d)) * np.linspace(0.2, 2.0, d)
    y, w = rng.normal(size=rows), rng.choice([1.0, -0.1], size=rows, p=[0.9, 0.1])
    with open(folder / "wide.csv", "w") as out:
        out.write("y,w," + ",".join(f"x{j}" for j in range(d)) + "\n")
        for row in zip(y, w, x):
            out.write(f"{row[0]:.6f},{row[1]}," + ",".join(f"{v:.6f}" for v in row[2]) + "\n")
    x, y, w = written_out(pd.read_csv(folder / "wide.csv"), "y", [], "w")
    options = ["--target", "y", "--weight", "w", "--no-intercept"]
    yield "d = 2000, signed", folder / "wide.csv", options, (x[:, 1:], y, w, False)


def main():
    subprocess.run(["cargo", "build", "--release", "--package", "rooco-cli"], check=True, cwd=ROOT)
    bad = 0
    print("| data | T | d | constant | rooco audit | numpy | ratio |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, path, options, (x, y, w, logistic) in problems(pathlib.Path(folder)):
            ours, seconds = audit(path, *options)
            theirs = brute_force(x, y, w, logistic)
            for key, value in theirs.items():
                ok = abs(ours[key] - value) <= max(0.01 * abs(value), 1e-9 * theirs["beta"] if key == "lambda" else 0)
                bad += not ok
                print(f"| {name} | {len(y):,} | {x.shape[1]} | {key} | {ours[key]:.6g} | {value:.6g} | {ours[key] / value:.4f}{'' if ok else ' **off**'} |", flush=True)
            print(f"| | | | seconds | {seconds:.1f} | | |")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
