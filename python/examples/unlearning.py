"""Unlearning by negative weights: a row taken back, without looking for it.

    python python/examples/unlearning.py

A log holds rows that were added (weight 1) and rows that were taken back (weight -1): consent withdrawn, a source that turned out to be wrong. Nobody has to find
the added row of a removal; the two cancel in the sum of the losses. Here a fifth of the people come from a spoiled source that says "employed" of everybody, and is
taken back later.

Rows must come in random order, so the log is shuffled first: a log in which the removals come last is not in random order, and `order_test_` says so.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rooco import OnePassClassifier

DATA = Path(__file__).resolve().parents[2] / "crates/rooco-cli/data/acs-employment-ma.csv.gz"


def main(rows=120_000):
    """Runs the study; returns log-loss and accuracy on people that were held out."""
    t = pd.read_csv(DATA).sample(n=rows, random_state=1).reset_index(drop=True)
    categories = [c for c in t.columns if c not in ("employed", "AGEP", "year")]
    columns = ColumnTransformer([("age", StandardScaler(), ["AGEP"]), ("codes", OneHotEncoder(), categories)])
    x, y = columns.fit_transform(t).tocsr(), t["employed"].to_numpy()
    n = rows * 3 // 4
    train, test = np.arange(n), np.arange(n, rows)

    r = np.random.default_rng(1)
    bad = r.random(n) < 0.2
    said = np.where(bad, 1, y[:n])
    # The log: every row added, the spoiled ones taken back; shuffled.
    row = np.concatenate([train, train[bad]])
    weight = np.concatenate([np.ones(n), -np.ones(bad.sum())])
    sorted_log = OnePassClassifier().fit(x[row], said[row], weight)
    order = r.permutation(len(row))
    row, weight = row[order], weight[order]

    models = {
        "never had the spoiled rows": OnePassClassifier().fit(x[train[~bad]], y[train[~bad]]),
        "with the spoiled rows": OnePassClassifier().fit(x[train], said),
        "spoiled rows taken back": OnePassClassifier().fit(x[row], said[row], weight),
    }
    figures = {}
    for name, model in models.items():
        p = model.predict_proba(x[test])[:, 1]
        loss = -np.mean(np.log(np.clip(np.where(y[test] == 1, p, 1 - p), 1e-9, 1)))
        figures[name] = (loss, np.mean((p > 0.5) == (y[test] == 1)))
        print(f"{name:28} log-loss {loss:.4f}   accuracy {figures[name][1]:.4f}")
    print("the log with all removals at its end:", sorted_log.order_test_["text"])
    figures["sorted log is in random order"] = sorted_log.order_test_["random"]
    return figures


if __name__ == "__main__":
    main()
