#!/usr/bin/env python3
"""Generated events with weights of either sign, as next-to-leading-order generators and sWeights make them: rooco without options beside LightGBM.

    bench/signed_events.py [--events 200000] [--seeds 3] [--first-seed 0] [--rooco target/release/rooco] [--out bench/SIGNED_EVENTS.md]

Two classes, eight low-level columns and two combinations of them, as an analysis has them (`low`: without these). Four ways to get signs:

    hardly    a fifth of all events has weight -1, whatever it is: signs hardly matter
    matter    a region has extra events of one class, each cancelled by another one of weight -1 from the same region
    narrow    the cancelling pairs lie in a narrow bump
    sweights  every event is in both classes, with the sWeights of a mass that is no column

Log-loss on events of the true distribution. LightGBM: at its defaults; with min_sum_hessian_in_leaf chosen among 1e-3, 1, 10, 100, 1000 on a fifth of the signed events; without
the negative events; with absolute weights; and with learned reweighting (E[w | x, y] by a regression on the events, clipped at 0, as weights). Needs numpy, pandas, lightgbm.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pandas as pd

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ["hardly", "matter", "narrow", "sweights"]


def events(n, r):
    """Columns and the log-odds of the signal."""
    pt = r.exponential(1, (n, 4)) + 0.3
    eta = r.normal(0, 1.2, (n, 4))
    x = np.column_stack([np.log(pt), eta])
    mass = x[:, 0] + x[:, 1] + 0.3 * np.cosh(np.clip(x[:, 4] - x[:, 5], -4, 4))
    away = x[:, 2] - x[:, 3]
    odds = 1.5 * np.sin(1.2 * mass) + 1.2 * np.tanh(away) + 0.8 * (np.abs(x[:, 4]) < 0.7) + 0.4 * x[:, 6] * x[:, 7] - 0.6
    return np.column_stack([x, mass, away]), odds


def labelled(n, r):
    x, odds = events(n, r)
    return x, (r.random(n) < 1 / (1 + np.exp(-odds))).astype(int), odds


def signed(kind, n, seed):
    r = np.random.default_rng(seed)
    x, y, _ = labelled(n, r)
    w = np.ones(n)
    if kind == "hardly":
        w = np.where(r.random(n) < 0.2, -1.0, 1.0) / 0.6
    elif kind in ("matter", "narrow"):
        if kind == "matter":
            more, _, _ = labelled(2 * n, r)
            more = more[more[:, 0] > 0.3][: n // 2]
        else:
            more = r.normal(0, 0.15, (n // 2, 10)) + [0.5, 0.5, 0, 0, 0.5, -0.5, 0, 0, 1.5, 0]
        x, y = np.vstack([x, more]), np.r_[y, np.ones(len(more), int)]
        w = np.r_[w, np.where(np.arange(len(more)) % 2 == 0, 1.0, -1.0)]
    else:
        signal = y == 1
        mass = np.where(signal, r.normal(0, 0.3, n), r.uniform(-3, 3, n))
        ps, pb = np.exp(-0.5 * (mass / 0.3) ** 2) / (0.3 * np.sqrt(2 * np.pi)), np.full(n, 1 / 6)
        ns, nb = signal.sum(), n - signal.sum()
        both = (ns * ps + nb * pb) ** 2
        v = np.linalg.inv([[np.sum(a * b / both) for b in (ps, pb)] for a in (ps, pb)])
        weights = [(v[k, 0] * ps + v[k, 1] * pb) / (ns * ps + nb * pb) for k in (0, 1)]
        x, y, w = np.vstack([x, x]), np.r_[np.ones(n, int), np.zeros(n, int)], np.r_[weights[0], weights[1]]
    p = r.permutation(len(x))
    return x[p], y[p], w[p]


def log_loss(y, p):
    p = np.clip(p, 1e-9, 1 - 1e-9)
    return float(-np.mean(np.where(y == 1, np.log(p), np.log1p(-p))))


def rooco(args, x, y, w, xt, yt):
    with tempfile.TemporaryDirectory() as d:
        for name, (a, b, c) in {"train": (x, y, w), "test": (xt, yt, np.ones(len(yt)))}.items():
            t = pd.DataFrame(a, columns=[f"c{i}" for i in range(a.shape[1])])
            t["y"], t["w"] = b, c
            t.to_csv(f"{d}/{name}.csv", index=False)
        command = [args.rooco, "fit", f"{d}/train.csv", "--target", "y", "--weight", "w", "--test", f"{d}/test.csv", "--json", "--quiet"]
        out = subprocess.run(command, capture_output=True, text=True)
        if out.returncode not in (0, 1):
            raise RuntimeError(out.stderr)
        return json.loads(out.stdout.splitlines()[-1])["test"]["loss"]


def lightgbm(how, x, y, w, xt, yt):
    import lightgbm as lgb

    def fit(x, y, w, **more):
        return lgb.LGBMClassifier(verbose=-1, n_jobs=1, **more).fit(x, y, sample_weight=w)

    more = {}
    if how == "dropped":
        x, y, w = x[w > 0], y[w > 0], w[w > 0]
    elif how == "absolute":
        w = np.abs(w)
    elif how == "reweighted":
        both = np.column_stack([x, y])
        sign = lgb.LGBMRegressor(verbose=-1, n_jobs=1).fit(both, np.sign(w), sample_weight=np.abs(w)).predict(both)
        w = np.abs(w) * np.clip(sign, 0, 1)
    elif how == "tuned":
        n = len(x) * 4 // 5
        def score(h):
            p = np.clip(fit(x[:n], y[:n], w[:n], min_sum_hessian_in_leaf=h).predict_proba(x[n:])[:, 1], 1e-9, 1 - 1e-9)
            return np.sum(w[n:] * np.where(y[n:] == 1, -np.log(p), -np.log1p(-p)))
        more["min_sum_hessian_in_leaf"] = min((1e-3, 1, 10, 100, 1000), key=score)
    return log_loss(yt, fit(x, y, w, **more).predict_proba(xt)[:, 1])


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--events", type=int, default=200_000)
    a.add_argument("--seeds", type=int, default=3)
    a.add_argument("--first-seed", type=int, default=0)
    a.add_argument("--rooco", default=str(ROOT / "target/release/rooco"))
    a.add_argument("--out", default=str(ROOT / "bench/SIGNED_EVENTS.md"))
    args = a.parse_args()
    names = ["rooco"] + [f"LightGBM {h}" for h in ("default", "tuned", "dropped", "absolute", "reweighted")]
    lines = ["# Signed events", "", f"Made by `bench/signed_events.py` (its head says how), {args.events:,} events, mean of {args.seeds} seeds from {args.first_seed} on; log-loss on the true distribution.", "",
             "| events | negative mass | best possible | " + " | ".join(names) + " | rooco / best rival |", "|---" * (len(names) + 4) + "|"]
    for kind, low in [(k, False) for k in KINDS] + [("matter", True), ("sweights", True)]:
        found, negative, bayes = [], [], []
        for seed in range(args.first_seed, args.first_seed + args.seeds):
            x, y, w = signed(kind, args.events, seed)
            xt, yt, odds = labelled(100_000, np.random.default_rng(10_000 + seed))
            bayes.append(log_loss(yt, 1 / (1 + np.exp(-odds))))
            if low:
                x, xt = x[:, :8], xt[:, :8]
            negative.append(-w[w < 0].sum() / np.abs(w).sum())
            row = [rooco(args, x, y, w, xt, yt)]
            row += [lightgbm(h, x, y, w, xt, yt) for h in ("default", "tuned", "dropped", "absolute", "reweighted")]
            found.append(row)
            print(kind, "low" if low else "", seed, np.round(row, 4), flush=True)
        mean = np.mean(found, axis=0)
        ratio = mean[0] / mean[1:].min()
        label = kind + (", low-level columns only" if low else "")
        lines.append(f"| {label} | {np.mean(negative):.0%} | {np.mean(bayes):.4f} | " + " | ".join(f"{m:.4f}" for m in mean) + f" | {ratio:.4f} |")
        pathlib.Path(args.out).write_text("\n".join(lines) + "\n")
    lines += ["", "With low-level columns only, three of them act together; pairs cannot see that, and trees can."]
    pathlib.Path(args.out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
