"""The regressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from rooco import _inputs
from rooco._base import _OnePass
from rooco._options import _by_column
from rooco._run import _go_on, _Run


class OnePassRegressor(RegressorMixin, _OnePass):
    """A model for a number, learned in one pass: lines, curves, pairs of columns and small trees in one average.

    Parameters
    ----------
    loss : ``'squared'`` (default), ``'huber[:delta]'``, ``'quantile[:tau[:gamma]]'``, ``'poisson'``, ``'gamma'`` or ``'tweedie[:power]'`` (these three predict
        means: e to the score)
    algorithm : ``'auto'`` has nothing to tune and needs no number of rows. Algorithms with a proof run by name (``'provable'``,
        ``'reservoir-sgd'``, ``'algorithm-2-prime'``, …: docs/choosing.md); they need ``horizon`` in ``partial_fit``.
    features : what the model is linear in. ``'linear'``: the columns as they are. ``'shapes'``: a curve for every numeric column. ``'pairs'``: curves and
        products of pairs of columns. ``'trees'``: these, and the leaves of small trees grown on the first 20,000 rows. ``'auto'``: all of them as experts in one
        average, trees from row 20,000 on (other algorithms than the default, domains and corrected features
        then take the columns as they are). A dict names single columns, ``{'*': 'auto', 'zip': 'linear', 'height': 'shapes'}``: as it is; a curve, in no
        pair and no tree.
    interactions : pairs of columns that are taken whatever `features` says, ``[('a', 'b'), ...]``; in Vowpal Wabbit text pairs of namespaces too.
    monotonic_cst : columns along which the score must rise (1) or fall (-1), a dict by name; their curves are made so after the pass.
    l2 : (l2/2)‖w‖² is added to every row's loss.
    domain : the set that the weights are kept in: ``'ball:R'``, ``'box:LO,HI'``, ``'simplex'``, ``'l1:R'``.
    horizon : T, the number of rows; ``fit`` counts them.
    feature_noise : variances of the measurement noise, an array or a dict by column (errors in variables, squared loss).
    missing : what NaN means: ``'error'`` (the default of ``fit``), ``'typical'`` (the mean in the first rows; the default of ``fit_stream`` and ``fit_file``), ``'zero'``,
         ``'mean'`` of the column so far, ``'debias'`` (values missing at random, squared loss).
    missing_rate : for ``'debias'``; ``fit`` counts it for arrays.
    lambda_, beta, L, G, n0 : constants of the algorithms; read off the first rows if not given (``constants_`` says which).
    reservoir : where past rows wait: ``'memory'``, ``'disk:DIR'``, ``'sample:M'``. A pickle, or a file with state, needs the rows in DIR, which then stay there;
        a new run does not write over them.
    holdout : the share of rows that are scored and never learned from.
    to_optimum : ``True``, or a tolerance relative to the mean loss: ``fit`` goes on from its one pass to the best model for the rows, with a certified
        gap (``optimum_``) and standard errors (``coef_std_``, ``intercept_std_``). The rows are read again, from memory.
    clamp : predictions of ``'auto'`` are flat outside the range of the training data; ``False`` makes them linear everywhere. Used by ``predict``
        only, so it can be set after ``fit``.
    max_features : sparse rows and files that name a feature at or beyond this are an error; 2^24 if not given.
    random_state : the seed; 1 if not given, as on the command line.

    Sample weights may be negative, as long as the sum over all rows is convex.

    Attributes
    ----------
    shape_functions_ : what every column, and every pair, adds to a prediction (models of curves and pairs); ``explain`` says it for rows.
    coef_, intercept_, n_features_in_, feature_names_in_, coef_names_ : the model, if it is linear in its columns. Predictions of ``'auto'`` also clamp every value to the
        range seen in training, unless ``clamp=False``.
    coef_std_, intercept_std_, optimum_ : with ``to_optimum``: standard errors of the weights, if the rows are independent draws; how it went.
    guarantee_, constants_, progressive_loss_, order_test_, holdout_, report_, model_ : what the run says of itself.

    Examples
    --------
    >>> import numpy as np
    >>> from rooco import OnePassRegressor
    >>> x = np.random.default_rng(1).normal(size=(20_000, 2))
    >>> model = OnePassRegressor(features="linear").fit(x, x @ [2.0, -1.0] + 3.0)
    >>> model.coef_.round(2), model.intercept_.round(2)
    (array([ 2., -1.]), array([3.]))
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
        return {} if self.feature_noise is None else {"feature_noise": _by_column(self.feature_noise)}

    def _target_kind(self) -> str:
        return "number"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnePassRegressor:
        """One pass over the rows, in their order. Shuffle them first if they are sorted. Dask collections go to :func:`rooco.dask.fit`."""
        if _inputs.is_dask(X):
            from rooco import dask

            return dask.fit(self, X, y, sample_weight)
        if _inputs.is_table(X):
            y = np.ascontiguousarray(column_or_1d(y, warn=True), dtype=np.float64)
            weight = _inputs.weights(sample_weight, y.reshape(-1, 1), True)
            read = self._read_options(labels="elsewhere", roles="typed", target_kind="number", weight=None if weight is None else "weight")
            rows = _inputs.table_rows(X, read, y, weight)
            self._fit_rows(rows, self._options(0, self.horizon, y, weight) | self._rates(X))
            self._table_names(self._run)
            return self
        X, y = _inputs.check_x(self, X, y, reset=True, y_numeric=True)
        y = np.ascontiguousarray(y, dtype=np.float64)
        weight = _inputs.weights(sample_weight, X, True)
        rows = _inputs.array_rows(self, X, intercept=bool(self.fit_intercept), missing=self._missing(), y=y, weight=weight)
        self._fit_rows(rows, self._options(0, self.horizon, y, weight) | self._rates(X))
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnePassRegressor:
        """More rows. After n rows the model is that of ``fit`` on these n rows, bit for bit.

        Without ``horizon`` only algorithms that need no number of rows can run; the default is one of them.
        """
        run: _Run = self.__dict__.get("_run")  # type: ignore[assignment]
        if run is not None and run.learner is not None and run.learner.quick(X, y, sample_weight):
            return self
        if run is None:
            with self._beginning():
                return self._more(X, y, sample_weight)
        return self._more(X, y, sample_weight)

    def _more(self, X: Any, y: Any, sample_weight: Any) -> OnePassRegressor:
        run: _Run = self.__dict__.get("_run")  # type: ignore[assignment]
        first = run is None
        table = _inputs.is_table(X)
        if table:
            y = np.ascontiguousarray(column_or_1d(y, warn=True), dtype=np.float64)
            weight = _inputs.weights(sample_weight, y.reshape(-1, 1), False)
            read = self._read_options(labels="elsewhere", roles="typed", target_kind="number", weight=None if weight is None else "weight")
            rows = _inputs.table_rows(X, read, y, weight)
        else:
            X, y = _inputs.check_x(self, X, y, reset=first, y_numeric=True)
            y = np.ascontiguousarray(y, dtype=np.float64)
            weight = _inputs.weights(sample_weight, X, False)
            _inputs.check_finite(X, self._missing())
            rows = _inputs.array_rows(self, X, intercept=bool(self.fit_intercept), missing=self._missing(), y=y, weight=weight)
        if first:
            self._check_partial()
            run = self._start(self._options(0, self.horizon, y, weight) | self._rates(None))
        _go_on(run).run(rows)
        if first and table:
            self._table_names(run)
        if first:
            # Otherwise it is there already; or another thread has begun anew, and what this one learned went into the run before.
            self._run = run
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for arrays, sparse matrices and tables."""
        return self._scores(X, probabilities=True)[:, 0]

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Predictions and the ends of intervals that hold new rows with this probability, on average, if these and the held-out rows are in random order.

        From what the model was off on the rows that were held out when it was learned (``holdout=0.1``): no assumption on the model or the distribution. Not with rows of
        negative weight.
        """
        ends = self.model_.interval(float(level))
        if ends is None:
            why = "rows of negative weight were held out" if self.holdout_ else "no rows were held out: learn with holdout=0.1"
            raise AttributeError(f"this model has no intervals: {why}")
        predicted = self.predict(X)
        return predicted, predicted + ends[0], predicted + ends[1]

    def predict_file(self, path: Any) -> np.ndarray:
        """Predictions for the rows of files."""
        return self._file_scores(path, probabilities=True)[:, 0]

    @property
    def coef_(self) -> np.ndarray:
        """w, without the intercept. Outside the range of the training data the default's
        predictions are flat unless ``clamp=False``: each value counts as the largest that was seen (``model_.limits()``), so ``coef_`` alone
        does not give them there. ``predict`` warns with the number of such rows, ``clamped_rows(X)`` counts them."""
        return self._linear()[0][0]

    @property
    def intercept_(self) -> np.ndarray:
        """The constant, as an array of one."""
        return self._linear()[1]

    @property
    def coef_std_(self) -> np.ndarray:
        """Standard errors of ``coef_`` by the sandwich, for rows that are independent draws; weights of either sign. Needs ``to_optimum``."""
        return self._errors()[0][0]

    @property
    def intercept_std_(self) -> np.ndarray:
        """The standard error of ``intercept_``; zero without one."""
        return self._errors()[1]
