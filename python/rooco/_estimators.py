"""The estimators, and one from a file."""

from __future__ import annotations

import os

from rooco._classifier import OnePassClassifier
from rooco._regressor import OnePassRegressor
from rooco._rooco import Model

__all__ = ["OnePassClassifier", "OnePassRegressor", "load"]


def load(path: str | os.PathLike[str]) -> OnePassClassifier | OnePassRegressor:
    """An estimator with a model from a file, of ``rooco fit --model`` or of :meth:`save`."""
    model = Model.load(path)
    estimator = OnePassClassifier() if model.classes() else OnePassRegressor()
    return estimator._adopt(model)
