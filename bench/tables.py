#!/usr/bin/env python3
"""Tables: rooco (auto, linear, shapes, pairs, trees) beside Vowpal Wabbit, LightGBM, HistGradientBoosting and EBM; held-out loss, CPU seconds from the file, memory.

    bench/tables.py DATA [--orders 5] [--sets diamonds,acs,...] [--learners auto,linear,...] [--rooco target/release/rooco] [--work DIR] [--out bench/TABLES.md]

DATA holds the files that ../shared/data/README.md describes. Sets marked * are bundled with scikit-learn, sets marked ** made here; all others are of these files. Needs numpy, pandas, pyarrow, scikit-learn, lightgbm,
vowpalwabbit and interpret-core; a learner whose package is missing is left out of the table. Rows are put in a random order, three quarters are learned from and the rest is the test. A rival's CPU seconds include reading the same
CSV (pandas) and the start of Python, as rooco's include reading it. LightGBM and HistGradientBoosting tuned: the best of 6 settings (leaves 7, 31, 127; rate .05, .1; up to 1000 trees, stopped after 20 without gain on a validation
part), chosen on a validation part of 20 %. EBM: its defaults with two outer bags, on at most 50,000 rows. One thread each. Memory is the peak of the process (GNU time). Every finished fit is a line of DIR/results.jsonl, so the
command can be stopped, started again, and run for other learners beside itself; the table is drawn from all of them.
"""

import argparse
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
import pandas as pd

ROOT = pathlib.Path(__file__).resolve().parent.parent
# name -> target, regression?
SETS = {
    "diamonds": ("price", True),
    "acs": ("employed", False),
    "nycreg": ("arr_delay", True),
    "nyclate": ("late", False),
    "flights": ("late", False),
    "nhanes": ("told_diabetes", False),
    "clickbait": ("clickbait", False),
    "mnist-odd": ("odd", False),
    "diamonds-ideal": ("ideal", False),
    "acs-age": ("AGEP", True),
    "nhanes-sbp": ("sbp1", True),
    "breast-cancer*": ("y", False),
    "wine*": ("y", False),
    "diabetes*": ("y", True),
    "digits-odd*": ("y", False),
    "california-like**": ("y", True),
    "linear-truth**": ("y", True),
}
# Free text: trees cannot take it.
TEXT = {"clickbait": "headline"}
LEARNERS = ["linear", "shapes", "pairs", "trees", "auto", "vw", "vw -q ::", "lightgbm", "lightgbm tuned", "hgb", "hgb tuned", "ebm"]
RUNS_TEXT = ["linear", "shapes", "pairs", "trees", "auto", "vw", "vw -q ::"]


