"""The classifier, for two classes or more."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from rooco import _inputs
from rooco._base import _OnePass
from rooco._rooco import Rows
from rooco._run import _go_on, _Run


class OnePassClassifier(ClassifierMixin, _OnePass):
    """A linear classifier, learned in one pass: two classes or more, labels of any kind.

    Parameters
    ----------
    loss : ``'logistic'`` for two classes and ``'softmax'`` for more (default); ``'squared-hinge'``, ``'smoothed-hinge[:gamma]'``.
    label_noise : the labels were corrupted at known rates. Two numbers: the chances that a true ``classes_[1]`` and that a true
        ``classes_[0]`` is seen as the other. One number: the chance that a label was replaced by a uniformly random one (randomised
        response, for any number of classes).
    positive_unlabeled : ``classes_[1]`` marks known positives, the other rows are unlabelled, and this share of all rows is positive. In
        ``partial_fit`` and for files: (prior, share of known positives among the rows).
    feature_noise : not for classes: only the squared loss can be corrected for noisy features. Learn y = ±1 by
        ``OnePassRegressor(feature_noise=...)`` and take the sign of the prediction.

    The other parameters, and the attributes, are those of :class:`OnePassRegressor`; also ``classes_``.

    Examples
    --------
    >>> import numpy as np
    >>> from rooco import OnePassClassifier
    >>> x = np.random.default_rng(1).normal(size=(20_000, 2))
    >>> model = OnePassClassifier().fit(x, np.where(x[:, 0] > x[:, 1], "left", "right"))
    >>> model.predict([[2.0, 1.0], [0.0, 1.0]])
    array(['left', 'right'], dtype='<U5')
    """

    def __init__(
        self,
        loss: str | None = None,
        *,
        algorithm: str = "auto",
        features: str = "auto",
        monotonic_cst: Any = None,
        interactions: Any = None,
        l2: float = 0.0,
        domain: str | None = None,
        horizon: int | None = None,
        fit_intercept: bool = True,
        label_noise: Any = None,
        positive_unlabeled: Any = None,
        feature_noise: Any = None,
        missing: str | None = None,
        missing_rate: Any = None,
        lambda_: float | None = None,
        beta: float | None = None,
        L: float | None = None,
        G: float | None = None,
        n0: int | None = None,
        reservoir: str = "memory",
        holdout: float = 0.0,
        order_test: bool = True,
        to_optimum: bool | float | None = None,
        clamp: bool = True,
        max_features: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.algorithm = algorithm
        self.features = features
        self.monotonic_cst = monotonic_cst
        self.interactions = interactions
        self.l2 = l2
        self.domain = domain
        self.horizon = horizon
        self.fit_intercept = fit_intercept
        self.label_noise = label_noise
        self.positive_unlabeled = positive_unlabeled
        self.feature_noise = feature_noise
        self.missing = missing
        self.missing_rate = missing_rate
        self.lambda_ = lambda_
        self.beta = beta
        self.L = L
        self.G = G
        self.n0 = n0
        self.reservoir = reservoir
        self.holdout = holdout
        self.order_test = order_test
        self.to_optimum = to_optimum
        self.clamp = clamp
        self.max_features = max_features
        self.random_state = random_state

    def _more_options(self, n_classes: int, y: Any, weight: Any) -> dict[str, Any]:
        o: dict[str, Any] = {}
        if self.feature_noise is not None:
            raise ValueError(
                "feature_noise can be corrected for the squared loss only, not for classes: learn y = -1 and 1 by "
                "OnePassRegressor(feature_noise=...) and take the sign of the prediction."
            )
        if self.label_noise is not None:
            rates = np.asarray(self.label_noise, dtype=float).ravel()
            if rates.size == 2:
                o["label_noise"] = rates.tolist()
            elif rates.size != 1:
                raise ValueError("label_noise is one number (randomised response) or two (the rates of classes_[1] and classes_[0]).")
            elif n_classes == 2:
                o["label_noise"] = [rates[0] / 2, rates[0] / 2]
            else:
                o["randomised_response"] = float(rates[0])
        if self.positive_unlabeled is not None:
            given = np.asarray(self.positive_unlabeled, dtype=float).ravel()
            if given.size == 1:
                if y is None:
                    raise ValueError(
                        "positive_unlabeled must be (prior, share of known positives) here: the share is not known before the first row."
                    )
                given = np.array([given[0], np.average(y > 0, weights=weight)])
            o["positive_unlabelled"] = given.tolist()
        return o

    def _target_kind(self) -> str:
        loss = None if self.loss is None else str(self.loss).replace("_", "-").split(":")[0]
        return "classes" if loss in (None, "softmax") else "two"

    def _set_classes(self) -> None:
        self.classes_ = _inputs.classes_from_names(self._run.model.classes())

    def _encode(self, y: Any, classes: np.ndarray) -> np.ndarray:
        """±1 for two classes, 0..K-1 for more."""
        at = np.searchsorted(classes, y)
        at = np.minimum(at, len(classes) - 1)
        unknown = classes[at] != y
        if np.any(unknown):
            raise ValueError(
                f"y contains {np.asarray(y)[unknown][0]!r}, which is not one of the classes {list(classes)}: name all classes in the first "
                "call of partial_fit (classes=)."
            )
        return _inputs.class_numbers(at, len(classes))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnePassClassifier:
        """One pass over the rows, in their order. Shuffle them first if they are sorted. Dask collections go to :func:`rooco.dask.fit`."""
        if _inputs.is_dask(X):
            from rooco import dask

            return dask.fit(self, X, y, sample_weight)
        table = _inputs.is_table(X)
        if table:
            y = column_or_1d(y, warn=True)
        else:
            X, y = _inputs.check_x(self, X, y, reset=True)
        check_classification_targets(y)
        classes, at = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class.")
        y = _inputs.class_numbers(at, len(classes))
        weight = _inputs.weights(sample_weight, y.reshape(-1, 1) if table else X, True)
        options = self._options(len(classes), self.horizon, y, weight) | self._rates(X)
        self._fit_rows(self._rows(X, y, weight, classes), options)
        self.classes_ = classes
        if table:
            self._table_names(self._run)
        return self

    def _rows(self, X: Any, y: np.ndarray, weight: Any, classes: np.ndarray) -> Rows:
        names = _inputs.class_names(classes)
        if _inputs.is_table(X):
            read = self._read_options(
                labels="elsewhere", roles="typed", target_kind={"named": names}, weight=None if weight is None else "weight"
            )
            return _inputs.table_rows(X, read, y, weight)
        return _inputs.array_rows(
            self, X, intercept=bool(self.fit_intercept), missing=self._missing(), y=y, weight=weight, classes=names
        )

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> OnePassClassifier:
        """More rows. The first call must name all classes. After n rows the model is that of ``fit`` on these rows, bit for bit."""
        run: _Run = self.__dict__.get("_run")  # type: ignore[assignment]
        if run is not None and classes is None and run.learner is not None and run.learner.quick(X, y, sample_weight):
            return self
        if run is None:
            with self._beginning():
                return self._more(X, y, classes, sample_weight)
        return self._more(X, y, classes, sample_weight)

    def _more(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> OnePassClassifier:
        run: _Run = self.__dict__.get("_run")  # type: ignore[assignment]
        first = run is None
        table = _inputs.is_table(X)
        if table:
            y = column_or_1d(y, warn=True)
        else:
            X, y = _inputs.check_x(self, X, y, reset=first)
            _inputs.check_finite(X, self._missing())
        if first:
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            known = np.unique(classes)
            if len(known) < 2:
                raise ValueError(f"The number of classes has to be greater than one; got {len(known)} class.")
        else:
            known = self.classes_
            if classes is not None and not np.array_equal(known, np.unique(classes)):
                raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}")
        encoded = self._encode(y, known)
        weight = _inputs.weights(sample_weight, encoded.reshape(-1, 1), False)
        if first:
            self._check_partial()
            run = self._start(self._options(len(known), self.horizon) | self._rates(None))
        _go_on(run).run(self._rows(X, encoded, weight, known))
        if first:
            self.classes_ = known
            if table:
                self._table_names(run)
        if first:
            # Otherwise it is there already; or another thread has begun anew, and what this one learned went into the run before.
            self._run = run
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: one a row for two classes (positive means ``classes_[1]``), one a class for more."""
        scores = self._scores(X)
        if scores.shape[1] == 2:  # softmax was asked for
            return scores[:, 1] - scores[:, 0]
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _classes_of(self, scores: np.ndarray) -> np.ndarray:
        at = (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[at]

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        return self._classes_of(self._scores(X))

    def predict_file(self, path: Any) -> np.ndarray:
        """The classes of the rows of files."""
        return self._classes_of(self._file_scores(path))

    def _has_probabilities(self) -> bool:
        if "_run" in self.__dict__:
            return self._run.model.has_probabilities
        return self.loss in (None, "logistic", "softmax")

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities, in the order of ``classes_``; for the logistic and softmax losses."""
        p = self._scores(X, probabilities=True)
        return np.hstack([1.0 - p, p]) if p.shape[1] == 1 else p

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms."""
        return np.log(self.predict_proba(X))

    @property
    def coef_(self) -> np.ndarray:
        """w: one row for two classes, one a class for more; without the intercept. Outside the range of the training data the default's
        predictions are flat unless ``clamp=False``: each value counts as the largest that was seen (``model_.limits()``), so ``coef_`` alone
        does not give them there. ``predict`` warns with the number of such rows, ``clamped_rows(X)`` counts them."""
        coef = self._linear()[0]
        return coef[1:] - coef[:1] if len(coef) == 2 else coef

    @property
    def intercept_(self) -> np.ndarray:
        """The constants, one a row of ``coef_``."""
        constants = self._linear()[1]
        return constants[1:] - constants[:1] if len(constants) == 2 else constants

    @property
    def coef_std_(self) -> np.ndarray:
        """Standard errors of ``coef_`` by the sandwich, for rows that are independent draws; weights of either sign. Needs ``to_optimum``. For several
        classes the scores can be shifted together: only differences between classes mean something."""
        errors = self._errors()[0]
        if len(errors) == 2:
            raise AttributeError("softmax with two classes has no errors of the difference that coef_ is: use loss='logistic'")
        return errors

    @property
    def intercept_std_(self) -> np.ndarray:
        """The standard errors of ``intercept_``."""
        self.coef_std_
        return self._errors()[1]
