"""Signed event weights: a classifier trained on data alone, with sWeights.

    python python/examples/signed_event_weights.py

An experiment records events in which a signal sits on a background. For no event is it known which it is, but the invariant mass tells the two apart on
average: a peak on a falling spectrum. A fit to the mass gives every event two weights, its sWeights, that project out the signal and the background;
some of them are negative. Every event is then used twice: as signal with the one, as background with the other. Only the sum over all
events is the loss of the truth; a single row of negative weight has a concave loss.

The events here are made (so that the truth is known), written to a ROOT file and read back with uproot; the weights come from the package
`sweights`. Learned from the same rows, in the same order, in one pass: rooco, Vowpal Wabbit (which drops rows of negative weight) and
scikit-learn's SGDClassifier (which takes them without a word). Judged on the true origin of new events.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import uproot
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss, roc_auc_score
from sweights import SWeight

from rooco import OnePassClassifier

RANGE = (5.0, 5.6)  # GeV
PEAK, WIDTH, SLOPE = 5.28, 0.02, 4.0


def gauss(m):
    """The density of the signal's mass; it lies within the range but for 1e-40."""
    return np.exp(-0.5 * ((m - PEAK) / WIDTH) ** 2) / (WIDTH * np.sqrt(2 * np.pi))


def falling(m):
    """The density of the background's mass."""
    norm = (1 - np.exp(-SLOPE * (RANGE[1] - RANGE[0]))) / SLOPE
    return np.exp(-SLOPE * (m - RANGE[0])) / norm


def events(n, share, seed):
    """Mass, four features and the truth. The features do not depend on the mass, given the origin: what sWeights need."""
    r = np.random.default_rng(seed)
    signal = r.random(n) < share
    u = r.random(n) * (1 - np.exp(-SLOPE * (RANGE[1] - RANGE[0])))
    mass = np.where(signal, r.normal(PEAK, WIDTH, n), RANGE[0] - np.log1p(-u) / SLOPE)
    shift = np.where(signal[:, None], [0.7, -0.5, 0.4, 0.0], 0.0)
    return mass, r.normal(size=(n, 4)) + shift, signal


def vowpal_wabbit(x, y, weight, new):
    """One pass of Vowpal Wabbit with its defaults; the probability of each new event."""
    from vowpalwabbit import Workspace

    def features(x):
        return " ".join(f"f{i}:{v:.6f}" for i, v in enumerate(x))

    vw = Workspace("--loss_function logistic --link logistic --quiet")
    for row, label, w in zip(x, y, weight):
        vw.learn(f"{1 if label else -1} {w:.6f} | {features(row)}")
    return np.array([vw.predict(f"| {features(row)}") for row in new])


def main(n=40_000, seed=1):
    """Runs the study; returns the figures."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.root"
        mass, x, _ = events(n, 0.1, seed)
        with uproot.recreate(path) as file:
            file["events"] = {"mass": mass, **{f"f{i}": x[:, i] for i in range(4)}}
        tree = uproot.open(path)["events"].arrays(library="np")
    mass, x = tree["mass"], np.column_stack([tree[f"f{i}"] for i in range(4)])

    # The yields of an extended maximum likelihood fit of the mass spectrum, by its fixed-point iteration.
    share = 0.5
    for _ in range(200):
        p = share * gauss(mass)
        share = np.mean(p / (p + (1 - share) * falling(mass)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns about its own integration steps
        sw = SWeight(mass, [gauss, falling], [share * n, (1 - share) * n], (RANGE,), method="summation", checks=False)
        w_signal, w_background = sw.get_weight(0, mass), sw.get_weight(1, mass)

    # Every event twice, in random order.
    order = np.random.default_rng(seed).permutation(2 * n)
    rows, labels = np.concatenate([x, x])[order], np.repeat([1, 0], n)[order]
    weight = np.concatenate([w_signal, w_background])[order]

    _, new, truth = events(20_000, 0.1, seed + 1)
    ours = OnePassClassifier().fit(rows, labels, weight)
    sgd = SGDClassifier(loss="log_loss", max_iter=1, tol=None, shuffle=False, random_state=1).fit(rows, labels, sample_weight=weight)
    averaged = SGDClassifier(loss="log_loss", max_iter=1, tol=None, shuffle=False, average=True, random_state=1)
    averaged.fit(rows, labels, sample_weight=weight)
    keep = weight > 0
    best = OnePassClassifier().fit(*(lambda e: (e[1], e[2].astype(int)))(events(2 * n, 0.1, seed + 2)))
    predictions = {
        "rooco, all rows": ours.predict_proba(new)[:, 1],
        "rooco, negative weights dropped": OnePassClassifier().fit(rows[keep], labels[keep], weight[keep]).predict_proba(new)[:, 1],
        "Vowpal Wabbit": vowpal_wabbit(rows, labels, weight, new),
        "scikit-learn SGDClassifier": sgd.predict_proba(new)[:, 1],
        "scikit-learn SGDClassifier, averaged": averaged.predict_proba(new)[:, 1],
        "rooco, true labels": best.predict_proba(new)[:, 1],
    }
    print(f"{n} events, {np.mean(weight < 0):.0%} of the rows with negative weight; signal share {share:.3f}, true 0.100")
    figures = {}
    for name, p in predictions.items():
        figures[name] = (log_loss(truth, np.clip(p, 1e-9, 1 - 1e-9)), roc_auc_score(truth, p))
        print(f"{name:40} log-loss {figures[name][0]:.4f}   AUC {figures[name][1]:.4f}")
    return figures


if __name__ == "__main__":
    main()