def load(name, folder):
    d = pathlib.Path(folder)
    if name == "diamonds":
        t = pd.read_csv(d / "diamonds.csv.gz")
        t["price"] = np.log(t["price"])
        return t
    if name == "acs":
        return pd.read_csv(d / "acs-employment-ma.csv.gz")
    if name in ("nycreg", "nyclate"):
        t = pd.read_csv(d / "nycflights13.csv.gz")
        numbers = t.select_dtypes("number").columns
        t[numbers] = t[numbers].fillna(t[numbers].mean())
        if name == "nycreg":
            return t
        t["late"] = (t["arr_delay"] >= 15).astype(int)
        return t.drop(columns=["arr_delay", "dep_delay"])
    if name == "flights":
        t = pd.read_parquet(d / "flights-3m.parquet").sample(1_000_000, random_state=0)
        t["hour"] = t.date.dt.hour + t.date.dt.minute / 60
        t["weekday"], t["day"] = t.date.dt.day_of_week, t.date.dt.day_of_year
        t["late"] = (t.delay >= 15).astype(int)
        return t.drop(columns=["date", "delay"])
    if name == "nhanes":
        t = pd.read_csv(d / "nhanes-2017-18.csv.gz")
        t = t[(t.age >= 20) & t.told_diabetes.isin(["0", "1", 0, 1])]
        t["told_diabetes"] = t.told_diabetes.astype(int)
        t = t.drop(columns=["hba1c"])
        numbers = t.select_dtypes("number").columns
        t[numbers] = t[numbers].fillna(t[numbers].median())
        return t.fillna("missing")
    if name == "nhanes-sbp":
        t = pd.read_csv(d / "nhanes-2017-18.csv.gz")
        t = t[(t.age >= 20) & t.sbp1.notna()].drop(columns=["sbp2", "sbp3", "dbp1", "dbp2", "dbp3"])
        numbers = t.select_dtypes("number").columns
        t[numbers] = t[numbers].fillna(t[numbers].median())
        return t.fillna("missing")
    if name == "clickbait":
        return pd.read_csv(d / "clickbait.csv.gz")
    if name == "mnist-odd":
        pixels = np.frombuffer(gzip.open(d / "mnist-train-images-idx3-ubyte.gz").read(), np.uint8, offset=16).reshape(-1, 784)
        t = pd.DataFrame(pixels, columns=[f"p{i}" for i in range(784)])
        t["odd"] = np.frombuffer(gzip.open(d / "mnist-train-labels-idx1-ubyte.gz").read(), np.uint8, offset=8) % 2
        return t
    if name == "diamonds-ideal":
        t = pd.read_csv(d / "diamonds.csv.gz")
        t["ideal"] = (t["cut"] == "Ideal").astype(int)
        return t.drop(columns=["cut"])
    if name == "acs-age":
        return pd.read_csv(d / "acs-employment-ma.csv.gz")
    if not name.endswith("**"):
        from sklearn import datasets

        b = {"br": datasets.load_breast_cancer, "wi": datasets.load_wine, "dia": datasets.load_diabetes, "dig": datasets.load_digits}
        b = next(b[k] for k in b if name.startswith(k))(as_frame=True)
        t = b.data.copy()
        t.columns = [c.replace(" ", "_").replace("/", "_") for c in t.columns]
        t["y"] = (b.target == 1).astype(int) if name == "wine*" else b.target % 2 if name == "digits-odd*" else b.target
        return t
    r = np.random.default_rng(7)
    x = r.normal(size=(40_000, 8)).round(6)
    if name == "linear-truth**":
        y = x @ np.array([1, -2, 0.5, 0, 0, 0.2, 0, 1]) + r.normal(size=len(x))
    else:
        y = np.abs(x[:, 0]) + np.exp(0.5 * x[:, 1]) + x[:, 2] * (x[:, 3] > 0) + 0.5 * np.sin(3 * x[:, 4]) + 0.3 * r.normal(size=len(x))
    t = pd.DataFrame(x, columns=[f"x{i}" for i in range(8)])
    t["y"] = y.round(6)
    return t


def split(t, order):
    p = np.random.default_rng(order).permutation(len(t))
    n = len(t) * 3 // 4
    return t.iloc[p[:n]], t.iloc[p[n:]]


def mean_loss(regression, y, p):
    if regression:
        return float(np.mean((y - p) ** 2))
    p = np.clip(p, 1e-12, 1 - 1e-12)
    return float(-np.mean(np.where(y == 1, np.log(p), np.log1p(-p))))


def run(command):
    """Standard output, CPU seconds and peak megabytes of a process, by GNU time: a child of this process would inherit its peak."""
    with tempfile.NamedTemporaryFile("r") as spent:
        out = subprocess.run(["/usr/bin/time", "-q", "-f", "%U %S %M", "-o", spent.name, *command], capture_output=True, text=True)
        if out.returncode not in (0, 1) or not out.stdout.strip():
            raise RuntimeError(out.stderr[-300:])
        user, system, kilobytes = map(float, spent.read().split())
        return out.stdout, user + system, kilobytes / 1024


def rooco(args, train, test, target, regression, features, text):
    loss = "squared" if regression else "logistic"
    text = ["--text", text] if text else []
    text, seconds, megabytes = run(
        [args.rooco, "fit", train, "--target", target, "--loss", loss, "--features", features, "--test", test, "--no-order-test", "--json", *text]
    )
    found = json.loads(text.splitlines()[-1])["test"]["loss"]
    return (2 * found if regression else found), seconds, megabytes


