"""What the estimators share: one pass of the library behind the interface of scikit-learn."""

from __future__ import annotations

import html
import json
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from rooco import _inputs
from rooco._rooco import Learner, Model, Rows, algorithms

Progress = Callable[[int, int, "int | None", "float | None"], object]
Paths = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"

# The registry of the library: name or alias -> what it says of the algorithm.
_ALGORITHMS: dict[str, dict[str, Any]] = {
    name: entry for entry in json.loads(algorithms()) for name in (entry["name"], *entry["aliases"])
}


class _Run:
    """What a run has come to. It sits behind one attribute, so that looking at a model changes no estimator."""

    def __init__(
        self, learner: Learner | None, options: str, model: Model | None = None, order: str | None = None, rows: int = -1
    ) -> None:
        self.learner = learner
        self.options = options
        # The last model that was written out, after how many rows, and what the order test said then: one value, since another thread may learn meanwhile.
        self._last: tuple[Model, int, str | None] | None = None if model is None else (model, rows, order)

    def _now(self) -> tuple[Model, int, str | None]:
        """The model as of the last row; written out when it is asked for. Waits for a thread that is in the middle of its rows."""
        last = self._last
        if last is None or (self.learner is not None and self.learner.rows != last[1]):
            assert self.learner is not None
            model, rows = self.learner.model()
            self._last = last = (model, rows, model.order)
        return last

    @property
    def model(self) -> Model:
        return self._now()[0]

    @property
    def order(self) -> dict[str, Any] | None:
        order = self._now()[2]
        return None if order is None else json.loads(order)

    def __getstate__(self) -> dict[str, Any]:
        model, rows, order = self._now()
        learner = None if self.learner is None else self.learner.save()
        return dict(options=self.options, model=model.to_bytes(), rows=rows, order=order, learner=learner)

    def __setstate__(self, state: dict[str, Any]) -> None:
        learner = None if state["learner"] is None else Learner.load(state["options"], state["learner"])
        # If another thread learned between both, the numbers of rows differ, and the model is written out anew.
        self.__init__(learner, state["options"], Model.from_bytes(state["model"]), state["order"], state["rows"])  # type: ignore[misc]


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
        name = str(self.algorithm).replace("_", "-")
        return _ALGORITHMS[name]["name"] if name in _ALGORITHMS else name

    def _has_horizon(self) -> bool:
        """True if the algorithm must know the number of rows beforehand; an unknown name is the library's to complain about."""
        return bool(_ALGORITHMS.get(self._algorithm(), {}).get("needs_horizon"))

    def _options(self, n_classes: int, horizon: int | None, y: Any = None, weight: Any = None) -> dict[str, Any]:
        o: dict[str, Any] = dict(
            loss=None if self.loss is None else str(self.loss).replace("_", "-"),
            l2=float(self.l2),
            domain="none" if self.domain is None else str(self.domain),
            algorithm=self._algorithm(),
            # The optimum of the columns, unless curves are asked for.
            features="linear" if self.to_optimum and self.features == "auto" else str(self.features),
            monotone={str(name): int(sign) for name, sign in (self.monotonic_cst or {}).items()},
            interactions=[[str(a), str(b)] for a, b in (self.interactions or [])],
            reservoir=str(self.reservoir),
            seed=self._seed(),
            holdout=float(self.holdout),
            order_test=bool(self.order_test),
            max_features=None if self.max_features is None else int(self.max_features),
        )
        constants = {"lambda": self.lambda_, "beta": self.beta, "l": self.L, "gradient_bound": self.G, "n0": self.n0}
        o |= {name: value for name, value in constants.items() if value is not None}
        if horizon is not None:
            o["horizon"] = int(horizon)
        o |= self._more_options(n_classes, y, weight)
        return o

    def _missing(self, table: bool = False) -> str:
        """What missing values mean; if nothing is said, an error in ``fit(X, y)`` and the columns' means in ``fit_stream`` and ``fit_file``, as on the
        command line."""
        if self.missing is None:
            return "typical" if table else "error"
        if self.missing not in ("error", "typical", "zero", "mean", "debias"):
            raise ValueError(f"missing must be 'error', 'typical', 'zero', 'mean' or 'debias', got {self.missing!r}.")
        if self.missing == "typical" and not table:
            raise ValueError("missing='typical' is for tables and files; fill arrays in, or use 'mean' (of the column so far).")
        return self.missing

    def _rates(self, X: Any) -> dict[str, Any]:
        """missing='debias': the share of missing values of each column, given or counted."""
        if self.missing != "debias":
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
        return self._has_horizon() and self.horizon is None

    # ------------------------------------------------------------------ running

    def _beginning(self) -> threading.RLock:
        """Of several threads that begin a run, by ``fit`` or a first ``partial_fit``, one begins; the others begin after it, or go on with its run."""
        return self.__dict__.setdefault("_first", threading.RLock())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_first"}

    def _start(self, options: dict[str, Any]) -> _Run:
        text = json.dumps(options, allow_nan=False)
        return _Run(Learner(text), text)

    def _whole_run(self, rows: Rows, options: dict[str, Any], progress: Progress | None) -> _Run:
        """One pass, and on to the optimum if that was asked for."""
        run = self._start(options)
        assert run.learner is not None
        if self.to_optimum is None or self.to_optimum is False:
            run.learner.run(rows, progress)
            run.model
            return run
        tolerance = 1e-8 if self.to_optimum is True else float(self.to_optimum)
        model = run.learner.to_optimum(rows, tolerance, _memory(), os.cpu_count() or 1, progress)
        run = _Run(None, run.options, model, model.order)
        optimum = json.loads(model.about())["optimum"]
        if not optimum["converged"]:
            warnings.warn(f"no optimum was reached: {optimum['end']}", UserWarning, stacklevel=4)
        return run

    def _fit_rows(self, rows: Rows, options: dict[str, Any], progress: Progress | None = None) -> None:
        """A whole run. The estimator changes only once it is over."""
        with self._beginning():
            if self._needs_horizon():
                options["horizon"] = rows.count_learned(options["seed"], options["holdout"])
            run = self._whole_run(rows, options, progress)
            if self._has_horizon():
                # Its T rows are over: it cannot go on.
                run.learner = None
            self._run = run
        order = run.order
        if order is not None and order["random"] is False:
            warnings.warn(f"{order['text']}: shuffle the rows before fit, or with rooco.shuffle", UserWarning, stacklevel=3)

    def _table_names(self, run: _Run) -> None:
        names = run.model.names()[int(run.model.intercept) :]
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)

    def _read_options(self, **more: Any) -> dict[str, Any]:
        # A frame beside its y is taken as an array is.
        array = more.get("labels") == "elsewhere" and self.missing is None
        return dict(intercept=bool(self.fit_intercept), missing="error" if array else self._missing(table=True), **more)

    def fit_stream(
        self,
        table: Any,
        *,
        target: str,
        weight: str | None = None,
        drop: Iterable[str] = (),
        categorical: Iterable[str] = (),
        numeric: Iterable[str] = (),
        date: Iterable[str] = (),
        text: Iterable[str] = (),
        schema: str | os.PathLike[str] | None = None,
        positive: str | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Learn from a table that holds its target, batch by batch: any object with ``__arrow_c_stream__``, or a polars LazyFrame.

        Columns get their roles as on the command line (codes, ids, dates, texts), unless they are named here or in a ``schema`` file of
        ``rooco inspect --write``. Only one batch is in memory at a time, if the object makes its
        batches on demand.
        """
        read = self._read_options(
            target=target,
            weight=weight,
            drop=list(drop),
            categorical=list(categorical),
            numeric=list(numeric),
            date=list(date),
            text=list(text),
            schema=None if schema is None else os.fspath(schema),
            target_kind=self._target_kind() if positive is None else {"positive": positive},
        )
        table = _inputs.collected(table)
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
        with self._beginning():
            if "horizon" not in options and self._needs_horizon():
                options["horizon"] = rows.count_learned(options["seed"], options["holdout"])
            run = self._whole_run(rows, options, progress)
            if self._has_horizon():
                # Its T rows are over: it cannot go on.
                run.learner = None
            self._run = run
            self._table_names(run)
            self._set_classes()

    def fit_file(
        self,
        path: Any,
        *,
        target: str | None = None,
        weight: str | None = None,
        drop: Iterable[str] = (),
        categorical: Iterable[str] = (),
        numeric: Iterable[str] = (),
        date: Iterable[str] = (),
        text: Iterable[str] = (),
        schema: str | os.PathLike[str] | None = None,
        classes: Iterable[str] | None = None,
        positive: str | None = None,
        format: str | None = None,
        header: bool | None = None,
        skip_bad_rows: int | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Learn from files that ``rooco fit`` reads: CSV, TSV, JSON lines, libsvm, Vowpal Wabbit text, Parquet, Arrow; plain, gzip or zstd.

        ``path`` is a name, a pattern such as ``part-*.csv.gz``, or several. ``progress(rows, bytes, total_bytes, loss)`` is called every
        few thousand rows (the loss is None until the first rows have decided on curves); with tqdm: ``bar = tqdm(unit="B"); progress=lambda rows, done, total, loss: bar.update(done - bar.n)``.
        Columns get their roles as on the command line, unless they are named here or in a ``schema`` file of ``rooco inspect --write``.
        """
        kind: Any = self._target_kind()
        if classes is not None:
            kind = {"named": [str(c) for c in classes]}
        elif positive is not None:
            kind = {"positive": positive}
        read = self._read_options(
            target=target,
            weight=weight,
            drop=list(drop),
            categorical=list(categorical),
            numeric=list(numeric),
            date=list(date),
            text=list(text),
            schema=None if schema is None else os.fspath(schema),
            format=format,
            header=header,
            skip_bad_rows=skip_bad_rows,
            target_kind=kind,
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
    def features_(self) -> str:
        """What the model is linear in, in a line; if ``features='auto'`` took the columns as they are, why."""
        text, options = self.model_.linear_in(), json.loads(self._run.options)
        # A model from a file does not say what it was asked for.
        asked = "auto" if self.to_optimum and self.features == "auto" else options.get("features")
        if asked != "auto" or self.report_["features"] != "linear":
            return text
        if self.to_optimum:
            why = "to_optimum"
        elif self.report_["algorithm"] != "auto":
            why = "another algorithm than the default"
        elif options.get("domain", "none") != "none":
            why = "domain"
        else:
            return f"{text}; no curves: features are corrected, and no curve can be made of them"
        return f"{text}; no curves, because of {why}: features='shapes' or 'pairs' makes them all the same"

    @property
    def guarantee_(self) -> str:
        """What is promised, in words; never more than the theorems say."""
        workers = self.report_.get("workers") or {}
        text = workers.get("text") or self.report_["promise_text"]
        if self._run.learner is not None and self.report_["algorithm"] == "auto":
            text = "horizon-free default rule: " + text
        return text

    @property
    def constants_(self) -> dict[str, Any]:
        """The constants β, λ, L, G that the steps used, each as ``{"value", "source", "certain"}``, and T as ``"horizon"``."""
        return self.report_["constants"]

    @property
    def promise_(self) -> dict[str, Any]:
        """What is promised, as fields: the theorem with its value, or why there is none."""
        return self.report_["promise"]

    @property
    def progressive_loss_(self) -> float:
        """Mean loss, per unit of weight, of predictions made before each row was learned from."""
        report = self.report_
        return report["progressive_loss"] / report["weight"] if report["weight"] else float("nan")

    @property
    def holdout_(self) -> dict[str, Any] | None:
        """Figures of the model on the rows that were held out (or on a uniform sample of them: ``rows`` of ``of``)."""
        return self.report_["holdout"]

    @property
    def order_test_(self) -> dict[str, Any] | None:
        """Were the rows in random order? Nothing if that was not tested."""
        check_is_fitted(self)
        return self._run.order

    @property
    def optimum_(self) -> dict[str, Any] | None:
        """How the optimum was reached (``to_optimum``): passes, the certified gap, how it ended."""
        return self.report_.get("optimum")

    def _errors(self) -> tuple[np.ndarray, np.ndarray]:
        """Standard errors of coef (outputs × features) and intercept (outputs)."""
        model = self.model_
        errors = model.errors()
        if errors is None:
            why = (self.optimum_ or {}).get("no_errors") or "it is not at the optimum of its rows; fit with to_optimum=True"
            raise AttributeError(f"this model has no standard errors: {why}")
        if model.intercept:
            return errors[1:].T.copy(), errors[0]
        return errors.T.copy(), np.zeros(errors.shape[1])

    @property
    def coef_names_(self) -> list[str]:
        """The names of the coefficients, in the order of ``coef_``."""
        model = self.model_
        return model.names()[int(model.intercept) :]

    @property
    def shape_functions_(self) -> list[dict[str, Any]]:
        """What every column, and every pair of columns, adds to the score, the most important first; mean zero each.

        ``name``, ``importance`` (the mean of its size), ``of`` (one column or two: ``column``, ``at`` or ``levels``, ``mass``), and ``value`` at these places
        (a pair: a row for each place of its first column). Several classes: one such list for each, in the order of ``classes_``.
        """
        outputs = [self._effects(k)["effects"] for k in range(self.model_.weights().shape[1])]
        return outputs[0] if len(outputs) == 1 else outputs

    def _effects(self, output: int) -> dict[str, Any]:
        text = self.model_.effects(output)
        if text is None:
            raise AttributeError("This model is linear in its columns: see coef_ and intercept_. Curves come with features='auto' or 'shapes'.")
        return json.loads(text)

    def explain(self, X: Any, output: int = 0) -> tuple[list[str], np.ndarray]:
        """What the score of each row is made of: names, and rows × names, whose rows add up to the score exactly (to rounding)."""
        found = self.model_.explain(self._rows_to_score(X), output)
        if found is None:
            raise AttributeError("This model is linear in its columns: each adds coef_ times its value. Curves come with features='auto' or 'shapes'.")
        return found

    def plot_shapes(self, output: int = 0, top: int = 9) -> Any:
        """The most important curves and pairs as a matplotlib figure."""
        from rooco._plot import shapes

        return shapes(self._effects(output)["effects"][:top])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """What each weight is about: columns, hats of curves, cells of pairs."""
        model = self.model_
        return np.array(model.feature_names()[int(model.intercept and not model.has_map) :], dtype=object)

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        """coef (outputs × features) and intercept (outputs)."""
        model = self.model_
        if model.has_map:
            raise AttributeError(
                "This model is made of curves and pairs, and has no coefficient for a column: see shape_functions_, or learn with features='linear'."
            )
        weights, offset = model.weights(), model.offset()
        if model.intercept:
            return weights[1:].T.copy(), weights[0] + offset
        return weights.T.copy(), offset

    def save(self, path: str | os.PathLike[str], *, with_state: bool = False) -> None:
        """Write the model file that ``rooco predict``, ``eval`` and ``show`` read.

        With ``with_state`` it carries the learner's state, and ``rooco.load(path).partial_fit`` or ``rooco fit --from`` can go on from it.
        """
        model = self.model_
        if not with_state:
            model.save(path)
            return
        _go_on(self._run).save_model(path)

    def partial_fit_file(self, path: Any, *, format: str | None = None, skip_bad_rows: int | None = None, progress: Progress | None = None) -> Any:
        """Go on with the rows of files that have the columns of the model: the numbers of one run over all of them.

        For a model of ``fit_file`` or ``fit_stream``, or one from a file that carries its state (``rooco.load``).
        """
        check_is_fitted(self)
        read = dict(format=format, skip_bad_rows=skip_bad_rows)
        _go_on(self._run).run(Rows.files(_paths(path), json.dumps(read)), progress)
        return self

    def partial_fit_stream(self, table: Any, *, progress: Progress | None = None) -> Any:
        """The same for a table that holds its target."""
        check_is_fitted(self)
        _go_on(self._run).run(_inputs.table_rows(table, {}), progress)
        return self

    def _adopt(self, model: Model, state: tuple[Learner, str] | None = None) -> Any:
        """Takes over a model that was made elsewhere, and the learner that it came from if its file has it."""
        learner, options, rows = (None, "{}", -1) if state is None else (*state, state[0].rows)
        self._run = _Run(learner, options, model, rows=rows)
        names = model.names()[int(model.intercept) :]
        self.n_features_in_ = len(names)
        if model.has_columns:
            self.feature_names_in_ = np.array(names, dtype=object)
            if names == [f"x{i}" for i in range(len(names))]:
                del self.feature_names_in_
        self._set_classes()
        return self

    def _repr_html_(self) -> str:
        """What a notebook shows of a fitted estimator: what it was learned from, how good it is, what is promised, the largest weights."""
        if not self.__sklearn_is_fitted__():
            return f"<pre>{html.escape(repr(self))}</pre>"
        report = self.report_
        facts = {
            "learned from": f"{report['rows']:,} rows",
            "features": self.features_,
            "loss": report["loss_name"],
            "progressive loss": f"{self.progressive_loss_:.4g}" + (f" (best constant: {report['baseline']:.4g})" if report["baseline"] else ""),
        }
        if report["holdout"]:
            kept = ("loss", "accuracy", "auc", "rmse", "r2")
            facts["held-out rows"] = ", ".join(f"{k} {v:.4g}" for k, v in report["holdout"].items() if k in kept and v is not None)
        facts["promised"] = self.guarantee_
        rows = "".join(f"<tr><th style='text-align:left'>{html.escape(k)}</th><td style='text-align:left'>{html.escape(v)}</td></tr>" for k, v in facts.items())
        try:
            names, weights = self.coef_names_, np.abs(self._linear()[0]).max(axis=0)
        except AttributeError:
            # Curves and pairs have no coefficients.
            return f"<div><b>{type(self).__name__}</b><table>{rows}</table></div>"
        top = np.argsort(-weights)[:10]
        most = weights[top[0]] if len(top) and weights[top[0]] > 0 else 1.0
        bars = "".join(
            f"<tr><td style='text-align:left'>{html.escape(names[i])}</td><td>{weights[i]:.4g}</td><td style='text-align:left'>"
            f"<div style='background:#2f81d8;height:.7em;width:{120 * weights[i] / most:.0f}px'></div></td></tr>"
            for i in top
        )
        return f"<div><b>{type(self).__name__}</b><table>{rows}</table><table><tr><th>feature</th><th>|weight|</th><th></th></tr>{bars}</table></div>"

    def _rows_to_score(self, X: Any) -> Rows:
        check_is_fitted(self)
        model = self._run.model
        if _inputs.is_table(X) or model.has_categories:
            if not model.has_columns:
                raise ValueError("The model was learned from a matrix without column names; give it an array, not a table.")
            return _inputs.table_rows(X, dict(labels="optional", roles="typed"))
        X = _inputs.check_x(self, X, reset=False)
        return _inputs.array_rows(self, X, intercept=model.intercept, missing=model.missing)

    def _scored(self, rows: Rows, probabilities: bool) -> np.ndarray:
        scores, clamped = self._run.model.scores(rows, probabilities, bool(self.clamp))
        if clamped:
            warnings.warn(
                f"{clamped} of {len(scores)} rows lie outside the range of the training data, where this model's predictions are flat; "
                "clamp=False makes them linear",
                UserWarning,
                stacklevel=4,
            )
        return scores

    def _scores(self, X: Any, probabilities: bool = False) -> np.ndarray:
        return self._scored(self._rows_to_score(X), probabilities)

    def _file_scores(self, path: Any, probabilities: bool = False) -> np.ndarray:
        check_is_fitted(self)
        return self._scored(Rows.files(_paths(path), json.dumps(dict(labels="optional"))), probabilities)

    def clamped_rows(self, X: Any) -> int:
        """How many rows lie outside the range of the training data, where predictions are flat unless ``clamp=False``."""
        rows = self._rows_to_score(X)
        return self._run.model.scores(rows)[1]


def _memory() -> int:
    """Half of the machine's memory, where the system tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 1 << 30


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


def _check_partial(estimator: _OnePass) -> None:
    if estimator.to_optimum:
        raise ValueError("to_optimum reads all rows again, which partial_fit has not: use fit, fit_stream or fit_file.")
    if estimator._needs_horizon():
        raise ValueError(
            f"algorithm={estimator.algorithm!r} must know the number of rows T before the first one: give horizon=T, use fit, or use an "
            f"algorithm without a horizon ({', '.join(sorted({e['name'] for e in _ALGORITHMS.values() if not e['needs_horizon']}))})."
        )


def _go_on(run: _Run) -> Learner:
    if run.learner is None:
        raise ValueError(
            "This model cannot be learned further: it came from a file without state (save it with_state=True, or by rooco fit --with-state), from "
            "an algorithm whose T rows are over, or it is an optimum (to_optimum). Start a new one, or use partial_fit from the first row."
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
