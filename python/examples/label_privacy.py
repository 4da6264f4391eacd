"""Label differential privacy: nobody's label is known, and the model is nearly as good.

    python python/examples/label_privacy.py

Randomised response: before the data leave a person, the label is replaced, with a chance that depends on ε, by a random one. The label is then ε-differentially
private. A learner that takes these labels at face value learns probabilities that are far too flat. The corrected loss gives each row the loss that its true label
would have had, on average over the noise: it is a sum with a negative term, -ρ·loss(other label)/(1 - 2ρ).
"""

from pathlib import Path

import numpy as np
import pandas as pd

from rooco import OnePassClassifier

DATA = Path(__file__).resolve().parents[2] / "crates/rooco-cli/data/acs-employment-ma.csv.gz"


def main(epsilon=1.0, rows=120_000):
    """Runs the study; returns log-loss and accuracy on held-out people with their true labels."""
    t = pd.read_csv(DATA).sample(n=rows, random_state=1).reset_index(drop=True)
    categories = [c for c in t.columns if c not in ("employed", "AGEP", "year")]
    train, test = t[: rows * 3 // 4].copy(), t[rows * 3 // 4 :]

    # A chance of 2/(1 + e^ε) to be replaced by one of two labels: flipped with 1/(1 + e^ε).
    rate = 2 / (1 + np.exp(epsilon))
    r = np.random.default_rng(1)
    replaced = r.random(len(train)) < rate
    train["private"] = np.where(replaced, r.integers(0, 2, len(train)), train["employed"])

    def fit(target, **parameters):
        drop = ["year", "private" if target == "employed" else "employed"]
        model = OnePassClassifier(**parameters)
        return model.fit_stream(train, target=target, drop=drop, categorical=categories)

    truth = test["employed"].to_numpy()
    figures = {}
    for name, model in {
        "true labels": fit("employed"),
        "private labels as they are": fit("private"),
        "private labels, corrected": fit("private", label_noise=(rate / 2, rate / 2)),
    }.items():
        table = test.rename(columns={"employed": "private"}) if "private" in name else test
        p = model.predict_proba(table)[:, 1]
        loss = -np.mean(np.log(np.clip(np.where(truth == 1, p, 1 - p), 1e-9, 1)))
        figures[name] = (loss, np.mean((p > 0.5) == (truth == 1)))
        print(f"ε = {epsilon:g}   {name:28} log-loss {loss:.4f}   accuracy {figures[name][1]:.4f}")
    return figures


if __name__ == "__main__":
    main()