# What a rival runs in a process of its own: arguments are the learner, files, target, regression.
def rival(learner, train, test, target, regression):
    import warnings

    warnings.filterwarnings("ignore")
    tr, te = pd.read_csv(train), pd.read_csv(test)
    for c in tr.columns:
        if tr[c].dtype.kind not in "biuf":
            kind = pd.api.types.CategoricalDtype(pd.unique(pd.concat([tr[c], te[c]]).dropna()))
            tr[c], te[c] = tr[c].astype(kind), te[c].astype(kind)
    x, y, xt, yt = tr.drop(columns=target), tr[target].to_numpy(float), te.drop(columns=target), te[target].to_numpy(float)
    if learner.startswith("hgb"):
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        def codes(t):
            return pd.DataFrame({c: (t[c].cat.codes if isinstance(t[c].dtype, pd.CategoricalDtype) else t[c]) for c in t})

        few = [c for c in x if isinstance(x[c].dtype, pd.CategoricalDtype) and len(x[c].cat.categories) <= 255]
        kind = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
        m = kind(categorical_features=few or None)
        if learner == "hgb":
            m.fit(codes(x), y)
        else:
            n, best = len(x) * 4 // 5, None
            for leaves in (7, 31, 127):
                for rate in (0.05, 0.1):
                    m = kind(categorical_features=few or None, max_leaf_nodes=leaves, learning_rate=rate, max_iter=1000, early_stopping=True, n_iter_no_change=20)
                    m.fit(codes(x[:n]), y[:n])
                    v = codes(x[n:])
                    score = mean_loss(regression, y[n:], m.predict(v) if regression else m.predict_proba(v)[:, 1])
                    best = min(best or (score, m), (score, m), key=lambda b: b[0])
            m = best[1]
        p = m.predict(codes(xt)) if regression else m.predict_proba(codes(xt))[:, 1]
    elif learner == "ebm":
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

        kind = ExplainableBoostingRegressor if regression else ExplainableBoostingClassifier
        m = kind(outer_bags=2, n_jobs=1).fit(x[:50_000], y[:50_000])
        p = m.predict(xt) if regression else m.predict_proba(xt)[:, 1]
    elif learner.startswith("vw"):
        from vowpalwabbit import pyvw

        def line(row):
            if set(row) <= set(TEXT.values()):
                return " ".join(re.findall("[a-z0-9']+", " ".join(row.values()).lower()))
            parts = [f"{k}={v}" if isinstance(v, str) else f"{k}:{v}" for k, v in row.items() if v != 0]
            return " ".join(p.replace("|", "_").replace(" ", "_") for p in parts)

        options = "--quiet" + ("" if regression else " --loss_function logistic --link logistic") + (" -q ::" if "-q" in learner else "") + " -b 22"
        vw = pyvw.Workspace(options)
        label = y if regression else 2 * y - 1
        for k, row in enumerate(x.astype(object).to_dict("records")):
            vw.learn(f"{label[k]} | {line(row)}")
        p = np.array([vw.predict(f"| {line(row)}") for row in xt.astype(object).to_dict("records")])
    else:
        import lightgbm as lgb

        kind = lgb.LGBMRegressor if regression else lgb.LGBMClassifier
        if learner == "lightgbm":
            m = kind(verbose=-1, n_jobs=1).fit(x, y)
        else:
            n = len(x) * 4 // 5
            best = None
            for leaves in (7, 31, 127):
                for rate in (0.05, 0.1):
                    m = kind(verbose=-1, n_jobs=1, num_leaves=leaves, learning_rate=rate, n_estimators=1000)
                    m.fit(x[:n], y[:n], eval_set=[(x[n:], y[n:])], callbacks=[lgb.early_stopping(20, verbose=False)])
                    score = list(m.best_score_["valid_0"].values())[0]
                    best = min(best or (score, m), (score, m), key=lambda b: b[0])
            m = best[1]
        p = m.predict(xt) if regression else m.predict_proba(xt)[:, 1]
    print(mean_loss(regression, yt, np.asarray(p)))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("data")
    a.add_argument("--orders", type=int, default=5)
    a.add_argument("--sets", default=",".join(SETS))
    a.add_argument("--learners", default=",".join(LEARNERS))
    a.add_argument("--first-order", type=int, default=0)
    a.add_argument("--work", default=str(ROOT / "target/tables"))
    a.add_argument("--rooco", default=str(ROOT / "target/release/rooco"))
    a.add_argument("--out", default=str(ROOT / "bench/TABLES.md"))
    args = a.parse_args()
    work = pathlib.Path(args.work)
    work.mkdir(parents=True, exist_ok=True)
    store = work / "results.jsonl"
    results = finished(store)
    for name in args.sets.split(","):
        target, regression = SETS[name]
        table = None
        for order in range(args.first_order, args.orders):
            names = [l for l in args.learners.split(",") if f"{name}/{l}/{order}" not in results and (name not in TEXT or l in RUNS_TEXT)]
            if not names:
                continue
            table = load(name, args.data) if table is None else table
            with tempfile.TemporaryDirectory(dir=work) as folder:
                files = [f"{folder}/{part}.csv" for part in ("train", "test")]
                for part, file in zip(split(table, order), files):
                    part.to_csv(file, index=False)
                for learner in names:
                    try:
                        if learner in ("linear", "shapes", "pairs", "trees", "auto"):
                            found = rooco(args, *files, target, regression, learner, TEXT.get(name))
                        else:
                            command = [sys.executable, __file__, "--rival", learner, *files, target, str(int(regression))]
                            text, seconds, megabytes = run(command)
                            found = float(text.split()[-1]), seconds, megabytes
                    except Exception as e:
                        print(name, learner, e, file=sys.stderr)
                        continue
                    with store.open("a") as out:
                        out.write(json.dumps({"fit": f"{name}/{learner}/{order}", "found": found}) + "\n")
                    print(name, learner, order, *found, flush=True)
    results = finished(store)
    args.learners = ",".join(LEARNERS)
    pathlib.Path(args.out).write_text(report(results, args))


