"""One-pass learning from a shuffled stream, with a guarantee, even where single rows have non-convex losses.

Estimators with the interface of scikit-learn over the Rust library; the numbers are those of the ``rooco`` command, bit for bit.
"""

from rooco import lab, metrics
from rooco._estimators import OnePassClassifier, OnePassRegressor, load
from rooco._pca import ShiftInvertPCA
from rooco._rooco import Model, __version__
from rooco._tools import Audit, Learned, audit, certify, learn, merge, shuffle

__all__ = [
    "Audit",
    "Learned",
    "Model",
    "OnePassClassifier",
    "OnePassRegressor",
    "ShiftInvertPCA",
    "__version__",
    "audit",
    "certify",
    "lab",
    "learn",
    "load",
    "merge",
    "metrics",
    "shuffle",
]
