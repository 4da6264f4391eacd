"""Principal components by shift-and-invert."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from rooco._inputs import column_names
from rooco._rooco import Rows, shift_invert_pca


class ShiftInvertPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components, one by one, each from a few passes over the rows and memory for a few vectors.

    A component is the solution of linear systems (aI - C)v = b with a shift a just above the largest eigenvalue of the covariance C. The
    loss of one row, ½vᵀ(aI - xxᵀ)v - bᵀv, is concave along x whenever ‖x‖² > a, which is usual; only the mean is convex. That is the case the
    paper is about. For matrices that fit in memory, scikit-learn's PCA is faster and exact.

    Parameters
    ----------
    n_components : how many.
    n_iter : systems solved for each. A component takes 2·n_iter + 2 passes.
    random_state : the seed of the first direction; 1 if not given.

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, mean_, n_components_, n_features_in_
        As in scikit-learn's PCA, but for the variances, which are divided by n and not by n - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from rooco import ShiftInvertPCA
    >>> x = np.random.default_rng(1).normal(size=(5000, 3)) * [1.0, 5.0, 2.0]
    >>> abs(ShiftInvertPCA(n_components=1).fit(x).components_).round(1)
    array([[0., 1., 0.]])
    """

    def __init__(self, n_components: int = 2, *, n_iter: int = 3, random_state: Any = None) -> None:
        self.n_components = n_components
        self.n_iter = n_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> ShiftInvertPCA:
        """Find the components."""
        if self.n_components < 1 or self.n_iter < 0:
            raise ValueError(f"n_components must be at least 1 and n_iter at least 0, got {self.n_components} and {self.n_iter}.")
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        state = self.random_state
        seed = 1 if state is None else int(check_random_state(state).randint(2**31 - 1))
        rows = Rows.dense(X, column_names(self, X.shape[1]), None, None, None, False)
        found, variance, mean, total = shift_invert_pca(rows, int(self.n_components), int(self.n_iter), seed)
        self.components_ = found
        self.explained_variance_ = variance
        self.explained_variance_ratio_ = variance / total if total > 0 else np.zeros_like(variance)
        self.mean_ = mean
        self.n_components_ = len(found)
        return self

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> np.ndarray:
        """The coordinates along the components."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return (X - self.mean_) @ self.components_.T

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Back from the components to the features."""
        check_is_fitted(self)
        return np.asarray(X) @ self.components_ + self.mean_
