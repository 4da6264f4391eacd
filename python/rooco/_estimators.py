"""The estimators: what scikit-learn users expect, over one pass of the library."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from rooco import _inputs
from rooco._rooco import Learner, Model, Rows

Progress = Callable[[int, int, "int | None", "float | None"], object]
Paths = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"

# Algorithms that need no number of rows beforehand.
_NO_HORIZON = {"auto", "sgd", "ogd", "ogd-2", "sgd-with-replacement"}


class _Run:
    """What a run has come to. It sits behind one attribute, so that looking at a model changes no estimator."""

    def __init__(self, learner: Learner | None, options: str, model: Model | None = None, order: str | None = None) -> None:
        self.learner = learner
        self.options = options
        self._model = model
        self._rows = -1
        self._order = order

    @property
    def model(self) -> Model:
        """The model as of the last row; written out when it is asked for."""
        if self._model is None or (self.learner is not None and self.learner.rows != self._rows):
            assert self.learner is not None
            self._model = self.learner.model()
            self._rows = self.learner.rows
            self._order = self._model.order
        return self._model

    @property
    def order(self) -> dict[str, Any] | None:
        self.model
        return None if self._order is None else json.loads(self._order)

    def __getstate__(self) -> dict[str, Any]:
        model = self.model
        learner = None if self.learner is None else self.learner.save()
        return dict(options=self.options, model=model.to_bytes(), order=self._order, learner=learner)

    def __setstate__(self, state: dict[str, Any]) -> None:
        learner = None if state["learner"] is None else Learner.load(state["options"], state["learner"])
        self.__init__(learner, state["options"], Model.from_bytes(state["model"]), state["order"])  # type: ignore[misc]
        self._rows = -1 if learner is None else learner.rows


class _OnePass(BaseEstimator):
    """What both estimators share."""

    _run: _Run

    def _more_options(self, n_classes: int, y: Any, weight: Any) -> dict[str, Any]:
        """The corrections of the subclass."""
        raise NotImplementedError

    # ------------------------------------------------------------------ options

    def _seed(self) -> int:
        state = self.random_state
        if state is None:
            return 1
        if isinstance(state, (int, np.integer)):
            if state < 0:
                raise ValueError(f"random_state must not be negative, got {state}.")
            return int(state)
        return int(check_random_state(state).randint(2**31 - 1))

    def _algorithm(self) -> str:
        return str(self.algorithm).replace("_", "-")

    def _options(self, n_classes: int, horizon: int | None, y: Any = None, weight: Any = None) -> dict[str, Any]:
        o: dict[str, Any] = dict(
            loss=None if self.loss is None else str(self.loss).replace("_", "-"),
            l2=float(self.l2),
            domain="none" if self.domain is None else str(self.domain),
            algorithm=self._algorithm(),
            reservoir=str(self.reservoir),
            seed=self._seed(),
            holdout=float(self.holdout),
            order_test=bool(self.order_test),
        )
        constants = {"lambda": self.lambda_, "beta": self.beta, "l": self.L, "n0": self.n0}
        o |= {name: value for name, value in constants.items() if value is not None}
        if horizon is not None:
            o["horizon"] = int(horizon)
        o |= self._more_options(n_classes, y, weight)
        return o

    def _missing(self) -> str:
        if self.missing not in ("error", "zero", "mean", "debias"):
            raise ValueError(f"missing must be 'error', 'zero', 'mean' or 'debias', got {self.missing!r}.")
        return self.missing

    def _rates(self, X: Any) -> dict[str, Any]:
        """missing='debias': the share of missing values of each column, given or counted."""
        if self._missing() != "debias":
            return {}
        if self.missing_rate is not None:
            return {"missing_rate": _by_column(self.missing_rate)}
        if X is None or sp.issparse(X) or _inputs.is_table(X):
            raise ValueError(
                "missing='debias' must know the share of missing values of each column before the first row: give missing_rate "
                "(an array, or a dict by column name). fit counts it by itself for arrays."
            )
        return {"missing_rate": np.isnan(X).mean(axis=0).tolist()}

    def _needs_horizon(self) -> bool:
        return self._algorithm() not in _NO_HORIZON and self.horizon is None

    # ------------------------------------------------------------------ running

    def _start(self, options: dict[str, Any]) -> _Run:
        text = json.dumps(options, allow_nan=False)
        return _Run(Learner(text), text)

    def _fit_rows(self, rows: Rows, options: dict[str, Any], progress: Progress | None = None) -> None:
        """A whole run. The estimator changes only once it is over."""
        if self._needs_horizon():
            options["horizon"] = rows.count_learned(options["seed"], options["holdout"])
        run = self._start(options)
        assert run.learner is not None
        run.learner.run(rows, progress)
        run.model
        if self._algorithm() not in _NO_HORIZON:
            # Its T rows are over: it cannot go on.
            run.learner = None
        self._run = run

    def _table_names(self) -> None:
        names = self._run.model.names()[int(self._run.model.intercept) :]
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)

    def _read_options(self, **more: Any) -> dict[str, Any]:
        return dict(intercept=bool(self.fit_intercept), missing=self._missing(), **more)

    def fit_stream(
        self,
        table: Any,
        *,
        target: str,
        weight: str | None = None,
        drop: Iterable[str] = (),
        categorical: Iterable[str] = (),
        progress: Progress | None = None,
    ) -> Any:
        """Learn from a table that holds its target, batch by batch: any object with ``__arrow_c_stream__``.

        Text columns become a feature a value, as on the command line. Only one batch is in memory at a time, if the object makes its
        batches on demand.
        """
        read = self._read_options(
            target=target, weight=weight, drop=list(drop), categorical=list(categorical), target_kind=self._target_kind()
        )
        if self._needs_horizon():
            n = getattr(table, "num_rows", None)
            if n is None and hasattr(table, "__len__"):
                n = len(table)
            if n is None or self.holdout:
                raise ValueError(f"algorithm={self.algorithm!r} must know the number of rows first: give horizon.")
            options = self._options(0, n) | self._rates(None)
        else:
            options = self._options(0, self.horizon) | self._rates(None)
        self._fit_rows_of_table(_inputs.table_rows(table, read), options, progress)
        return self

    def _fit_rows_of_table(self, rows: Rows, options: dict[str, Any], progress: Progress | None) -> None:
        if "horizon" not in options and self._needs_horizon():
            options["horizon"] = rows.count_learned(options["seed"], options["holdout"])
        run = self._start(options)
        assert run.learner is not None
        run.learner.run(rows, progress)
        run.model
        # Its columns are known by name; partial_fit takes rows by place.
        run.learner = None
        self._run = run
        self._table_names()
        self._set_classes()

    def fit_file(
        self,
        path: Any,
        *,
        target: str | None = None,
        weight: str | None = None,
        drop: Iterable[str] = (),
        categorical: Iterable[str] = (),
        format: str | None = None,
        header: bool | None = None,
        skip_bad_rows: int | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Learn from files that ``rooco fit`` reads: CSV, TSV, libsvm, Vowpal Wabbit text, Parquet, Arrow; plain, gzip or zstd.

        ``path`` is a name, a pattern such as ``part-*.csv.gz``, or several. ``progress(rows, bytes, total_bytes, loss)`` is called every
        few thousand rows; with tqdm: ``bar = tqdm(unit="B"); progress=lambda rows, done, total, loss: bar.update(done - bar.n)``.
        """
        read = self._read_options(
            target=target,
            weight=weight,
            drop=list(drop),
            categorical=list(categorical),
            format=format,
            header=header,
            skip_bad_rows=skip_bad_rows,
            target_kind=self._target_kind(),
        )
        options = self._options(0, self.horizon) | self._rates(None)
        self._fit_rows_of_table(Rows.files(_paths(path), json.dumps(read)), options, progress)
        return self

    def _target_kind(self) -> str:
        raise NotImplementedError

    def _set_classes(self) -> None:
        """Takes over what the model says of its classes."""

    # ------------------------------------------------------------------ what came of it

    def __sklearn_is_fitted__(self) -> bool:
        return "_run" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing in ("zero", "mean", "debias")
        return tags

    @property
    def model_(self) -> Model:
        """The model, as it would be written to a file."""
        check_is_fitted(self)
        return self._run.model

    @property
    def report_(self) -> dict[str, Any]:
        """All that the run says of itself."""
        return json.loads(self.model_.about())

    @property
    def guarantee_(self) -> str:
        """What is promised, in words; never more than the theorems say."""
        text = self.report_["guarantee"]
        for option in ("algorithm", "domain"):
            text = text.replace(f"--{option} ", f"{option}=")
        if self._run.learner is not None and self.report_["algorithm"] == "auto":
            text = "horizon-free default rule: " + text
        return text

    @property
    def constants_(self) -> dict[str, Any]:
        """The constants β, λ, L, G, T that the steps used, and where they came from."""
        return self.report_["numbers"]

    @property
    def progressive_loss_(self) -> float:
        """Mean loss, per unit of weight, of predictions made before each row was learned from."""
        report = self.report_
        return report["progressive_loss"] / report["weight"] if report["weight"] else float("nan")

    @property
    def holdout_(self) -> dict[str, Any] | None:
        """Figures on the rows that were held out."""
        return self.report_["holdout"]

    @property
    def order_test_(self) -> dict[str, Any] | None:
        """Were the rows in random order? Nothing if that was not tested."""
        check_is_fitted(self)
        return self._run.order

    @property
    def coef_names_(self) -> list[str]:
        """The names of the coefficients, in the order of ``coef_``."""
        model = self.model_
        return model.names()[int(model.intercept) :]

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        """coef (outputs × features) and intercept (outputs)."""
        model = self.model_
        weights, offset = model.weights(), model.offset()
        if model.intercept:
            return weights[1:].T.copy(), weights[0] + offset
        return weights.T.copy(), offset

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file that ``rooco predict``, ``eval`` and ``show`` read."""
        self.model_.save(path)

    def _adopt(self, model: Model) -> Any:
        """Takes over a model that was made elsewhere."""
        self._run = _Run(None, "{}", model)
        names = model.names()[int(model.intercept) :]
        self.n_features_in_ = len(names)
        if model.has_columns:
            self.feature_names_in_ = np.array(names, dtype=object)
            if names == [f"x{i}" for i in range(len(names))]:
                del self.feature_names_in_
        self._set_classes()
        return self

    def _scores(self, X: Any, probabilities: bool = False) -> np.ndarray:
        check_is_fitted(self)
        model = self._run.model
        if _inputs.is_table(X) or model.has_categories:
            if not model.has_columns:
                raise ValueError("The model was learned from a matrix without column names; give it an array, not a table.")
            return model.scores(_inputs.table_rows(X, dict(labels="optional")), probabilities)
        X = _inputs.check_x(self, X, reset=False)
        rows = _inputs.array_rows(self, X, intercept=model.intercept, missing=model.missing)
        return model.scores(rows, probabilities)

    def _file_scores(self, path: Any, probabilities: bool = False) -> np.ndarray:
        check_is_fitted(self)
        return self._run.model.scores(Rows.files(_paths(path), json.dumps(dict(labels="optional"))), probabilities)


def _paths(path: Any) -> list[str]:
    if isinstance(path, (str, os.PathLike)):
        path = [path]
    return [os.fspath(p) for p in path]


def _by_column(given: Any) -> Any:
    """Numbers by column: a dict by name, or one for each."""
    if isinstance(given, Mapping):
        return {str(name): float(value) for name, value in given.items()}
    return [float(value) for value in np.asarray(given, dtype=float).ravel()]


def _weights(sample_weight: Any, X: Any, total: bool) -> Any:
    """The weights, of either sign; for a whole run their sum must be positive."""
    if sample_weight is None:
        return None
    weight = np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if total and not weight.sum() > 0:
        raise ValueError(
            f"The weights sum to {weight.sum():g}, but their total must be positive: otherwise no sum of losses is convex. Single weights "
            "may be negative; check their signs, or add the rows that the negative ones are to be taken from."
        )
    return weight


class OnePassRegressor(RegressorMixin, _OnePass):
    """A linear model for a number, learned in one pass.

    Parameters
    ----------
    loss : ``'squared'`` (default) or ``'huber[:delta]'``
    algorithm : ``'auto'`` has nothing to tune and needs no number of rows. Algorithms with a proof run by name (``'provable'``,
        ``'reservoir-sgd'``, ``'algorithm-2-prime'``, …: docs/choosing.md); they need ``horizon`` in ``partial_fit``.
    l2 : (l2/2)‖w‖² is added to every row's loss.
    domain : the set that the weights are kept in: ``'ball:R'``, ``'box:LO,HI'``, ``'simplex'``, ``'l1:R'``.
    horizon : T, the number of rows; ``fit`` counts them.
    feature_noise : variances of the measurement noise, an array or a dict by column (errors in variables, squared loss).
    missing : what NaN means: ``'error'``, ``'zero'``, ``'mean'`` of the column so far, ``'debias'`` (values missing at random, squared loss).
    missing_rate : for ``'debias'``; ``fit`` counts it for arrays.
    lambda_, beta, L, n0 : constants of the algorithms; measured on the first rows if not given.
    reservoir : where past rows wait: ``'memory'``, ``'disk:DIR'``, ``'sample:M'``.
    holdout : the share of rows that are scored and never learned from.
    random_state : the seed; 1 if not given, as on the command line.

    Sample weights may be negative, as long as the sum over all rows is convex.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_, coef_names_ : the model. Predictions of ``'auto'`` also clamp every value to the
        range seen in training.
    guarantee_, constants_, progressive_loss_, order_test_, holdout_, report_, model_ : what the run says of itself.

    Examples
    --------
    >>> import numpy as np
    >>> from rooco import OnePassRegressor
    >>> x = np.random.default_rng(1).normal(size=(20_000, 2))
    >>> model = OnePassRegressor().fit(x, x @ [2.0, -1.0] + 3.0)
    >>> model.coef_.round(2), model.intercept_.round(2)
    (array([ 2., -1.]), array([3.]))
    """

    def __init__(
        self,
        loss: str | None = None,
        *,
        algorithm: str = "auto",
        l2: float = 0.0,
        domain: str | None = None,
        horizon: int | None = None,
        fit_intercept: bool = True,
        feature_noise: Any = None,
        missing: str = "error",
        missing_rate: Any = None,
        lambda_: float | None = None,
        beta: float | None = None,
        L: float | None = None,
        n0: int | None = None,
        reservoir: str = "memory",
        holdout: float = 0.0,
        order_test: bool = True,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.algorithm = algorithm
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
        self.n0 = n0
        self.reservoir = reservoir
        self.holdout = holdout
        self.order_test = order_test
        self.random_state = random_state

    def _more_options(self, n_classes: int, y: Any, weight: Any) -> dict[str, Any]:
        return {} if self.feature_noise is None else {"feature_noise": _by_column(self.feature_noise)}

    def _target_kind(self) -> str:
        return "number"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnePassRegressor:
        """One pass over the rows, in their order. Shuffle them first if they are sorted."""
        if _inputs.is_table(X):
            y = np.ascontiguousarray(column_or_1d(y, warn=True), dtype=np.float64)
            weight = _weights(sample_weight, y.reshape(-1, 1), True)
            read = self._read_options(labels="elsewhere", numbers_only=True, target_kind="number", weight=None if weight is None else "weight")
            rows = _inputs.table_rows(X, read, y, weight)
            self._fit_rows(rows, self._options(0, self.horizon, y, weight) | self._rates(X))
            self._table_names()
            return self
        X, y = _inputs.check_x(self, X, y, reset=True, y_numeric=True)
        y = np.ascontiguousarray(y, dtype=np.float64)
        weight = _weights(sample_weight, X, True)
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
        first = run is None
        table = _inputs.is_table(X)
        if table:
            y = np.ascontiguousarray(column_or_1d(y, warn=True), dtype=np.float64)
            weight = _weights(sample_weight, y.reshape(-1, 1), False)
            read = self._read_options(labels="elsewhere", numbers_only=True, target_kind="number", weight=None if weight is None else "weight")
            rows = _inputs.table_rows(X, read, y, weight)
        else:
            X, y = _inputs.check_x(self, X, y, reset=first, y_numeric=True)
            y = np.ascontiguousarray(y, dtype=np.float64)
            weight = _weights(sample_weight, X, False)
            _check_finite(X, self._missing())
            rows = _inputs.array_rows(self, X, intercept=bool(self.fit_intercept), missing=self._missing(), y=y, weight=weight)
        if first:
            _check_partial(self)
            run = self._start(self._options(0, self.horizon, y, weight) | self._rates(None))
        _go_on(run).run(rows)
        self._run = run
        if first and table:
            self._table_names()
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions for arrays, sparse matrices and tables."""
        return self._scores(X)[:, 0]

    def predict_file(self, path: Any) -> np.ndarray:
        """Predictions for the rows of files."""
        return self._file_scores(path)[:, 0]

    @property
    def coef_(self) -> np.ndarray:
        """w, without the intercept."""
        return self._linear()[0][0]

    @property
    def intercept_(self) -> np.ndarray:
        """The constant, as an array of one."""
        return self._linear()[1]


