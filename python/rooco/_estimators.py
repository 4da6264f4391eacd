"""The estimators, and one from a file."""

from __future__ import annotations

import os

from rooco._classifier import OnePassClassifier
from rooco._regressor import OnePassRegressor
from rooco._rooco import Learner, Model

__all__ = ["OnePassClassifier", "OnePassRegressor", "load"]


def load(path: str | os.PathLike[str]) -> OnePassClassifier | OnePassRegressor:
    """An estimator with a model from a file, of ``rooco fit --model`` or of :meth:`save`.

    A file that carries the learner's state (``rooco fit --with-state``, ``save(path, with_state=True)``) can be learned further: ``partial_fit``, or
    ``partial_fit_file`` for files and tables with columns of any kind.
    """
    model = Model.load(path)
    estimator = OnePassClassifier() if model.classes() else OnePassRegressor()
    return estimator._adopt(model, Learner.of_model(path))
