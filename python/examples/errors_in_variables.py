"""Errors in variables: does fibre go with a lower body mass?

    python python/examples/errors_in_variables.py

The NHANES survey asked people on two days what they had eaten. One day says little of a person's habit: the two days correlate only 0.40. A regression of
the body mass index on one day's fibre sees a slope that this noise has flattened (attenuation). The two days tell the variance of the noise, mean((x₁ - x₂)²)/2,
and with it the loss is corrected: ½(⟨w, x⟩ - y)² - ½vw². A single row of it is not convex, the sum is. Nothing has to be tuned.

The rows are few, so the pass goes over 20 shuffled copies of them.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from rooco import OnePassRegressor

DATA = Path(__file__).resolve().parents[2] / "data" / "nhanes-2017-18.csv.gz"


def main(copies=20):
    """Runs the study; returns the slopes."""
    t = pd.read_csv(DATA)
    t = t[(t["age"] >= 20) & t[["bmi", "fiber_g_day1", "fiber_g_day2"]].notna().all(axis=1)]
    day1, day2 = (np.log(np.maximum(t[f"fiber_g_day{k}"].to_numpy(), 0.1)) for k in (1, 2))
    variance = np.mean((day1 - day2) ** 2) / 2
    x, y = pd.DataFrame({"log_fibre": day1 - day1.mean()}), t["bmi"].to_numpy()

    r = np.random.default_rng(1)
    order = np.concatenate([r.permutation(len(y)) for _ in range(copies)])
    naive = OnePassRegressor(features="linear").fit(x.iloc[order], y[order])
    corrected = OnePassRegressor(feature_noise={"log_fibre": variance}).fit(x.iloc[order], y[order])

    # The same in closed form.
    covariance, total = np.cov(day1, y, bias=True)[0, 1], np.var(day1)
    exact = {"naive": covariance / total, "corrected": covariance / (total - variance)}
    slopes = {"naive": naive.coef_[0], "corrected": corrected.coef_[0]}
    print(f"{len(y)} adults; correlation of the two days {np.corrcoef(day1, day2)[0, 1]:.2f}, noise variance {variance:.3f}")
    for name in slopes:
        print(f"{name:10} slope {slopes[name]:6.2f}   closed form {exact[name]:6.2f}")
    return slopes | {f"exact {k}": v for k, v in exact.items()}


if __name__ == "__main__":
    main()
