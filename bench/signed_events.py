#!/usr/bin/env python3
"""Generated events with weights of either sign: the ways of `rooco lab run signed-events` beside LightGBM, on the same rows.

    bench/signed_events.py [--rows 100000] [--data-sets 3] [--seed 1] [--rooco target/release/rooco] [--work target/signed-events] [--out bench/SIGNED_EVENTS.md]

The events are those of the lab (crates/rooco-lab/src/events): `rooco lab run` gives the columns of rooco, `rooco lab events` writes the same rows as files, and LightGBM learns from
these. Log-loss on events of the true distribution. LightGBM: at its defaults; tuned, with min_sum_hessian_in_leaf chosen among 1e-3, 1, 10, 100, 1000 on a fifth of the signed rows;
without the negative rows; with absolute weights; and with learned reweighting (the mean sign of the rows around x and y by a regression, clipped to 0..1, times the size, as weights),
as rooco's own columns of these names. Finished fits are kept in --work, so the command can be stopped and started again. Needs numpy, pandas, lightgbm.
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
PROBLEMS = [f"events-{k}" for k in ("hardly", "matter", "narrow", "sweights")] + [f"events-{k} columns=8" for k in ("matter", "sweights")]
OURS = ["auto", "dropped", "absolute", "reweighted", "linear"]
RIVALS = ["default", "tuned", "dropped", "absolute", "reweighted"]


def log_loss(y, p, w=None):
    p = np.clip(p, 1e-9, 1 - 1e-9)
    paid = np.where(y == 1, -np.log(p), -np.log1p(-p))
    return float(np.mean(paid) if w is None else np.sum(w * paid))


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
            return log_loss(y[n:], fit(x[:n], y[:n], w[:n], min_sum_hessian_in_leaf=h).predict_proba(x[n:])[:, 1], w[n:])

        more["min_sum_hessian_in_leaf"] = min((1e-3, 1, 10, 100, 1000), key=score)
    return log_loss(yt, fit(x, y, w, **more).predict_proba(xt)[:, 1])


def ours(args, work):
    """Problem, data set and way -> loss, by the lab itself; and the loss of the truth."""
    names = lambda list: ", ".join(f'"{n}"' for n in list)
    text = f'name = "signed-events"\nseed = {args.seed}\nt = [{args.rows}]\norders = 1\ninstances = {args.data_sets}\n'
    (work / "signed-events.toml").write_text(text + f"problems = [{names(PROBLEMS)}]\nalgorithms = [{names(OURS)}]\n")
    command = [args.rooco, "lab", "run", str(work / "signed-events.toml"), "--results", str(work / "lab"), "--threads", "1", "--json", "--quiet"]
    results = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    cells = {(c["problem"], c["instance"], c["algorithm"]): c["outcomes"][0] for c in results["cells"]}
    return {k: o["loss"] for k, o in cells.items()}, {k[:2]: o["loss"] - o["last"] for k, o in cells.items()}


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--rows", type=int, default=100_000)
    a.add_argument("--data-sets", type=int, default=3)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--rooco", default=str(ROOT / "target/release/rooco"))
    a.add_argument("--work", default=str(ROOT / "target/signed-events"))
    a.add_argument("--out", default=str(ROOT / "bench/SIGNED_EVENTS.md"))
    args = a.parse_args()
    work = pathlib.Path(args.work)
    work.mkdir(parents=True, exist_ok=True)
    store = work / "lightgbm.jsonl"
    kept = [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []
    found = {tuple(k["fit"]): k["found"] for k in kept}
    for problem in PROBLEMS:
        for i in range(args.data_sets):
            key = [problem, args.rows, args.seed, i]
            if tuple(key) in found:
                continue
            with tempfile.TemporaryDirectory(dir=work) as d:
                files = ["--rows", str(args.rows), "--seed", str(args.seed), "--data-set", str(i), "-o", d]
                subprocess.run([args.rooco, "lab", "events", problem, *files], check=True, capture_output=True)
                train, test = pd.read_csv(f"{d}/train.csv"), pd.read_csv(f"{d}/test.csv")
            columns = [c for c in train if c[0] == "c"]
            x, y, w, xt, yt = train[columns].to_numpy(), train.y.to_numpy(), train.w.to_numpy(), test[columns].to_numpy(), test.y.to_numpy()
            row = {h: lightgbm(h, x, y, w, xt, yt) for h in RIVALS}
            row["negative"] = float(-w[w < 0].sum() / np.abs(w).sum())
            found[tuple(key)] = row
            with store.open("a") as out:
                out.write(json.dumps({"fit": key, "found": row}) + "\n")
            print(*key, {k: round(v, 4) for k, v in row.items()}, flush=True)
    own, truth = ours(args, work)
    sets = range(args.data_sets)
    heads = ["events", "negative mass", "the truth"] + [f"rooco {w}" for w in OURS] + [f"LightGBM {h}" for h in RIVALS] + ["rooco auto / best of LightGBM"]
    lines = ["# Signed events", "", f"Made by `bench/signed_events.py` (its head says how): {args.rows:,} rows, mean of {args.data_sets} data sets of seed {args.seed}; log-loss on the true distribution.", "",
             "| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for problem in PROBLEMS:
        rows = [found[problem, args.rows, args.seed, i] for i in sets]
        mean = [np.mean([own[problem, i, w] for i in sets]) for w in OURS] + [np.mean([r[h] for r in rows]) for h in RIVALS]
        ratio = mean[0] / min(mean[len(OURS) :])
        best = np.mean([truth[problem, i] for i in sets])
        lines.append(f"| {problem} | {np.mean([r['negative'] for r in rows]):.0%} | {best:.4f} | " + " | ".join(f"{m:.4f}" for m in mean) + f" | {ratio:.4f} |")
    pathlib.Path(args.out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
