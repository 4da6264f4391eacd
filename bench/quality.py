#!/usr/bin/env python3
"""Held-out quality of one pass: rooco (no options) beside Vowpal Wabbit and scikit-learn, over several row orders.

    bench/quality.py DATA [--orders 5] [--sets clickbait,acs,...] [--work DIR] [--out bench/QUALITY.md]

DATA holds the files that bench/quality_data.py names. Needs numpy, scipy, pandas, pyarrow, scikit-learn and vowpalwabbit
(pip install them in a virtual environment). Every finished fit is kept in DIR/results.json, so the command can be
stopped and started again, and more orders can be added later. Everything runs on one thread.

Two runs at once, say one for the rivals and one for rooco, need a DIR each (--work, --only); --merge then takes one's results into the other's.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import time
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
import scipy.sparse as sp

import quality_data as data

ROOT = pathlib.Path(__file__).resolve().parent.parent
RATES = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
SIGNED = ["negative25", "negative40", "noisy-two", "noisy-one"]


def loss_of(regression, p, y):
    """Mean log-loss of scores p, or mean squared error; not a number if any prediction is not finite."""
    p = np.asarray(p, dtype=float)
    if not np.isfinite(p).all():
        return math.nan
    return float(np.mean((p - y) ** 2)) if regression else float(np.mean(np.logaddexp(0, -y * p)))


class Set:
    """One data set in one order, with the files that the learners read."""

    def __init__(self, name, args):
        self.name, self.args = name, args
        self.regression = name in data.REGRESSION
        self.x, self.y, self.x_test, self.y_test = data.load(name, args.data)
        self.work = args.work

    def rows(self, order, kind="clean"):
        x, y, weight = self.x, self.y, np.ones(len(self.y))
        if order > 0:
            permutation = np.random.default_rng(1000 + order).permutation(len(y))
            x, y = x[permutation], y[permutation]
        if kind != "clean":
            x, y, weight = data.signed(kind, x, y, np.random.default_rng(2000 + order))
        return x, y, weight

    # --- rooco ---
    def rooco(self, order, kind="clean", first_order=False):
        train, test = self.work / "train.bin", self.work / "test.bin"
        x, y, weight = self.rows(order, kind)
        data.write_prepared(train, x, y, weight)
        data.write_prepared(test, self.x_test, self.y_test, np.ones(len(self.y_test)))
        loss = "squared" if self.regression else "logistic"
        if kind == "noisy-one":
            loss = "noisy:0.3,0.1"
        if self.name == "digits":
            loss = "softmax:10"
        command = [str(ROOT / "target/release/quality"), str(train), str(test), loss] + (["plain"] if first_order else [])
        result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        factor = 2.0 if self.regression else 1.0  # the library's squared loss has a factor 1/2
        return {**result, "loss": factor * result["held_out"], "progressive": factor * result["progressive"]}

    # --- Vowpal Wabbit ---
    def vw_lines(self, x, y, weight):
        index, value, end = x.indices, x.data, x.indptr
        intercept = x.shape[1] - 1  # VW has its own
        ones = np.all(value == 1.0)
        lines = []
        for t in range(len(y)):
            pairs = zip(index[end[t] : end[t + 1]].tolist(), value[end[t] : end[t + 1]].tolist())
            text = " ".join((str(i) if ones else f"{i}:{v:.9g}") for i, v in pairs if i != intercept)
            label = f"{int(y[t]) + 1}" if self.name == "digits" else f"{y[t]:.9g}"
            lines.append(f"{label} {weight[t]:.9g} | {text}\n" if weight[t] != 1.0 else f"{label} | {text}\n")
        return lines

    def vw_write(self, order, kind="clean"):
        stamp = (self.name, order, kind)
        if getattr(self.args, "vw_stamp", None) != stamp:
            with open(self.work / "train.vw", "w") as f:
                f.writelines(self.vw_lines(*self.rows(order, kind)))
            with open(self.work / "test.vw", "w") as f:
                f.writelines(self.vw_lines(self.x_test, self.y_test, np.ones(len(self.y_test))))
            self.args.vw_stamp = stamp

    def vw(self, order, options, kind="clean"):
        import vowpalwabbit

        self.vw_write(order, kind)
        loss = "squared" if self.regression else "logistic"
        model, out = self.work / "model.vw", self.work / "out.vw"
        task = f"--oaa 10 --loss_function {loss}" if self.name == "digits" else f"--loss_function {loss}"
        start = time.process_time()
        vowpalwabbit.Workspace(f"--quiet -b 20 {task} {options} -d {self.work}/train.vw -f {model} --no_stdin").finish()
        seconds = time.process_time() - start
        raw = "" if self.name == "digits" else f"-r {out}"
        predictions = f"-p {out}" if self.name == "digits" else ""
        if self.regression:
            raw, predictions = "", f"-p {out}"
        vowpalwabbit.Workspace(f"--quiet -t -i {model} -d {self.work}/test.vw {raw} {predictions} --no_stdin").finish()
        lines = [line for line in open(out).read().split("\n") if line.strip()]
        p = np.array([float(line.split()[0].split(":")[-1]) for line in lines])
        if self.name == "digits":
            return {"accuracy": float(np.mean(p == self.y_test + 1)), "cpu_us_per_row": 1e6 * seconds / len(self.y)}
        return {"loss": loss_of(self.regression, p, self.y_test), "cpu_us_per_row": 1e6 * seconds / len(self.y)}

    # --- scikit-learn ---
    def scaled(self, x):
        if not hasattr(self, "maxabs"):
            self.maxabs = np.maximum(abs(self.x).max(axis=0).toarray().ravel(), 1e-300)
        return x @ sp.diags(1.0 / self.maxabs)

    def sklearn_one_pass(self, order, kind="clean"):
        """SGDClassifier or SGDRegressor with its defaults: one pass, averaged; features scaled to at most 1."""
        from sklearn.linear_model import SGDClassifier, SGDRegressor

        x, y, weight = self.rows(order, kind)
        options = dict(max_iter=1, tol=None, average=True, shuffle=False, random_state=0)
        model = SGDRegressor(**options) if self.regression else SGDClassifier(loss="log_loss", **options)
        model.fit(self.scaled(x), y, sample_weight=weight)
        score = model.predict if self.regression else model.decision_function
        return {"loss": loss_of(self.regression, score(self.scaled(self.x_test)), self.y_test)}

    def batch(self, order, kind="clean"):
        """Ridge(1e-3), or LogisticRegression with the best C of 0.1, 1, 10 ON THE TEST SET (flatters batch)."""
        from sklearn.linear_model import LogisticRegression, Ridge

        x, y, weight = self.rows(order, kind)
        x, x_test = self.scaled(x), self.scaled(self.x_test)
        if self.regression:
            # The solver that "auto" picks for sparse rows stops early: diamraw .0199 instead of .0182.
            model = Ridge(alpha=1e-3, fit_intercept=False, solver="cholesky").fit(x, y, sample_weight=weight)
            return {"loss": loss_of(True, model.predict(x_test), self.y_test)}
        losses = {}
        for c in (1.0,) if kind != "clean" else (0.1, 1.0, 10.0):
            model = LogisticRegression(C=c, max_iter=300, fit_intercept=False).fit(x, y, sample_weight=weight)
            losses[c] = loss_of(False, model.decision_function(x_test), self.y_test)
        best = min(losses, key=losses.get)
        return {"loss": losses[best], "C": best}


def learners(s, order):
    """name -> function, for the clean table."""
    jobs = {"rooco": lambda: s.rooco(order), "rooco first order": lambda: s.rooco(order, first_order=True)}
    if s.name in ("flights", "clickbait", "nyclate", "mnist"):
        del jobs["rooco first order"]  # more than 256 features: the same run
    jobs["vw"] = lambda: s.vw(order, "")
    for rate in RATES:
        jobs[f"vw -l {rate}"] = lambda rate=rate: s.vw(order, f"-l {rate}")
    jobs["vw coin"] = lambda: s.vw(order, "--coin")
    jobs["sklearn one pass"] = lambda: s.sklearn_one_pass(order)
    if order == 0:
        jobs["batch"] = lambda: s.batch(order)  # does not depend on the order
    return jobs


def signed_learners(s, order, kind):
    jobs = {"rooco": lambda: s.rooco(order, kind)}
    if kind != "noisy-one":
        jobs["vw"] = lambda: s.vw(order, "", kind)
        jobs["sklearn one pass"] = lambda: s.sklearn_one_pass(order, kind)
        if order == 0 and s.name != "flights":
            jobs["batch"] = lambda: s.batch(order, kind)
    return jobs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--orders", type=int, default=5)
    parser.add_argument("--sets", default=",".join(data.SETS + ["digits"]))
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/rooco-quality"))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/QUALITY.md")
    parser.add_argument("--only", default="", help="comma-separated learner names")
    parser.add_argument("--merge", type=pathlib.Path, action="append", default=[], metavar="RESULTS.json", help="take in the results of another DIR; those of this DIR win")
    parser.add_argument("--table", action="store_true", help="write the table of what is there, run nothing")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    store = args.work / "results.json"
    results = json.loads(store.read_text()) if store.exists() else {}
    for other in args.merge:
        results = {**json.loads(other.read_text()), **results}
        store.write_text(json.dumps(results, indent=1))
    if not args.table:
        if not args.only or "rooco" in args.only:
            subprocess.run(["cargo", "build", "--release", "-q", "-p", "rooco-bench", "--bin", "quality"], cwd=ROOT, check=True)
        for order in range(args.orders):
            for name in args.sets.split(","):
                run_set(name, order, args, results, store)
    import quality_table

    args.out.write_text(quality_table.write(results))
    print(f"wrote {args.out}")


def run_set(name, order, args, results, store):
    wanted = [k for k in args.only.split(",") if k]
    s = None
    for kind in ["clean"] + SIGNED:
        if kind.startswith("noisy") and (name in data.REGRESSION):
            continue
        if name == "digits" and (kind != "clean" or order > 0):
            continue
        probe = signed_learners if kind != "clean" else learners

        class Named:
            pass

        named = Named()
        named.name, named.regression = name, name in data.REGRESSION
        names = probe(named, order, kind) if kind != "clean" else probe(named, order)
        for learner in names:
            if name == "digits" and not (learner in ("rooco", "vw") or learner.startswith("vw -l")):
                continue
            key = f"{name}/{kind}/{order}/{learner}"
            if key in results or (wanted and learner not in wanted):
                continue
            s = s or Set(name, args)
            job = (probe(s, order, kind) if kind != "clean" else probe(s, order))[learner]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    results[key] = job()
                except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
                    results[key] = {"refused": str(error).split("\n")[0][:160]}
            print(key, results[key], flush=True)
            store.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    sys.exit(main())
