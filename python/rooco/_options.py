"""From the parameters of an estimator to the options of a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from rooco import _inputs
from rooco._rooco import algorithms

# The registry of the library: name or alias -> what it says of the algorithm.
_ALGORITHMS: dict[str, dict[str, Any]] = {
    name: entry for entry in json.loads(algorithms()) for name in (entry["name"], *entry["aliases"])
}


class _Options(BaseEstimator):
    """What the parameters ask for."""

    def _more_options(self, n_classes: int, y: Any, weight: Any) -> dict[str, Any]:
        """The corrections of the subclass."""
        raise NotImplementedError

    def _target_kind(self) -> str:
        raise NotImplementedError

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
            **_features(self.features),
            to_optimum=bool(self.to_optimum),
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

    def _read_options(self, **more: Any) -> dict[str, Any]:
        # A frame beside its y is taken as an array is.
        array = more.get("labels") == "elsewhere" and self.missing is None
        return dict(intercept=bool(self.fit_intercept), missing="error" if array else self._missing(table=True), **more)

    def _column_options(
        self, drop: Iterable[str], categorical: Iterable[str], numeric: Iterable[str], date: Iterable[str], text: Iterable[str], schema: Any
    ) -> dict[str, Any]:
        """What is said of the columns of a table or file."""
        roles = dict(drop=list(drop), categorical=list(categorical), numeric=list(numeric), date=list(date), text=list(text))
        return roles | _schema(schema)

    def _check_partial(self) -> None:
        """``partial_fit`` cannot do everything."""
        if self.to_optimum:
            raise ValueError("to_optimum reads all rows again, which partial_fit has not: use fit, fit_stream or fit_file.")
        if self._needs_horizon():
            raise ValueError(
                f"algorithm={self.algorithm!r} must know the number of rows T before the first one: give horizon=T, use fit, or use an "
                f"algorithm without a horizon ({', '.join(sorted({e['name'] for e in _ALGORITHMS.values() if not e['needs_horizon']}))})."
            )


def _features(given: Any) -> dict[str, Any]:
    """One kind for all columns, or a dict by column, in which ``'*'`` stands for the others."""
    if not isinstance(given, Mapping):
        return dict(features=str(given))
    own = {str(name): str(kind) for name, kind in given.items() if name != "*"}
    return dict(features=str(given.get("*", "auto")), kinds=own)


def _schema(given: Any) -> dict[str, Any]:
    """A schema file says what columns are, and what the model is to be made of."""
    return dict(schema=None if given is None else os.fspath(given))


def _by_column(given: Any) -> Any:
    """Numbers by column: a dict by name, or one for each."""
    if isinstance(given, Mapping):
        return {str(name): float(value) for name, value in given.items()}
    return [float(value) for value in np.asarray(given, dtype=float).ravel()]
