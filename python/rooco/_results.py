"""What a run says of itself: the attributes and methods of a fitted estimator."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rooco._rooco import Model, Rows
from rooco._run import _Run


class _Results(BaseEstimator):
    """What came of a run."""

    _run: _Run

    def _rows_to_score(self, X: Any) -> Rows:
        raise NotImplementedError

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
        asked = options.get("features")
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

    def _repr_html_(self) -> str:
        """What a notebook shows of a fitted estimator."""
        from rooco._card import card

        return card(self)
