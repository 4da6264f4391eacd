"""What a notebook shows of an estimator."""

from __future__ import annotations

import html
from typing import Any

import numpy as np


def card(estimator: Any) -> str:
    """What it was learned from, how good it is, what is promised, the largest weights."""
    if not estimator.__sklearn_is_fitted__():
        return f"<pre>{html.escape(repr(estimator))}</pre>"
    report = estimator.report_
    facts = {
        "learned from": f"{report['rows']:,} rows",
        "features": estimator.features_,
        "loss": report["loss_name"],
        "progressive loss": f"{estimator.progressive_loss_:.4g}" + (f" (best constant: {report['baseline']:.4g})" if report["baseline"] else ""),
    }
    if report["holdout"]:
        kept = ("loss", "accuracy", "auc", "rmse", "r2")
        facts["held-out rows"] = ", ".join(f"{k} {v:.4g}" for k, v in report["holdout"].items() if k in kept and v is not None)
    facts["promised"] = estimator.guarantee_
    rows = "".join(f"<tr><th style='text-align:left'>{html.escape(k)}</th><td style='text-align:left'>{html.escape(v)}</td></tr>" for k, v in facts.items())
    try:
        names, weights = estimator.coef_names_, np.abs(estimator._linear()[0]).max(axis=0)
    except AttributeError:
        # Curves and pairs have no coefficients.
        return f"<div><b>{type(estimator).__name__}</b><table>{rows}</table></div>"
    top = np.argsort(-weights)[:10]
    most = weights[top[0]] if len(top) and weights[top[0]] > 0 else 1.0
    bars = "".join(
        f"<tr><td style='text-align:left'>{html.escape(names[i])}</td><td>{weights[i]:.4g}</td><td style='text-align:left'>"
        f"<div style='background:#2f81d8;height:.7em;width:{120 * weights[i] / most:.0f}px'></div></td></tr>"
        for i in top
    )
    return f"<div><b>{type(estimator).__name__}</b><table>{rows}</table><table><tr><th>feature</th><th>|weight|</th><th></th></tr>{bars}</table></div>"