def finished(store):
    lines = store.read_text().splitlines() if store.exists() else []
    return {line["fit"]: line["found"] for line in map(json.loads, lines)}


def report(results, args):
    lines = ["# Tables", "", "Made by `bench/tables.py` (its head says what is measured). Held-out log-loss, or mean squared error; mean over orders ± standard error of that mean; (n): of the first n of these orders alone.", ""]
    learners = args.learners.split(",")
    lines += ["| set | orders | " + " | ".join(learners) + " | closed |", "|---" * (len(learners) + 3) + "|"]
    cpu = ["| set | " + " | ".join(learners) + " |", "|---" * (len(learners) + 1) + "|"]
    peak = list(cpu)
    for name in SETS:
        cells, seconds, memory, mean = [], [], [], {}
        orders = max([sum(k.startswith(f"{name}/{l}/") for k in results) for l in learners])
        for l in learners:
            all = [results[k] for k in results if k.startswith(f"{name}/{l}/")]
            if not all:
                cells.append("")
                seconds.append("")
                memory.append("")
                continue
            peaks = [v[2] for v in all if v[2] is not None]
            memory.append(f"{max(peaks):.0f}" if peaks else "")
            loss = np.array([v[0] for v in all])
            mean[l] = loss.mean()
            error = f" ± {loss.std(ddof=1) / len(loss) ** 0.5:.2g}" if len(loss) > 1 else ""
            fewer = f" ({len(loss)})" if len(loss) < orders else ""
            cells.append(f"{loss.mean():.4g}{error}{fewer}")
            seconds.append(f"{np.mean([v[1] for v in all]):.2f}")
        if not mean:
            continue
        rivals = [mean[l] for l in ("lightgbm", "hgb") if l in mean]
        closed = ""
        if rivals and "auto" in mean and "linear" in mean:
            gap = mean["linear"] - min(rivals)
            closed = f"{(mean['linear'] - mean['auto']) / gap:.0%}" if gap > 0.003 * mean["linear"] else "no gap"
        lines.append(f"| {name} | {orders} | " + " | ".join(cells) + f" | {closed} |")
        cpu.append(f"| {name} | " + " | ".join(seconds) + " |")
        peak.append(f"| {name} | " + " | ".join(memory) + " |")
    lines += ["", "closed: the way from `linear` to the better of LightGBM's and HistGradientBoosting's defaults that `auto` goes.", "",
              "CPU seconds, reading the CSV and predicting the test part included (the rivals' also the start of Python):", ""]
    return "\n".join(lines + cpu + ["", "Peak memory, MB:", ""] + peak) + "\n"


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--rival":
        rival(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5], sys.argv[6] == "1")
    else:
        main()