def _check_partial(estimator: _OnePass) -> None:
    if estimator._needs_horizon():
        raise ValueError(
            f"algorithm={estimator.algorithm!r} must know the number of rows T before the first one: give horizon=T, use fit, or use an "
            f"algorithm without a horizon ({', '.join(sorted(_NO_HORIZON))})."
        )


def _go_on(run: _Run) -> Learner:
    if run.learner is None:
        raise ValueError(
            "This model cannot be learned further: it came from a file, from a table, or from an algorithm whose T rows are over. Start a "
            "new one, or use partial_fit from the first row."
        )
    return run.learner


def _check_finite(X: Any, missing: str) -> None:
    """A batch is learned whole or not at all."""
    values: Any = X.data if hasattr(X, "indptr") else X
    bad = np.isinf(values).any() if missing != "error" else not np.isfinite(values).all()
    if bad:
        raise ValueError(
            "Input X contains NaN or infinity; every number must be finite. Fill NaN in first, or choose missing='zero' or 'mean'. "
            "Nothing was learned from this batch."
        )


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
        l2: float = 0.0,
        domain: str | None = None,
        horizon: int | None = None,
        fit_intercept: bool = True,
        label_noise: Any = None,
        positive_unlabeled: Any = None,
        missing: str = "error",
        missing_rate: Any = None,
        lambda_: float | None = None,
        beta: float | None = None,
        L: float | None = None,
        n0: int | None = None,
        reservoir: str = "memory",
        holdout: float = 0.0,
        order_test: bool = True,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.algorithm = algorithm
        self.l2 = l2
        self.domain = domain
        self.horizon = horizon
        self.fit_intercept = fit_intercept
        self.label_noise = label_noise
        self.positive_unlabeled = positive_unlabeled
        self.missing = missing
        self.missing_rate = missing_rate
        self.lambda_ = lambda_
        self.beta = beta
        self.L = L
        self.n0 = n0
        self.reservoir = reservoir
        self.holdout = holdout
        self.order_test = order_test
        self.random_state = random_state

    def _more_options(self, n_classes: int, y: Any, weight: Any) -> dict[str, Any]:
        o: dict[str, Any] = {}
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
        return self._numbers(at, len(classes))

    def _numbers(self, at: Any, n_classes: int) -> np.ndarray:
        """y of the library: ±1 for two classes, unless softmax was asked for; 0..K-1 otherwise."""
        softmax = self.loss is not None and str(self.loss) == "softmax"
        return 2.0 * at - 1.0 if n_classes == 2 and not softmax else at.astype(np.float64)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnePassClassifier:
        """One pass over the rows, in their order. Shuffle them first if they are sorted."""
        table = _inputs.is_table(X)
        if table:
            y = column_or_1d(y, warn=True)
        else:
            X, y = _inputs.check_x(self, X, y, reset=True)
        check_classification_targets(y)
        classes, at = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class.")
        y = self._numbers(at, len(classes))
        weight = _weights(sample_weight, y.reshape(-1, 1) if table else X, True)
        options = self._options(len(classes), self.horizon, y, weight) | self._rates(X)
        self._fit_rows(self._rows(X, y, weight, classes), options)
        self.classes_ = classes
        if table:
            self._table_names()
        return self

    def _rows(self, X: Any, y: np.ndarray, weight: Any, classes: np.ndarray) -> Rows:
        names = _inputs.class_names(classes)
        if _inputs.is_table(X):
            read = self._read_options(
                labels="elsewhere", numbers_only=True, target_kind={"named": names}, weight=None if weight is None else "weight"
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
        first = run is None
        table = _inputs.is_table(X)
        if table:
            y = column_or_1d(y, warn=True)
        else:
            X, y = _inputs.check_x(self, X, y, reset=first)
            _check_finite(X, self._missing())
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
        weight = _weights(sample_weight, encoded.reshape(-1, 1), False)
        if first:
            _check_partial(self)
            run = self._start(self._options(len(known), self.horizon) | self._rates(None))
        _go_on(run).run(self._rows(X, encoded, weight, known))
        self._run = run
        if first:
            self.classes_ = known
            if table:
                self._table_names()
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
        """w: one row for two classes, one a class for more; without the intercept."""
        coef = self._linear()[0]
        return coef[1:] - coef[:1] if len(coef) == 2 else coef

    @property
    def intercept_(self) -> np.ndarray:
        """The constants, one a row of ``coef_``."""
        constants = self._linear()[1]
        return constants[1:] - constants[:1] if len(constants) == 2 else constants


def load(path: str | os.PathLike[str]) -> OnePassClassifier | OnePassRegressor:
    """An estimator with a model from a file, of ``rooco fit --model`` or of :meth:`save`."""
    model = Model.load(path)
    estimator = OnePassClassifier() if model.classes() else OnePassRegressor()
    return estimator._adopt(model)
