"""What the estimators share: one pass of the library behind the interface of scikit-learn.

Parameters become options in ``_options.py``, rows come from ``_inputs.py``, and what a run says of itself is in ``_results.py``.
"""

from __future__ import annotations

import json
import os
import threading
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rooco import _inputs
from rooco._options import _Options, _schema
from rooco._results import _Results
from rooco._rooco import Learner, Model, Rows
from rooco._run import _go_on, _Run

Progress = Callable[[int, int, "int | None", "float | None"], object]


class _OnePass(_Options, _Results):
    """What both estimators share: learning from rows of any kind, and scoring them."""

    def __sklearn_is_fitted__(self) -> bool:
        return "_run" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing in ("zero", "mean", "debias")
        return tags

    def _set_classes(self) -> None:
        """Takes over what the model says of its classes."""

    # ------------------------------------------------------------------ learning

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
            if self._has_horizon():
                # Its T rows are over: it cannot go on.
                run.learner = None
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
            self._run = run = self._whole_run(rows, options, progress)
        self._warn_of_order(run, "fit")

    def _warn_of_order(self, run: _Run, name: str) -> None:
        order = run.order
        if order is not None and order["random"] is False:
            warnings.warn(f"{order['text']}: shuffle the rows before {name}, or with rooco.shuffle", UserWarning, stacklevel=4)

    def _table_names(self, run: _Run) -> None:
        names = run.model.names()[int(run.model.intercept) :]
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)

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
            target_kind=self._target_kind() if positive is None else {"positive": positive},
            **self._column_options(drop, categorical, numeric, date, text, schema),
        )
        table = _inputs.collected(table)
        if self._needs_horizon():
            n = getattr(table, "num_rows", None)
            if n is None and hasattr(table, "__len__"):
                n = len(table)
            if n is None or self.holdout:
                raise ValueError(f"algorithm={self.algorithm!r} must know the number of rows first: give horizon.")
            options = self._options(0, n) | self._rates(None) | _schema(schema)
        else:
            options = self._options(0, self.horizon) | self._rates(None) | _schema(schema)
        self._fit_rows_of_table(_inputs.table_rows(table, read), options, progress, "fit_stream")
        return self

    def _fit_rows_of_table(self, rows: Rows, options: dict[str, Any], progress: Progress | None, name: str) -> None:
        with self._beginning():
            if "horizon" not in options and self._needs_horizon():
                options["horizon"] = rows.count_learned(options["seed"], options["holdout"])
            self._run = run = self._whole_run(rows, options, progress)
            self._table_names(run)
            self._set_classes()
        self._warn_of_order(run, name)

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
            format=format,
            header=header,
            skip_bad_rows=skip_bad_rows,
            target_kind=kind,
            interactions=[[str(a), str(b)] for a, b in (self.interactions or [])],
            **self._column_options(drop, categorical, numeric, date, text, schema),
        )
        options = self._options(0, self.horizon) | self._rates(None) | _schema(schema)
        self._fit_rows_of_table(Rows.files(_inputs.paths(path), json.dumps(read)), options, progress, "fit_file")
        return self

    def partial_fit_file(self, path: Any, *, format: str | None = None, skip_bad_rows: int | None = None, progress: Progress | None = None) -> Any:
        """Go on with the rows of files that have the columns of the model: the numbers of one run over all of them.

        For a model of ``fit_file`` or ``fit_stream``, or one from a file that carries its state (``rooco.load``).
        """
        check_is_fitted(self)
        read = dict(format=format, skip_bad_rows=skip_bad_rows)
        _go_on(self._run).run(Rows.files(_inputs.paths(path), json.dumps(read)), progress)
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

    # ------------------------------------------------------------------ files

    def save(self, path: str | os.PathLike[str], *, with_state: bool = False) -> None:
        """Write the model file that ``rooco predict``, ``eval`` and ``show`` read.

        With ``with_state`` it carries the learner's state, and ``rooco.load(path).partial_fit`` or ``rooco fit --from`` can go on from it.
        """
        model = self.model_
        if not with_state:
            model.save(path)
            return
        _go_on(self._run).save_model(path)

    # ------------------------------------------------------------------ scoring

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
        return self._scored(Rows.files(_inputs.paths(path), json.dumps(dict(labels="optional"))), probabilities)

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
