"""One-pass learning from a shuffled stream, with a guarantee, even where single rows have non-convex losses.

Estimators with the interface of scikit-learn over the Rust library; the numbers are those of the ``rooco`` command, bit for bit.
"""

from rooco._rooco import Model, __version__
from rooco._estimators import OnePassClassifier, OnePassRegressor, load

__all__ = ["Model", "OnePassClassifier", "OnePassRegressor", "__version__", "load"]
